"""Plans for several machines, and the results of each machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pushbench.ci.joining import Left
from pushbench.ci.judge import Judge
from pushbench.ci.plan import Plan
from pushbench.ci.result import Measured, Result, Results, StepResult
from pushbench.ci.sharding import part
from pushbench.ci.steps import Step
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import judge
from pushbench.records.environment import Commit
from pushbench.records.record import Record
from tests.ci.events import HEAD
from tests.ci.job_results import make_plan
from tests.factories import LIMITS, make_record, make_thresholds, make_trial, measured

SERVERS = ("fastapi", "spring-stomp", "spring-websocket")
RUN = Step(
    kind="run",
    arguments=["run", "--suite", "whiteboard", "--profile", "quick"],
    servers=list(SERVERS),
    why="every push",
)
CONTROL = Step(
    kind="machine",
    arguments=["run", "--suite", "whiteboard", "--profile", "quick", "--servers", "node-ws", "--rounds", "4"],
    servers=["node-ws"],
    why="every machine of the run measures it",
)
COMMIT = Commit(sha=HEAD, ref="main", subject="Turn", author_time="2026-11-20T18:00:00+00:00", dirty=False)
MARGINS = "    regressions:\n      cpu_seconds_per_delivery: {margin: 5%}\n"
CPU = 41e-6
NOISE = (0.99, 1.0, 1.005, 1.01)
"""of the starts of a control"""


def planned(*steps: Step, **changed: object) -> Plan:
    """A plan with three servers, each on its own machine."""
    shards = [[server] for server in SERVERS]
    images = ["fastapi", "node-ws", "spring-stomp", "spring-websocket"]
    return make_plan(*(steps or (RUN,)), **{"shards": shards, "control": CONTROL, "images": images, **changed})


def judge_of(folder: Path) -> Judge:
    return Judge(thresholds(folder), None, folder / "cache", "push")


def thresholds(folder: Path) -> Thresholds:
    return make_thresholds(folder, LIMITS + MARGINS)


def control(number: int, factor: float = 1.0, noise: Sequence[float] = NOISE) -> Record:
    """A machine's record of the control, with `factor` times the CPU of other machines."""
    trials = [
        measured("node-ws", {"cpu_seconds_per_delivery": CPU * factor * each}, round_=round_)
        for round_, each in enumerate(noise, 1)
    ]
    return make_record(trials, id=f"20261121T101{number}00Z-cccccc", commit=COMMIT)


def subject(number: int, server: str, **changed: Any) -> Record:
    values: dict[str, Any] = {
        "id": f"20261121T111{number}00Z-aaaaa{number}",
        "created": f"2026-11-21T11:1{number}:00+00:00",
        "commit": COMMIT,
    }
    return make_record([make_trial(server)], **{**values, **changed})


def left(
    plan: Plan,
    number: int,
    folder: Path,
    controlled: Record | None,
    *records: Record | None,
    machine: str | None = None,
) -> Left:
    """The results of a machine: its control, and a record of each further step. Without a control, it failed."""
    own, by = part(plan, number), thresholds(folder)
    found = [controlled, *records]
    steps, kept = [], {}
    for at, (step, record) in enumerate(zip(own.steps, found, strict=True), 1):
        if record is None:
            said = StepResult(step=step, outcome="error", seconds=1.0, said="ended with code 1", measured=None)
        else:
            verdict = judge(record, by)
            kept[at] = Measured(record, verdict)
            outcome = "pass" if step.kind == "machine" else verdict.outcome
            said = StepResult(step=step, outcome=outcome, seconds=60.0 * number, said="", measured=at)
        steps.append(said)
    named = f"bench-{number}" if machine is None else machine
    return Left(Results(Result(plan=own, steps=steps, machine=named), kept), "")


def all_left(plan: Plan, folder: Path, factors: Mapping[int, float] | None = None) -> dict[int, Left]:
    """The results of three machines; some are slower by a factor."""
    factors = factors or {}
    return {
        number: left(plan, number, folder, control(number, factors.get(number, 1.0)), subject(number, server))
        for number, server in enumerate(SERVERS, 1)
    }
