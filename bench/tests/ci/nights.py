"""Nights that gave way, and the state of GitHub after them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pushbench.ci import result as results
from pushbench.ci.event import Inputs
from pushbench.ci.going_on import take_up
from pushbench.ci.plan import Plan
from pushbench.ci.result import Result, Results, StepResult
from pushbench.ci.steps import Step
from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.judging.verdict import judge
from pushbench.records.record import PlannedTrial, Record
from tests.ci.events import HEAD
from tests.ci.github_double import RUN, Double, run
from tests.ci.job_results import files, make_plan, zipped
from tests.factories import make_record, make_trial

SERVERS = ("fastapi", "node-ws", "spring-stomp")
MEASURE = Step(
    kind="run", arguments=["run", "--suite", "whiteboard", "--profile", "full"], servers=list(SERVERS), why="a night"
)
OF_CONTROL = ["calibrate", "measure", "--servers", "node-ws", "--profile", "compare", "--max-time", "10m"]
CONTROL = Step(kind="control", arguments=OF_CONTROL, servers=["node-ws"], why="a control")


def night(*steps: Step, **changed: Any) -> Plan:
    return make_plan(*steps, **{"event": "schedule", "images": list(SERVERS), **changed})


def whole() -> Record:
    record = make_record([make_trial(server, order=order) for order, server in enumerate(SERVERS)])
    plan = [
        PlannedTrial.model_validate(trial.model_dump(include=set(PlannedTrial.model_fields))) for trial in record.trials
    ]
    assert record.commit
    commit = record.commit.model_copy(update={"sha": HEAD})
    return record.model_copy(update={"plan": plan, "commit": commit, "profile": "full"})


def left_by(found: Results, folder: Path, **changed: Any) -> Double:
    """The state of GitHub after the night with these results."""
    folder.mkdir(exist_ok=True)
    results.write_result(folder, found.result)
    for number, measured in found.measured.items():
        results.write_measured(folder, number, measured.record, measured.verdict)
    for number, searched in found.searched.items():
        results.write_searched(folder, number, searched.record, searched.verdict)
    of_night = {"event": "workflow_dispatch", "head_branch": "main", "display_title": "bench night", "head_sha": HEAD}
    artifacts = {"plan": b"", "results": zipped(files(folder))}
    return Double(run=run(**{**of_night, **changed}), artifacts=artifacts, permissions={"actions": "read"})


def inputs(**changed: str) -> Inputs:
    return Inputs.model_validate({"continue": str(RUN), "first": str(RUN), "head": HEAD, **changed})


def taken_up(double: Double, given: Inputs | None = None) -> Results:
    with double.github() as github:
        return take_up(github, given or inputs())


def partial(plan: Plan | None = None, record: Record | None = None, **of_step: Any) -> Results:
    plan = plan or night(MEASURE, CONTROL)
    record = record or whole().model_copy(update={"trials": whole().trials[:1]})
    values = {"outcome": "gave-way", "seconds": 1.0, "said": "", "measured": None}
    steps = [StepResult.model_validate({"step": step.model_dump(), **values, **of_step}) for step in plan.steps]
    steps[0] = steps[0].model_copy(update={"measured": 1})
    return Results(Result(plan=plan, steps=steps), {1: results.Measured(record, judge(record, NO_THRESHOLDS))})
