"""A record on disk is complete, or it is the previous one; a file that is no record is an error of one line."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.measuring.plan import make_plan
from pushbench.measuring.trial import failed_trial
from pushbench.metrics.results import timeline
from pushbench.records import store
from pushbench.records.environment import Harness
from pushbench.records.record import Failure, Record, Schedule, StagePlan
from tests.factories import make_record, make_trial
from tests.samples import ENVIRONMENT, load_report


def record(trials: int = 0, record_id: str = "20261121T101500Z-1a2b3c") -> Record:
    plan = make_plan(["a"], rounds=3, seed=1)
    return Record(
        id=record_id,
        created="2026-11-21T10:15:00+00:00",
        commit=None,
        harness=Harness(pushbench="0", k6="v0", extension="0", go="go0"),
        environment=ENVIRONMENT,
        suite="tiny",
        profile="smoke",
        parameters={"board_size": 10},
        schedule=Schedule(
            warmup_seconds=0,
            stages=[StagePlan(clients=20, ramp_seconds=0, settle_seconds=0, steady_seconds=1)],
            drain_seconds=1,
        ),
        thresholds_digest=None,
        plan=plan,
        trials=[failed_trial(planned, "d", Failure(step="start", message="no")) for planned in plan[:trials]],
    )


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = record(2)  # it holds the time of day
    path = store.write_record(tmp_path, written)
    assert store.read_record(path) == written
    assert not store.read_record(path).complete


def test_a_record_from_before_stages_had_names_is_read(tmp_path: Path) -> None:
    written = record().model_dump(mode="json", by_alias=True)
    for stage in written["schedule"]["stages"]:
        del stage["name"], stage["parameters"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(written))
    assert store.read_record(path).schedule.stages[0].name == "20"


def test_a_record_from_before_loss_and_network_were_counted_by_the_second_is_read(tmp_path: Path) -> None:
    measured = timeline(load_report([], seconds=2).timeline)
    [trial] = record(1).trials
    written = record().model_copy(update={"trials": [trial.model_copy(update={"timeline": measured})]})
    document = written.model_dump(mode="json", by_alias=True)
    for column in ("expected", "lost", "network_in_bytes", "network_out_bytes"):
        del document["trials"][0]["timeline"][column]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document))
    found = store.read_record(path).trials[0].timeline
    assert found
    assert (found.received, found.lost, found.network_out_bytes) == ([200, 200], None, None)


def test_a_record_from_before_corrupt_receipts_had_a_metric_has_it_by_what_was_counted(tmp_path: Path) -> None:
    document = make_record([make_trial("node-ws")]).model_dump(mode="json", by_alias=True)
    [stage, *_] = document["trials"][0]["stages"]
    del stage["metrics"]["corrupt_ratio"]
    stage["deliveries"] = stage.pop("receipts") | {"corrupt": 3}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document))
    found = store.read_record(path).trials[0].stages[0]
    assert found.metrics["corrupt_ratio"] == 3 / found.receipts.expected


def test_a_full_disk_keeps_the_record_before_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = record(2)
    path = store.write_record(tmp_path, before)

    def no_room(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(UserError) as raised:
        store.write_record(tmp_path, record(3))
    assert str(raised.value) == (
        f"{path}: cannot be written: No space left on device; 2 of 3 trials are kept there; "
        f"make room and continue with `./pushbench run --resume {path}`"
    )
    assert store.read_record(path) == before


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("a file where a folder should be")
    with pytest.raises(UserError, match=r"cannot be written: .*; nothing was measured yet; make it writable and try"):
        store.write_record(tmp_path / "records", record())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "not a record: not a complete JSON document"),
        ('{"schema": 1, "id": "x", "tri', "not a record: not a complete JSON document"),
        ("[1, 2]", "not a record: it has no schema number"),
        ('{"name": "package"}', "not a record: it has no schema number"),
        ('{"schema": 2}', "the record has schema 2, this pushbench reads up to 1; update pushbench"),
        ('{"schema": 1, "id": "x"}', "not a record: created: Field required"),
    ],
)
def test_what_is_no_record_is_told_in_one_line(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(content)
    with pytest.raises(UserError) as raised:
        store.read_record(path)
    assert str(raised.value).startswith(f"{path}: {told}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_infinities_and_nan_are_no_measurements(tmp_path: Path, number: str) -> None:
    path = tmp_path / "record.json"
    content = make_record([make_trial("a")]).model_dump_json()
    path.write_text(re.sub(r'("delivery_seconds\.p95":)[^,}]+', rf"\g<1>{number}", content))
    with pytest.raises(UserError, match=r"delivery_seconds\.p95.*finite"):
        store.read_record(path)


def test_a_compressed_record_is_read_and_found_as_a_plain_one_and_is_the_same_each_time(tmp_path: Path) -> None:
    one = record(record_id="20261121T000000Z-bbbbbb")
    path = tmp_path / f"{one.id}.json.gz"
    path.write_bytes(store.packed(store.as_bytes(one)))
    assert store.read_record(path) == one
    assert store.find_record(tmp_path) == store.find_record(tmp_path, "20261121") == path
    os.utime(path, (0, 0))
    assert store.packed(store.as_bytes(one)) == path.read_bytes()
    assert gzip.decompress(path.read_bytes()) == store.write_record(tmp_path, one).read_bytes()
    assert store.record_files(tmp_path) == {one.id: tmp_path / f"{one.id}.json"}


def test_a_compressed_record_that_is_cut_off_or_none_or_a_bomb_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "record.json.gz"
    whole = store.packed(b"[" * 100_000)
    for content in (whole[:-9], b"", b"{}", whole[:20] + b"\0" * 9 + whole[29:]):
        path.write_bytes(content)
        with pytest.raises(UserError, match="not a record"):
            store.read_record(path)
    path.write_bytes(whole)
    monkeypatch.setattr(store, "LARGEST_BYTES", 1 << 16)
    with pytest.raises(UserError, match="not a record: more than 0 MiB"):
        store.read_record(path)


def test_a_record_is_found_by_id_beginning_file_or_as_the_latest(tmp_path: Path) -> None:
    older = store.write_record(tmp_path, record(record_id="20261120T000000Z-aaaaaa"))
    newer = store.write_record(tmp_path, record(record_id="20261121T000000Z-bbbbbb"))
    assert store.find_record(tmp_path) == newer
    assert store.find_record(tmp_path, "20261120T000000Z-aaaaaa") == older
    assert store.find_record(tmp_path, "20261120") == older
    assert store.find_record(tmp_path, str(older)) == older


@pytest.mark.parametrize(
    ("name", "told"),
    [("2026", "2 records have ids that begin with '2026'"), ("1999", "no record '1999'; newest: 20261120")],
)
def test_a_record_that_cannot_be_found_is_told(tmp_path: Path, name: str, told: str) -> None:
    for record_id in ("20261120T000000Z-aaaaaa", "20261121T000000Z-bbbbbb"):
        store.write_record(tmp_path, record(record_id=record_id))
    with pytest.raises(UserError) as raised:
        store.find_record(tmp_path, name)
    assert told in str(raised.value)


def test_without_any_record_the_way_to_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no record yet; `\./pushbench run` makes one"):
        store.find_record(tmp_path)


def test_ids_sort_by_time_and_are_unique() -> None:
    ids = [store.new_id() for _ in range(50)]
    assert len(set(ids)) == 50
    assert all(len(each) == 23 for each in ids)
