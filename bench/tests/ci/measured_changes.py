"""The state of GitHub after a run has measured a pull request."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from pushbench.ci import result as results
from pushbench.ci.result import Result, StepResult
from pushbench.ci.steps import Kind, Step
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import judge
from pushbench.records.environment import Commit
from pushbench.records.record import Accepting, Record
from tests.ci.double_reporting import Reported
from tests.ci.events import BASE, HEAD
from tests.ci.github_double import job
from tests.ci.job_results import files, make_plan, zipped
from tests.comparisons import THRESHOLDS
from tests.factories import make_thresholds

DEFAULT_THRESHOLDS = "version: 1\nsuites:\n  whiteboard:\n    limits:\n      loss_ratio: {max: 1%}\n"
WITH_FASTAPI = DEFAULT_THRESHOLDS + (
    "servers:\n  fastapi:\n    whiteboard:\n      limits:\n        disconnects: {max: 3, reason: slow}\n"
)


def left(folder: Path, record: Record, thresholds: Thresholds | None = None, **of_plan: Any) -> bytes:
    """The artifact of a job that measured a pull request with this record."""
    thresholds = thresholds or make_thresholds(folder)
    ours = Commit(sha=HEAD, ref="faster", subject="Go", author_time="2026-11-21T09:00:00+00:00", dirty=False)
    record = record.model_copy(update={"commit": ours})
    verdict = judge(record, thresholds)
    kind: Kind = "compare" if record.comparison else "run"
    step = Step(kind=kind, arguments=[kind, "--suite", "whiteboard"], servers=record.servers, why="it changed")
    plan = make_plan(step, **{"event": "pull_request", "base": BASE, "pull_request": 7, **of_plan})
    done = StepResult(step=step, outcome=verdict.outcome, seconds=900.0, said="", measured=1)
    results.write_result(folder, Result(plan=plan, steps=[done]))
    results.write_measured(folder, 1, record, verdict)
    return zipped(files(folder))


def measured_as(folder: Path, record: Record, thresholds: Thresholds | None = THRESHOLDS, **of_plan: Any) -> Reported:
    double = Reported(artifacts={"results": left(folder, record, thresholds, **of_plan)})
    bad = judge(record, thresholds or make_thresholds(folder)).outcome != "pass"
    if bad:
        double.run["conclusion"] = "failure"
        double.jobs = [job("plan"), job("bench", "failure", "Bench")]
    return double


def accepting(**changed: Any) -> Accepting:
    values: dict[str, Any] = {
        "server": "node-ws",
        "metric": "cpu_seconds_per_delivery",
        "stages": None,
        "level": None,
        "change": 0.2,
        "reason": "it checks every field",
        "until": date(2027, 1, 31),
        "where": "thresholds.yml:30",
        "confirmed": True,
    }
    return Accepting(**(values | changed))
