"""Limits on connecting and on due deliveries; not all records of method 1 have these metrics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.cli.conclusion import thresholds_of
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import judge
from pushbench.records.store import read_record
from tests.factories import (
    LIMITS,
    SCHEDULE,
    by_method_1,
    make_record,
    make_stage,
    make_thresholds,
    make_trial,
    measured,
)

REAL = Path(__file__).parents[1] / "data" / "real"
"""records of method 1"""

CONNECTS = (
    LIMITS
    + """\
      connect_late_ratio: {max: 1%}
      connect_seconds.p99: {max: 2s}
      offered_per_second: {min: 1/s}
    regressions:
      connect_seconds.p99: {margin: 50%}
"""
)


def test_a_record_of_method_1_is_not_judged_by_what_its_metrics_leave_out(tmp_path: Path) -> None:
    record = by_method_1(make_record([make_trial("node-ws")]))
    verdict = judge(record, make_thresholds(tmp_path, CONNECTS))
    assert verdict.outcome == "pass"
    assert {limit.metric for limit in verdict.limits} == {"loss_ratio", "delivery_seconds.p95"}
    assert verdict.notes == [
        "measured by method 1: limits and margins do not ask for clients late, connect p99, deliveries due "
        "(docs/method.md)"
    ]


def test_a_limit_that_connect_times_of_method_1_break_is_broken(tmp_path: Path) -> None:
    record = by_method_1(make_record([measured("node-ws", {"connect_seconds.p99": 2.5})]))
    verdict = judge(record, make_thresholds(tmp_path, CONNECTS))
    assert verdict.reasons == ["node-ws: connect p99 2.50 s at 1,000 clients, limit 2 s"]


def test_late_clients_and_slow_connects_break_limits(tmp_path: Path) -> None:
    slow = {"connect_late_ratio": 0.02, "connect_seconds.p99": 4.0}
    verdict = judge(make_record([measured("node-ws", slow)]), make_thresholds(tmp_path, CONNECTS))
    assert verdict.reasons == [
        "node-ws: clients late 2 % at 1,000 clients, limit 1 %",
        "node-ws: connect p99 4 s at 1,000 clients, limit 2 s",
    ]
    assert not verdict.notes


def test_a_stage_in_which_nobody_was_due_to_connect_is_not_asked_for_connect_times(tmp_path: Path) -> None:
    stages = [SCHEDULE.stages[0], SCHEDULE.stages[0].model_copy(update={"name": "again"})]
    again = make_stage(100, {"connect_seconds.p99": None}, name="again")
    schedule = SCHEDULE.model_copy(update={"stages": stages})
    record = make_record([make_trial("node-ws", results=[make_stage(100), again])], schedule=schedule)
    verdict = judge(record, make_thresholds(tmp_path, CONNECTS))
    assert verdict.outcome == "pass"
    assert [limit.name for limit in verdict.limits if limit.metric == "connect_seconds.p99"] == ["100"]
    larger = stages[1].model_copy(update={"clients": 101})
    growing = record.model_copy(update={"schedule": schedule.model_copy(update={"stages": [stages[0], larger]})})
    assert judge(growing, make_thresholds(tmp_path, CONNECTS)).outcome == "inconclusive"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(REAL.glob("*.json"))[:3], ids=lambda path: path.stem)
def test_a_real_record_of_method_1_keeps_its_verdict(path: Path) -> None:
    """Judged with today's limits and margins, except those on metrics that the record does not have."""
    record, project = read_record(path), Project.current()
    today = thresholds_of(project)
    whole = today.suite("whiteboard")
    known = replace(
        whole,
        limits=tuple(each for each in whole.limits if each.of.since == 1),
        regressions=tuple(each for each in whole.regressions if each.of.since == 1),
    )
    before = Thresholds("", {"whiteboard": known})
    verdict, expected = judge(record, today), judge(record, before)
    assert (verdict.outcome, verdict.reasons, verdict.limits, verdict.changes) == (
        expected.outcome,
        expected.reasons,
        expected.limits,
        expected.changes,
    )
    assert any(note.startswith("measured by method 1: ") for note in verdict.notes)
