"""The reports of generators in pods become one; missing, duplicate, foreign and broken reports are named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.generator.pods import gather
from pushbench.records.load_report import LoadReport
from tests.samples import load_report, stage_report

FIRST = load_report([stage_report()], segment="0:1/2", began_unix_us=5_000_000)
SECOND = load_report([stage_report(received=2_000)], segment="1/2:1", began_unix_us=5_250_000)
NOISE = 'time="2026-11-23T10:00:00Z" level=info msg="Test paused"\n{"level":"info"}\n'


def changed(report: LoadReport, **values: Any) -> LoadReport:
    return report.model_copy(update=values)


def lines(*reports: LoadReport) -> str:
    return "".join(f"{report.model_dump_json()}\n" for report in reports)


def logs(folder: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


def refusal(folder: Path, files: Mapping[str, str]) -> str:
    with pytest.raises(UserError) as refused:
        gather(logs(folder, files))
    return str(refused.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    "files",
    [
        {"push-1.log": NOISE + lines(FIRST), "push-2.log": lines(SECOND) + NOISE},
        {"all": NOISE + lines(SECOND) + NOISE + lines(FIRST)},
        {"a": lines(FIRST), "b": lines(SECOND), ".hidden": "x"},
    ],
    ids=["a log for each", "one log", "a hidden file"],
)
def test_reports_are_found_in_logs_and_add(tmp_path: Path, files: Mapping[str, str]) -> None:
    gathered = gather(logs(tmp_path, files))
    assert gathered.generators == 2
    assert gathered.report.stages[0].receipts.received == 8_000
    assert gathered.report.stages[0].clients.target == 200
    assert gathered.apart_seconds == 0.25
    assert gathered.cut_short == []


def test_a_single_generator_is_a_whole_load(tmp_path: Path) -> None:
    whole = changed(FIRST, segment="0:1")
    assert gather(logs(tmp_path, {"a": lines(whole)})).report == whole


def test_what_ended_early_is_named(tmp_path: Path) -> None:
    longer = changed(FIRST, stages=[stage_report(), stage_report(name="large")])
    gathered = gather(logs(tmp_path, {"a": lines(longer), "b": lines(SECOND)}))
    assert gathered.cut_short == [f"{tmp_path}/b:1"]
    assert len(gathered.report.stages) == 1


THIRDS = [changed(FIRST, segment=segment) for segment in ("0:1/3", "1/3:2/3", "2/3:1")]


@pytest.mark.parametrize(
    ("parts", "missing"),
    [([0, 1], "2/3:1"), ([0, 2], "1/3:2/3"), ([1, 2], "0:1/3")],
    ids=["the last", "the middle", "the first"],
)
def test_a_missing_report_is_named_by_its_clients(tmp_path: Path, parts: list[int], missing: str) -> None:
    said = refusal(tmp_path, {f"{part}.log": lines(THIRDS[part]) for part in parts})
    assert f"the report of the clients {missing} is missing" in said


@pytest.mark.parametrize("segment", ["0:1/2", "1/4:1", "0:1"])
def test_clients_that_are_there_twice_are_refused(tmp_path: Path, segment: str) -> None:
    said = refusal(tmp_path, {"a": lines(FIRST), "b": lines(changed(SECOND, segment=segment)), "c": lines(SECOND)})
    assert "clients appear twice" in said


def test_both_files_of_a_report_that_is_there_twice_are_named(tmp_path: Path) -> None:
    said = refusal(tmp_path, {"a": lines(FIRST), "copy": lines(FIRST), "c": lines(SECOND)})
    assert said.startswith("copy:1: clients appear twice: 0:1/2 here, and 0:1/2 in a:1")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"seed": 2}, "disagree on seed: 1 and 2: not the same load as a:1"),
        ({"url": "http://other:1"}, "disagree on url"),
        ({"stages": [stage_report(name="other")]}, "disagree on stages"),
        ({"generator": FIRST.generator.model_copy(update={"k6": "v1"})}, "k6 v0 and v1"),
        ({"started_unix_us": 3_605_000_000}, "it began 3,600 s after a:1: two different loads"),
    ],
    ids=["seed", "server", "stages", "version", "time"],
)
def test_a_report_of_another_load_is_refused(tmp_path: Path, values: dict[str, Any], why: str) -> None:
    said = refusal(tmp_path, {"a": lines(FIRST), "b": lines(changed(SECOND, **values))})
    assert said.startswith("b:1: ")
    assert why in said


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "there is no load report in it; it is empty"),
        (NOISE, 'there is no load report in it; its last line: {"level":"info"}'),
        (lines(SECOND)[:-300], "the load report cannot be read"),
        ('{"schema":' + '{"a":' * 100_000, "nested too deeply"),
        ('{"schema":99}', "has schema 99"),
        ('{"schema":6,"generator":{}}', "does not fit its schema: generator.extension"),
        (lines(changed(SECOND, segment="1e9:1")), "expected a segment such as 0:1/2, found '1e9:1'"),
        (lines(changed(SECOND, segment="1/0:1")), "expected a segment"),
    ],
    ids=["empty", "no report", "cut off", "deep", "newer", "strange", "segment", "zero"],
)
def test_a_broken_report_is_named_by_its_file(tmp_path: Path, content: str, why: str) -> None:
    said = refusal(tmp_path, {"a": lines(FIRST), "b": content})
    assert said.startswith(("b: ", "b:1: "))
    assert why in said


@pytest.mark.parametrize("segment", ["1/2:1", "0:1"])
def test_a_histogram_that_cannot_be_read_is_refused(tmp_path: Path, segment: str) -> None:
    stage = stage_report()
    broken = stage.model_copy(update={"histograms": stage.histograms.model_copy(update={"each": "xx"})})
    said = refusal(tmp_path, {"b": lines(changed(SECOND, stages=[broken], segment=segment))})
    assert said.startswith("b: not an HdrHistogram")


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_without_logs_says_how_to_make_them(tmp_path: Path, *, there: bool) -> None:
    with pytest.raises(UserError, match="kubectl logs"):
        gather(tmp_path if there else tmp_path / "none")
