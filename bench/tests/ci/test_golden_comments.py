"""Every comment as its reader gets it, produced by the real code from a run on GitHub to the text.

The whole texts are in tests/golden/comments. After an intended change,
`PUSHBENCH_GOLDEN=write pytest tests/ci/test_golden_comments.py` rewrites them. Review the diff: read each text aloud
as a first-time contributor would. If a state has no comment, the file has the title and the summary of the check.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pushbench.ci import result as results
from pushbench.ci.budget import Turn
from pushbench.ci.event import Event
from pushbench.ci.intending import Promises
from pushbench.ci.plan import make_plan as plan_of_push
from pushbench.ci.reporting import report
from pushbench.ci.result import Result, StepResult
from pushbench.ci.steps import Kind, Settings, Step
from pushbench.judging.verdict import judge
from pushbench.records.record import OneSided
from pushbench.reporting.comment import MARK
from tests.ci.budgets import budget_of, catalog_of, checkout, limits_of
from tests.ci.double_reporting import Reported
from tests.ci.events import BASE, HEAD
from tests.ci.github_double import FORK, RUN, job, pull, run
from tests.ci.job_results import files, make_plan, zipped
from tests.ci.measured_changes import DEFAULT_THRESHOLDS, WITH_FASTAPI, accepting, measured_as
from tests.comparisons import THRESHOLDS, arms, compared
from tests.factories import failed, invalid, make_record, make_thresholds, make_trial, measured

GOLDEN = Path(__file__).parents[1] / "golden" / "comments"
DEFAULT = Promises(DEFAULT_THRESHOLDS)
SITE = "https://acme.github.io/pushbench"
OURS = ("https://github.com/acme/pushbench/", SITE)
MOST_LINES = 35
"""of the first screen"""
DISPATCHED = {
    "event": "workflow_dispatch",
    "head_branch": "main",
    "head_sha": "d" * 40,
    "display_title": f"bench pull request 7 at {HEAD}",
}


@dataclass
class Case:
    """A state of GitHub, and the thresholds.yml files of the default branch."""

    double: Reported
    promises: Promises = DEFAULT


Make = Callable[[Path], Case]
CASES: dict[str, Make] = {}


def case(make: Make) -> Make:
    CASES[make.__name__.replace("_", "-")] = make
    return make


def of_fork(double: Reported, **of_run: Any) -> Reported:
    double.of_fork(**of_run)
    double.changes("servers/node-ws/src/client.js", "servers/mine/server.yml")
    return double


@case
def passed(folder: Path) -> Case:
    return Case(measured_as(folder, compared([*arms("node-ws"), *arms("fastapi", cpu=-0.15)])))


@case
def new_server_passed(folder: Path) -> Case:
    return Case(measured_as(folder, make_record([make_trial("node-ws")]), None))


@case
def worse(folder: Path) -> Case:
    return Case(measured_as(folder, compared([*arms("node-ws", cpu=0.15), *arms("fastapi")])))


@case
def worse_where_the_file_has_the_server(folder: Path) -> Case:
    return Case(measured_as(folder, compared(arms("fastapi", cpu=0.15, loss=0.005))), Promises(WITH_FASTAPI))


@case
def worse_where_a_server_has_its_own_file(folder: Path) -> Case:
    record = compared([*arms("node-ws"), *arms("fastapi", cpu=0.15)])
    promises = Promises(DEFAULT_THRESHOLDS, {"fastapi": WITH_FASTAPI})
    return Case(measured_as(folder, record, promises={"fastapi": "servers/fastapi/thresholds.yml"}), promises)


@case
def much_worse(folder: Path) -> Case:
    names = [f"server-{number}-of-many" for number in range(1, 8)]
    return Case(measured_as(folder, compared([each for name in names for each in arms(name, cpu=0.15, loss=0.02)])))


@case
def worse_of_a_fork(folder: Path) -> Case:
    double = measured_as(folder, compared(arms("node-ws", cpu=0.15)), event="workflow_dispatch", untrusted=True)
    double.run |= DISPATCHED
    double.pulls = [pull(repository=FORK)]
    return Case(double)


@case
def worse_beside_a_new_server(folder: Path) -> Case:
    """A run of two commands: a comparison, and a run judged by limits."""
    thresholds = make_thresholds(folder)
    made = [(compared(arms("node-ws", cpu=0.15)), THRESHOLDS), (make_record([make_trial("fastapi")]), thresholds)]
    kinds: list[Kind] = ["compare", "run"]
    done = []
    for number, (kind, (record, by)) in enumerate(zip(kinds, made, strict=True), 1):
        step = Step(kind=kind, arguments=[kind, "--suite", "whiteboard"], servers=record.servers, why="it changed")
        verdict = judge(record, by)
        done.append(StepResult(step=step, outcome=verdict.outcome, seconds=900.0, said="", measured=number))
        results.write_measured(folder, number, record, verdict)
    plan = make_plan(*(each.step for each in done), event="pull_request", base=BASE, pull_request=7)
    results.write_result(folder, Result(plan=plan, steps=done))
    double = Reported(run=run(conclusion="failure"), artifacts={"results": zipped(files(folder))})
    double.jobs = [job("plan"), job("bench", "failure", "Bench")]
    return Case(double)


@case
def limit_broken(folder: Path) -> Case:
    return Case(measured_as(folder, make_record([measured("node-ws", {"delivery_seconds.p95": 0.9})]), None))


@case
def undecided(folder: Path) -> Case:
    return Case(measured_as(folder, compared(arms("node-ws", noise=0.15))))


@case
def not_valid(folder: Path) -> Case:
    return Case(measured_as(folder, compared([invalid(trial, stage=0) for trial in arms("node-ws", rounds=6)])))


@case
def server_does_not_start(folder: Path) -> Case:
    log = "Error: listen EADDRINUSE: address already in use\n    at Server.setupListenHandle (node:net:1908:16)\n"
    return Case(measured_as(folder, make_record([failed("node-ws", log=log)]), None))


@case
def rule_broken(folder: Path) -> Case:
    why = "the changed server does not work: verify: breaks bad-upgrade-is-refused"
    return Case(measured_as(folder, compared([], one_sided=[OneSided(server="fastapi", reason=why, failed="head")])))


@case
def accepted(folder: Path) -> Case:
    return Case(measured_as(folder, compared(arms("node-ws", cpu=0.15), accepting=[accepting()])))


@case
def accepted_too_little_and_without_need(folder: Path) -> Case:
    lines = [accepting(change=0.12), accepting(metric="loss_ratio", where="thresholds.yml:31")]
    return Case(measured_as(folder, compared(arms("node-ws", cpu=0.15), accepting=lines)))


@case
def accepted_by_a_fork_alone(folder: Path) -> Case:
    record = compared(arms("node-ws", cpu=0.15), accepting=[accepting(confirmed=False)])
    double = measured_as(folder, record, event="workflow_dispatch", untrusted=True)
    double.run |= DISPATCHED
    double.pulls = [pull(repository=FORK)]
    return Case(double)


@case
def fork_waits(_: Path) -> Case:
    return Case(of_fork(Reported()))


@case
def fork_waits_for_approval(_: Path) -> Case:
    return Case(of_fork(Reported(jobs=[]), conclusion="action_required"))


@case
def approval_pending(_: Path) -> Case:
    return Case(Reported(run=run(conclusion="action_required"), jobs=[]))


@case
def fork_with_a_new_server(folder: Path) -> Case:
    plan = make_plan(event="workflow_dispatch", pull_request=7, untrusted=True, notes=["new: mine"])
    results.write_result(folder, Result(plan=plan, steps=[]))
    double = Reported(pulls=[pull(repository=FORK)], artifacts={"plan": zipped(files(folder))})
    double.run |= DISPATCHED
    double.changes("servers/mine/server.yml")
    return Case(double)


@case
def missing_image(_: Path) -> Case:
    double = Reported(run=run(conclusion="failure"))
    double.jobs = [job("plan"), _logged(job("bench", "failure", "Fetch the images"))]
    double.errors = {len("bench"): ["no image of node-ws: not in the registry; run the job images again"]}
    return Case(double)


@case
def broken_build(_: Path) -> Case:
    double = Reported(run=run(conclusion="failure"))
    double.jobs = [job("plan"), _logged(job("images", "failure", "Build and push")), job("bench", "skipped")]
    return Case(double)


@case
def cancelled(_: Path) -> Case:
    return Case(Reported(run=run(conclusion="cancelled"), jobs=[job("plan"), job("bench", "cancelled")]))


@case
def out_of_time(_: Path) -> Case:
    return Case(Reported(run=run(conclusion="failure"), jobs=[job("plan"), job("bench", "timed_out")]))


@case
def nothing_to_measure(folder: Path) -> Case:
    note = "no server and nothing that measures changed: there is nothing to measure"
    plan = make_plan(event="pull_request", pull_request=7, notes=[note])
    results.write_result(folder, Result(plan=plan, steps=[]))
    double = Reported(artifacts={"plan": zipped(files(folder))})
    double.jobs = [job("plan"), job("bench", "skipped")]
    return Case(double)


@case
def fork_with_nothing_to_measure(_: Path) -> Case:
    double = Reported()
    double.of_fork()
    double.changes("README.md")
    return Case(double)


@case
def in_progress(_: Path) -> Case:
    double = Reported(run=run(status="queued", conclusion=None))
    double.changes("servers/node-ws/src/client.js")
    double.others = [
        (run(id=1, created_at="2026-11-21T10:00:00Z"), []),
        (run(id=2, created_at="2026-11-21T11:00:00Z", status="queued", conclusion=None), []),
    ]
    return Case(double)


@case
def push_with_two_profiles(folder: Path) -> Case:
    """A push whose job has no time to measure every server in full."""
    project = checkout(folder / "checkout")
    turns = {"alpha": Turn("2026-11-09T02:30:00+00:00", changed=True), "beta": Turn("2026-11-01T02:30:00+00:00")}
    pushed = Event(name="push", repository="acme/pushbench", sha=HEAD)
    day, budget = date(2026, 11, 21), budget_of(project, 0.8, **turns)
    plan = plan_of_push(pushed, catalog_of(project), None, Settings(), day, budget=budget)
    done = []
    for number, step in enumerate(plan.steps, 1):
        record = make_record([make_trial(server) for server in step.servers])
        of_step = {"suite": step.argument("--suite"), "profile": step.argument("--profile"), "id": f"{number}"}
        record = record.model_copy(update=of_step)
        verdict = judge(record, limits_of(catalog_of(project), folder))
        done.append(StepResult(step=step, outcome=verdict.outcome, seconds=900.0, said="", measured=number))
        results.write_measured(folder, number, record, verdict)
    results.write_result(folder, Result(plan=plan, steps=done))
    double = Reported(run=run(event="push", head_branch="main"), pulls=[])
    double.artifacts["results"] = zipped(files(folder))
    return Case(double)


@case
def gave_way(folder: Path) -> Case:
    step = Step(kind="run", arguments=["run"], servers=["node-ws"], why="every push is a point of the trend")
    said = "gave way to the run 5000 of pull request 7"
    done = StepResult(step=step, outcome="gave-way", seconds=1.0, said=said, measured=None)
    results.write_result(folder, Result(plan=make_plan(step), steps=[done]))
    pushed = run(event="push", head_branch="main", conclusion="failure")
    double = Reported(run=pushed, jobs=[job("plan"), job("bench", "failure", "Bench")], pulls=[])
    double.artifacts["results"] = zipped(files(folder))
    return Case(double)


@case
def another_schema(folder: Path) -> Case:
    double = measured_as(folder, compared(arms("node-ws")))
    content = files(folder)
    content["1.record.json"] = content["1.record.json"].replace(b'"harness":', b'"tools":')
    double.artifacts["results"] = zipped(content)
    return Case(double)


@case
def left_nothing(_: Path) -> Case:
    return Case(Reported())


@case
def results_that_cannot_be_used(_: Path) -> Case:
    return Case(Reported(artifacts={"results": b"PK"}))


def _logged(of: dict[str, Any]) -> dict[str, Any]:
    return {**of, "html_url": f"https://github.com/acme/pushbench/actions/runs/{RUN}/job/1"}


def told(made: Case) -> str:
    """The comment, or without one the title and the summary of the check."""
    double = made.double
    with double.github() as github:
        folders = frozenset({"node-ws", "fastapi"})
        report(github, RUN, SITE, lambda _: None, folders=folders, promises=made.promises)
    if double.comments:
        return str(double.comments[0]["body"])
    output = double.checks[-1]["output"]
    return f"(no comment; the check has the title `{output['title']}` and this summary)\n\n{output['summary']}"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_comment_is_the_text_that_was_read_aloud(name: str, tmp_path: Path) -> None:
    found = told(CASES[name](tmp_path))
    golden = GOLDEN / f"{name}.md"
    if os.environ.get("PUSHBENCH_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found)
    assert found == golden.read_text()


def test_every_golden_comment_has_its_state() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(CASES)


def test_a_push_with_two_profiles_can_be_read_in_60_columns() -> None:
    text = (GOLDEN / "push-with-two-profiles.md").read_text().partition("<details>")[0]
    assert "|" not in text, "a table would not wrap"
    assert max(len(word) for line in text.splitlines() if "](" not in line for word in line.split()) <= 60


@pytest.mark.parametrize("name", CASES)
def test_a_comment_is_one_screen_of_markdown_and_links_only_to_us(name: str) -> None:
    text = (GOLDEN / f"{name}.md").read_text()
    assert len(text.partition("<details>")[0].splitlines()) <= MOST_LINES
    assert max(map(len, text.partition("<details>")[0].splitlines())) < 600
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inside = [each for token in tokens for each in (token, *(token.children or ()))]
    raw = "".join(each.content for each in inside if each.type in ("html_block", "html_inline"))
    assert re.sub(r"</?(?:details|sub)>|<summary>[^<>]*</summary>|\s", "", raw.replace(MARK, "")) == ""
    assert "<sub>" not in text.partition("<details>")[0]
    links = [str(each.attrs["href"]) for each in inside if each.type == "link_open"]
    assert links
    assert all(link.startswith(OURS) for link in links)
