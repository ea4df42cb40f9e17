"""What travels from the machine that measured is not believed by the one that reports."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pushbench.ci import result as results
from pushbench.ci.plan import Plan, Step
from pushbench.ci.result import Outcome, Result, StepResult, parse_results, read_results, unzip
from pushbench.errors import UserError
from pushbench.record import Record
from pushbench.verdict import judge
from tests.ci.events import HEAD
from tests.factories import make_record, make_thresholds, make_trial

STEP = Step(kind="run", arguments=["run"], servers=["node-ws"], why="somebody asked for it")


def make_plan(*steps: Step, **changed: Any) -> Plan:
    values: dict[str, Any] = {
        "event": "push",
        "sha": HEAD,
        "base": None,
        "pull_request": None,
        "untrusted": False,
        "driver": "auto",
        "steps": list(steps),
        "images": [],
        "notes": [],
    }
    return Plan(**(values | changed))


def make_result(*outcomes: Outcome, measured: int | None = None, **changed: Any) -> Result:
    steps = [StepResult(step=STEP, outcome=each, seconds=1.0, said="", measured=measured) for each in outcomes]
    return Result(plan=make_plan(*(STEP for _ in outcomes), **changed), steps=steps)


def write(folder: Path, record: Record | None = None) -> Path:
    record = record or make_record([make_trial("node-ws")])
    results.write_result(folder, make_result("pass", measured=1))
    results.write_measured(folder, 1, record, judge(record, make_thresholds(folder)))
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.json")}


def zipped(content: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", compression) as opened:
        for name, data in content.items():
            opened.writestr(name, data)
    return archive.getvalue()


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write(tmp_path)
    read = read_results(tmp_path)
    assert read.result.outcome == "pass"
    assert read.measured[1].record.servers == ["node-ws"]
    assert parse_results(unzip(zipped(files(tmp_path))), "artifact").measured.keys() == {1}


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        ([], "pass"),
        (["pass", "inconclusive"], "inconclusive"),
        (["inconclusive", "error", "invalid"], "error"),
        (["unfinished", "pass"], "unfinished"),
        (["error", "fail"], "fail"),
    ],
)
def test_the_worst_step_is_the_outcome(outcomes: list[Outcome], worst: Outcome) -> None:
    assert make_result(*outcomes).outcome == worst


@pytest.mark.parametrize(
    "name",
    [
        "../result.json",
        "/etc/passwd",
        "a/result.json",
        "..json",
        ".json",
        "x\n.json",
        "result.json\x1b",
        "C:\\x.json",
        "1.record.html",
        "é.json",
        "-rf.json",
    ],
)
def test_other_names_than_ours_are_refused(name: str) -> None:
    with pytest.raises(UserError, match="a file of another name"):
        unzip(zipped({name: b"{}"}))


def test_an_archive_that_is_too_large_is_refused_before_it_is_opened() -> None:
    with pytest.raises(UserError, match="at most"):
        unzip(b"x" * (results.LARGEST_ARCHIVE + 1))


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "LARGEST_FILE", 1000)
    with pytest.raises(UserError, match=r"whose result.json has more than 1,000 bytes"):
        unzip(zipped({"result.json": b" " * 1001}))


def test_an_archive_that_lies_about_sizes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "LARGEST_FILE", 1000)
    archive = bytearray(zipped({"result.json": b" " * 5000}))
    for at in (14 + 8, archive.find(b"PK\x01\x02") + 24):  # the uncompressed size, in both headers
        archive[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(UserError):
        parse_results(unzip(bytes(archive)), "artifact")


def test_an_archive_of_very_many_files_is_refused() -> None:
    with pytest.raises(UserError, match="an artifact with 100 files"):
        unzip(zipped({f"{number}.json": b"" for number in range(100)}))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut off"])
def test_what_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(UserError, match="no zip archive"):
        unzip(content)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("result.json", b"[" * 100_000, "result.json is no JSON document"),
        ("result.json", b"\xff", "result.json is no JSON document"),
        ("result.json", b"[]", "result.json is not what a bench job writes"),
        ("result.json", b'{"schema": 2}', "result.json is not what a bench job writes"),
        ("1.record.json", b"{}", "1.record.json is not what a bench job writes"),
        ("1.verdict.json", b'{"outcome": "pass"}', "1.verdict.json is not what a bench job writes"),
    ],
)
def test_another_schema_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    write(tmp_path)
    with pytest.raises(UserError, match=said):
        parse_results({**files(tmp_path), name: content}, "artifact")


@pytest.mark.parametrize("name", ["result.json", "1.record.json", "1.verdict.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    with pytest.raises(UserError, match=f"{name} is missing"):
        parse_results({key: value for key, value in files(tmp_path).items() if key != name}, "artifact")


def test_a_verdict_of_another_record_is_refused(tmp_path: Path) -> None:
    verdict = json.loads(files(write(tmp_path))["1.verdict.json"])
    content = json.dumps({**verdict, "record": "20261121T101500Z-000000"}).encode()
    with pytest.raises(UserError, match="of another record"):
        parse_results({**files(tmp_path), "1.verdict.json": content}, "artifact")


@pytest.mark.parametrize("bad", ["../../x", "a/b", "", ".", "x\n"])
def test_a_record_cannot_name_a_path(tmp_path: Path, bad: str) -> None:
    record = json.loads(files(write(tmp_path))["1.record.json"])
    for changed in ({"id": bad}, {"suite": bad}, {"environment": {**record["environment"], "key": bad}}):
        content = json.dumps({**record, **changed}).encode()
        with pytest.raises(UserError, match=r"1\.record\.json is not what a bench job writes"):
            parse_results({**files(tmp_path), "1.record.json": content}, "artifact")
