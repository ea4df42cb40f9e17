"""Artifacts of jobs, from the archive to the check: no content crashes the report or makes it green."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pushbench.ci import result as results
from pushbench.ci.alerting import read_run
from pushbench.ci.drafting import draft
from pushbench.ci.github_answers import Job, Run
from pushbench.ci.intending import Promises
from pushbench.ci.reporting import report
from pushbench.ci.result import Results, parse_results, unzip
from pushbench.cli.ci.job import planned_by
from pushbench.foundation.errors import UserError
from pushbench.judging.verdict import judge
from tests.ci.double_reporting import Reported
from tests.ci.events import HEAD
from tests.ci.github_double import RUN, job, run
from tests.ci.job_results import STEP, files, make_plan, make_result, zipped
from tests.ci.searches import LESS, searched, write
from tests.comparisons import THRESHOLDS, arms, compared
from tests.factories import LIMITS, make_record, make_thresholds, make_trial, measured
from tests.fuzz.target import Target

SLOW = {"delivery_seconds.p95": 0.9}
FAILED = Run.model_validate(run(conclusion="failure"))
BENCH = Job.model_validate(job("bench", "failure", "Bench"))


@cache
def artifact(kind: str) -> dict[str, bytes]:
    """The files of a job whose servers pass, fail, or are compared."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kind == "compared":
            record, thresholds = compared(arms("node-ws", rounds=2)), THRESHOLDS
        else:
            trial = make_trial("node-ws") if kind == "pass" else measured("node-ws", SLOW)
            record, thresholds = make_record([trial]), make_thresholds(folder)
        verdict = judge(record, thresholds)
        results.write_result(folder, make_result(verdict.outcome, measured=1, pull_request=7))
        results.write_measured(folder, 1, record, verdict)
        return files(folder)


KINDS = ("pass", "fail", "compared")


def _one_file(name: str) -> Target:
    """A target for one file of an artifact with the other files unchanged. Files that can be read are also rendered."""

    def read(content: bytes) -> bool:
        found = _first_read(name, content)
        assert draft(FAILED, [BENCH], found, promises=Promises(LIMITS)).conclusion != "success"
        return False

    return Target(name.removesuffix(".json").removeprefix("1."), [artifact(kind)[name] for kind in KINDS], read)


def _first_read(name: str, content: bytes) -> Results:
    """The results of the first kind whose other files agree with this one. Raises UserError if none does."""
    for kind in KINDS[:-1]:
        with suppress(UserError):
            return parse_results({**artifact(kind), name: content}, "artifact", ignore_unknown=True)
    return parse_results({**artifact(KINDS[-1]), name: content}, "artifact", ignore_unknown=True)


@cache
def night(pairs: Sequence[tuple[int, int]]) -> dict[str, bytes]:
    """The files of a night with one search."""
    with tempfile.TemporaryDirectory() as name:
        return files(write(Path(name), searched(pairs)))


def _of_search(name: str) -> Target:
    """A target for one file of a night's artifact, with the other files unchanged."""

    def read(content: bytes) -> bool:
        found = parse_results({**night(LESS), name: content}, "artifact", ignore_unknown=True)
        assert draft(FAILED, [BENCH], found).conclusion != "success"
        read_run(FAILED, [BENCH], found, "")
        return False

    return Target(f"{name.removesuffix('.json').removeprefix('1.')} of a night", [night(LESS)[name]], read)


def _unzip(content: bytes) -> bool:
    unzip(content)
    return False


def _plan(content: bytes) -> bool:
    text = content.decode(errors="surrogateescape").replace("\x00", "")  # which no variable can hold
    former = os.environ.get("PLAN")
    os.environ["PLAN"] = text
    try:
        planned_by()
    finally:
        os.environ.pop("PLAN")
        if former is not None:
            os.environ["PLAN"] = former
    return False


def _told(double: Reported) -> bool:
    with double.github() as github:
        report(github, RUN, "", lambda _: None, folders=frozenset({"node-ws"}))
    [check] = double.checks
    assert check["status"] == "completed"
    assert "cannot be shown" not in check["output"]["title"], "what is read can be rendered"
    assert (check["conclusion"] == "success") == (double.statuses[-1]["state"] == "success")
    return double.required_passes()


def _of_fork(content: bytes) -> bool:
    double = Reported(artifacts={"results": content, "plan": content})
    double.of_fork()
    double.changes("servers/node-ws/src/client.js")
    return _told(double)


def _of_failed_run(content: bytes) -> bool:
    """A trusted run whose job failed: no artifact turns it into a pass."""
    double = Reported(artifacts={"results": content}, run=run(conclusion="failure"))
    double.jobs = [job("plan"), job("bench", "failure", "Bench")]
    return _told(double)


def _of_trusted_run(content: bytes) -> bool:
    """A trusted run that succeeded: green only if every outcome in its documents is a pass."""
    passes = _told(Reported(artifacts={"results": content}))
    if passes:
        documents = {name: json.loads(each) for name, each in unzip(content).items()}
        steps = documents["result.json"]["steps"]
        assert steps
        for step in steps:
            verdict = documents[f"{step['measured']}.verdict.json"]
            said = [step["outcome"], verdict["outcome"], *(each["outcome"] for each in verdict["servers"])]
            assert set(said) == {"pass"}, said
    return passes


ZIPS = [zipped(artifact(kind)) for kind in KINDS]
TARGETS = [
    Target("zip", ZIPS, _unzip),
    *(_one_file(name) for name in ("result.json", "1.record.json", "1.verdict.json")),
    *(_of_search(name) for name in ("result.json", "1.capacity.json", "1.judged.json")),
    Target("plan", [make_plan(STEP, STEP, sha=HEAD, notes=["a"]).model_dump_json(by_alias=True).encode()], _plan),
    Target("report of a fork", ZIPS, _of_fork),
    Target("report of a failed run", ZIPS, _of_failed_run),
    Target("report of a trusted run", ZIPS, _of_trusted_run),
]
