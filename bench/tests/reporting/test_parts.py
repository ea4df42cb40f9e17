"""The parts of a system are listed below their server, which is their sum, in every kind of report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushbench.judging.verdict import judge
from pushbench.records.record import Record, StageResult, Trial
from pushbench.reporting import report
from pushbench.site.runfile import run
from tests.factories import make_record, make_thresholds, make_trial

PARTS: dict[str, dict[str, float | None]] = {
    "app-1": {"cpu_cores": 0.9, "cpu_seconds_per_delivery": 12e-6, "memory_bytes.peak": 60e6},
    "db": {"cpu_cores": 0.1, "cpu_seconds_per_delivery": 1.3e-6, "memory_bytes.peak": None},
}


def system(round_: int, cores: float = 0.9) -> Trial:
    trial = make_trial("node-ws", round_)
    parts = {**PARTS, "app-1": {**PARTS["app-1"], "cpu_cores": cores}}

    def with_parts(stage: StageResult) -> StageResult:
        return stage.model_copy(update={"parts": parts})

    return trial.model_copy(update={"stages": [with_parts(stage) for stage in trial.stages]})


@pytest.fixture
def record() -> Record:
    others = [make_trial("fastapi", each) for each in (1, 2, 3)]
    return make_record([system(1), system(2, 0.8), system(3, 0.7), *others])


def lines_of(text: str) -> dict[str, list[str]]:
    """The cells of the rows of parts, in the first table that has them."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith(("app-1", "db")):
            found.setdefault(cells[0], cells[1:])
    return found


def test_the_table_tells_cpu_and_memory_of_each_part(record: Record, tmp_path: Path) -> None:
    verdict = judge(record, make_thresholds(tmp_path))
    rows = lines_of(report.markdown(record, verdict))
    assert list(rows.items()) == [
        ("app-1: CPU", ["cores", "-", "0.80"]),
        ("app-1: CPU / 1,000 deliveries", ["ms", "-", "12"]),
        ("app-1: Memory peak", ["MB", "-", "60"]),
        ("db: CPU", ["cores", "-", "0.10"]),
        ("db: CPU / 1,000 deliveries", ["ms", "-", "1.30"]),
        ("db: Memory peak", ["MB", "-", "-"]),
    ]
    for text in (
        report.render_terminal(record, verdict, width=160),
        report.render_trial(record, verdict, record.trials[0]),
        report.html(record, verdict),
    ):
        assert "app-1: CPU / 1,000 deliveries" in text
    assert "app-1: CPU" not in report.render_trial(record, verdict, record.trials[-1])


def test_json_and_the_site_have_them_by_their_names(record: Record, tmp_path: Path) -> None:
    verdict = judge(record, make_thresholds(tmp_path))
    [other, server] = sorted(report.as_json(record, verdict)["servers"], key=lambda each: each["server"])
    assert server["stages"][0]["parts"]["app-1"]["cpu_cores"] == {"median": 0.8, "min": 0.7, "max": 0.9}
    assert other["stages"][0]["parts"] == {}
    [of_site] = [each for each in run(record, verdict)["servers"] if each["server"] == "node-ws"]
    assert of_site["stages"][0]["parts"]["app-1"]["cpu_cores"] == [0.8, 0.7, 0.9]
    assert list(of_site["stages"][0]["parts"]["db"]) == ["cpu_cores", "cpu_seconds_per_delivery"]


def test_a_record_keeps_them(record: Record) -> None:
    again = Record.model_validate(json.loads(record.model_dump_json(by_alias=True)))
    assert again.trials[0].stages[0].parts == PARTS
