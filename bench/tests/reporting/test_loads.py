"""Load curves join stages that differ only in their load, and the report has a row for each server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.judging.verdict import judge
from pushbench.records.record import Outage, Record, StagePlan
from pushbench.reporting import report
from pushbench.reporting.loads import curve, kinds, load_table
from pushbench.reporting.summary import summarize
from pushbench.reporting.table import Table
from tests.factories import invalid, make_record, make_thresholds, make_trial, measured

P95 = "delivery_seconds.p95"
LIMITS = "version: 1\nsuites:\n  whiteboard:\n    limits: {delivery_seconds.p95: {max: 500ms}}\n    regressions: {}\n"


def plan(clients: int, **changed: Any) -> StagePlan:
    return StagePlan(clients=clients, ramp_seconds=1, settle_seconds=1, steady_seconds=5, **changed)


def table(folder: Path, record: Record) -> Table | None:
    return load_table(summarize(record, judge(record, make_thresholds(folder, LIMITS))))


def test_stages_are_in_the_order_of_their_load() -> None:
    assert kinds([plan(1000), plan(100), plan(300)])[0].stages == [(1, 100.0), (2, 300.0), (0, 1000.0)]


def test_other_conditions_are_another_curve_and_an_outage_is_none() -> None:
    killed = Outage(kill="server", at_seconds=1.0, within_seconds=5.0)
    stages = [
        plan(100),
        plan(300),
        plan(300, closed=True),
        plan(300, name="crowded", parameters={"board_size": 100}),
        plan(500, name="killed", outage=killed),
    ]
    assert [[index for index, _ in kind.stages] for kind in kinds(stages)] == [[0, 1], [2], [3]]
    assert [kind.is_plain for kind in kinds(stages)] == [True, False, False]
    assert curve(stages) == [0, 1]
    assert curve(stages[1:4]) == []


def test_a_rate_is_the_load_where_a_stage_has_one() -> None:
    rates = [plan(500, name=f"open-{rate}", parameters={"requests_per_second": rate}) for rate in (300, 100)]
    closed = [plan(100, closed=True, parameters={"requests_per_second": 7})]
    assert [(kind.stages, kind.is_rate) for kind in kinds([*rates, *closed])] == [
        ([(1, 100.0), (0, 300.0)], True),
        ([(2, 100.0)], False),
    ]
    assert len(kinds(rates, "clients")) == 2, "where another parameter is the load, these are other conditions"


def test_a_row_has_the_values_of_a_server_and_bars_of_one_scale(tmp_path: Path) -> None:
    slow = measured("spring-stomp", {P95: 0.8})
    found = table(tmp_path, make_record([make_trial("node-ws"), slow]))
    assert found
    assert found.headings == ["100", "300", "700", "1,000", ""]
    rows = {line.title: [cell.text for cell in line.cells] for line in found.lines}
    assert rows["node-ws"] == ["2.10 ms", "2.10 ms", "2.10 ms", "2.10 ms", "▁▁▁▁"]
    assert rows["spring-stomp"] == ["2.10 ms", "2.10 ms", "2.10 ms", "800 ms", "▁▁▁█"]
    assert [(line.title, cell.text) for line in found.lines for cell in line.cells if cell.broken] == [
        ("spring-stomp", "800 ms")
    ]
    assert found.legend == ["! breaks a limit; bars: one logarithmic scale for all servers"]


def test_an_invalid_trial_is_no_point(tmp_path: Path) -> None:
    found = table(tmp_path, make_record([make_trial("node-ws"), invalid(make_trial("fastapi"))]))
    assert found
    assert {line.title: line.cells[-1].text for line in found.lines} == {"node-ws": "▁▁▁▁", "fastapi": "····"}


@pytest.mark.parametrize("value", [-1.0, 0.0, 1e308, 1e-308])
def test_any_number_has_a_bar(tmp_path: Path, value: float) -> None:
    found = table(tmp_path, make_record([make_trial("node-ws"), measured("fastapi", {P95: value}, at=100)]))
    assert found
    assert all(len(line.cells[-1].text) == 4 for line in found.lines)


def test_one_stage_has_no_curve(tmp_path: Path) -> None:
    record = make_record([make_trial("node-ws")])
    single = record.model_copy(
        update={"schedule": record.schedule.model_copy(update={"stages": record.schedule.stages[:1]})}
    )
    assert table(tmp_path, single) is None
    thresholds = make_thresholds(tmp_path, LIMITS)
    assert "against load" in report.markdown(record, judge(record, thresholds))
    assert "against load" not in report.markdown(single, judge(single, thresholds))
