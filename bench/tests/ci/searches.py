"""Searches for capacities in a night's results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pushbench.ci import result as results
from pushbench.ci.plan import Plan
from pushbench.ci.result import Result, Searched, StepResult
from pushbench.ci.steps import Step
from pushbench.judging.judged_capacity import against_history
from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.metrics.kept import entry_of
from pushbench.records.capacity import CapacityRecord
from pushbench.records.environment import Commit
from tests.ci.events import HEAD
from tests.ci.job_results import files, make_plan, zipped
from tests.records.capacity_entries import COMMIT, THREE, search

LESS = ((4000, 4120), (4100, 4220), (4200, 4320))
ARGUMENTS = ["capacity", "--suite", "whiteboard", "--servers", "node-ws", "--max-time", "300s"]
SEARCH = Step(kind="capacity", arguments=ARGUMENTS, servers=["node-ws"], why="its turn")
BEFORE = [entry_of(search(day, *THREE)) for day in range(1, 8)]


def of_head(record: CapacityRecord) -> CapacityRecord:
    assert isinstance(COMMIT, Commit)
    return record.model_copy(update={"commit": COMMIT.model_copy(update={"sha": HEAD})})


def searched(pairs: Sequence[tuple[int, int]] = LESS, *, enough: bool = True) -> Searched:
    """A search of a night, judged against seven others or against none."""
    record = of_head(search(20, *pairs))
    return Searched(record, against_history(entry_of(record), BEFORE if enough else [], NO_THRESHOLDS))


def planned(**changed: object) -> Plan:
    return make_plan(SEARCH, **{"event": "schedule", "images": ["node-ws"], **changed})


def result_of(found: Searched) -> Result:
    step = StepResult(step=SEARCH, outcome=found.outcome, seconds=1.0, said="", measured=None, searched=1)
    return Result(plan=planned(), steps=[step])


def write(folder: Path, found: Searched) -> Path:
    folder.mkdir(exist_ok=True)
    results.write_result(folder, result_of(found))
    results.write_searched(folder, 1, found.record, found.verdict)
    return folder


def artifact(folder: Path, found: Searched) -> bytes:
    return zipped(files(write(folder, found)))
