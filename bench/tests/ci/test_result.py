"""The machine that reports does not trust the results of the machine that measured."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushbench.ci import result as results
from pushbench.ci.result import OtherSchema, Outcome, parse_results, read_results, unzip
from pushbench.foundation.errors import UserError
from pushbench.judging.verdict import judge
from pushbench.records.record import Record
from tests.ci.job_results import files, make_result, zipped
from tests.explanations import explanation, function
from tests.factories import make_record, make_thresholds, make_trial


def write(folder: Path, record: Record | None = None) -> Path:
    record = record or make_record([make_trial("node-ws")])
    results.write_result(folder, make_result("pass", measured=1))
    results.write_measured(folder, 1, record, judge(record, make_thresholds(folder)))
    return folder


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
    with pytest.raises(UserError, match="an artifact with 1000 files"):
        unzip(zipped({f"{number}.json": b"" for number in range(1000)}))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut off"])
def test_what_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(UserError, match="not a zip archive"):
        unzip(content)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("result.json", b"[" * 100_000, "result.json is not a JSON document"),
        ("result.json", b"\xff", "result.json is not a JSON document"),
        ("result.json", b"[]", "result.json is not what a bench job writes"),
        ("result.json", b'{"schema": 2}', "result.json has another schema"),
        ("1.record.json", b"{}", "1.record.json has another schema"),
        ("1.verdict.json", b'{"outcome": "pass"}', "1.verdict.json has another schema"),
        ("1.record.json", b"NaN", "1.record.json is not a JSON document"),
        ("1.record.json", b'{"a": 1e999}', "1.record.json is not a JSON document"),
        ("1.record.json", b'{"a": ' + b"9" * 5000 + b"}", "1.record.json is not a JSON document"),
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
    with pytest.raises(UserError, match="belongs to another record"):
        parse_results({**files(tmp_path), "1.verdict.json": content}, "artifact")


@pytest.mark.parametrize("bad", ["../../x", "a/b", "", ".", "x\n"])
def test_a_record_cannot_name_a_path(tmp_path: Path, bad: str) -> None:
    record = json.loads(files(write(tmp_path))["1.record.json"])
    for changed in ({"id": bad}, {"suite": bad}, {"environment": {**record["environment"], "key": bad}}):
        content = json.dumps({**record, **changed}).encode()
        with pytest.raises(UserError, match=r"1\.record\.json is not what a bench job writes"):
            parse_results({**files(tmp_path), "1.record.json": content}, "artifact")


def changed(folder: Path, name: str, change: Callable[[Any], object]) -> dict[str, bytes]:
    """The files of a job, with a change in one of them."""
    content = files(write(folder))
    document = json.loads(content[name])
    change(document)
    return {**content, name: json.dumps(document).encode()}


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("1.verdict.json", lambda it: it["limits"][0].update(stage=99), "the stage 99, which does not exist"),
        ("1.verdict.json", lambda it: it["limits"][0].update(server="x"), "'x', which is not in the record"),
        ("1.verdict.json", lambda it: it["limits"][0].update(clients=1), "describes the stage 0 differently"),
        ("1.verdict.json", lambda it: it.update(servers=[]), "does not judge 'node-ws'"),
        ("1.verdict.json", lambda it: it["servers"][0].update(outcome="fail"), "but the worst of its servers is fail"),
        ("1.verdict.json", lambda it: it.update(suite="other"), "another suite"),
        ("1.record.json", lambda it: it["schedule"]["stages"][0].update(clients=-1), "an impossible number of clients"),
        ("1.record.json", lambda it: it["trials"][0]["stages"].extend(it["trials"][0]["stages"] * 9), "a trial has"),
        (
            "1.record.json",
            lambda it: it["trials"][0]["validity"]["warnings"].append({"code": "a", "message": "a", "stage": -1}),
            "a finding names the stage -1",
        ),
        ("1.verdict.json", lambda it: it["limits"][0]["bound"].update(value="1e300"), "a number out of bounds"),
        ("1.verdict.json", lambda it: it["limits"][0]["bound"].update(value="nan"), "a finite number"),
        ("result.json", lambda it: it["plan"].update(steps=[]), "other steps than its plan"),
        ("result.json", lambda it: it["steps"][0].update(measured=None), "no record"),
        ("result.json", lambda it: it["steps"][0].update(outcome="fail"), "another outcome than"),
    ],
)
def test_documents_that_contradict_each_other_are_refused(
    tmp_path: Path, name: str, change: Callable[[Any], object], said: str
) -> None:
    with pytest.raises(UserError, match=said) as caught:
        parse_results(changed(tmp_path, name, change), "artifact")
    assert not isinstance(caught.value, OtherSchema)


def test_a_field_that_a_pull_request_adds_is_ignored_where_that_is_asked_for(tmp_path: Path) -> None:
    content = changed(tmp_path, "1.record.json", lambda it: it["trials"][0].update(new=1))
    assert parse_results(content, "artifact", ignore_unknown=True).result.outcome == "pass"
    with pytest.raises(UserError, match="Extra inputs"):
        parse_results(content, "artifact")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("1.record.json", lambda it: it.pop("harness")),
        ("1.record.json", lambda it: it.update(schema=2)),
        ("1.verdict.json", lambda it: it["limits"][0].update(metric="joules")),
    ],
)
def test_another_schema_is_told_apart_from_nonsense(tmp_path: Path, name: str, change: Callable[[Any], object]) -> None:
    with pytest.raises(OtherSchema, match="another schema than this version"):
        parse_results(changed(tmp_path, name, change), "artifact", ignore_unknown=True)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_broken_stream_is_a_sentence_whatever_its_compression(method: int) -> None:
    archive = bytearray(zipped({"result.json": json.dumps(list(range(3000))).encode()}, method))
    for at in range(45, 400, 7):
        archive[at] ^= 0xFF
    with pytest.raises(UserError, match="not a zip archive"):
        unzip(bytes(archive))


def test_files_that_unpack_to_too_much_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "LARGEST_CONTENT", 1000)
    with pytest.raises(UserError, match="unpacks to more than 1,000 bytes"):
        unzip(zipped({f"{number}.json": b" " * 400 for number in range(3)}))


def test_explanations_travel_shortened_to_what_is_shown(tmp_path: Path) -> None:
    record = make_record([make_trial("node-ws")])
    found = explanation(record.id, *(function(f"f{number}", 1e-6, 9e-6) for number in range(9)))
    write(tmp_path, record)
    results.write_measured(tmp_path, 1, record, judge(record, make_thresholds(tmp_path)), [found])
    [read] = read_results(tmp_path).measured[1].explanations
    assert [each.function for each in read.functions] == ["f0", "f1", "f2", "f3", "f4"]
    assert parse_results(unzip(zipped(files(tmp_path))), "artifact").measured[1].explanations == [read]


@pytest.mark.parametrize("changed", [{"record": "another"}, {"server": "another"}])
def test_explanations_of_something_else_are_refused(tmp_path: Path, changed: dict[str, str]) -> None:
    record = make_record([make_trial("node-ws")])
    found = explanation(record.id, function("f", 1e-6, 9e-6)).model_copy(update=changed)
    write(tmp_path, record)
    results.write_measured(tmp_path, 1, record, judge(record, make_thresholds(tmp_path)), [found])
    with pytest.raises(UserError, match=r"1\.explained\.json belongs to another record"):
        read_results(tmp_path)
