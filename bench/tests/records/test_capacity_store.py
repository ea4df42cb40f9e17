"""Capacity records are checked when they are read: written records come back, anything else is an error of one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.records import capacity_store
from pushbench.records.capacity_store import is_capacity, read_capacity, write_capacity
from pushbench.records.store import packed
from tests.capacity.capacities import make_capacity_record, make_server, make_start

RECORD = make_capacity_record([make_server([make_start(1200, 1230)])])


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    document = json.loads(RECORD.model_dump_json(by_alias=True))
    change(document)
    return json.dumps(document).encode()


def start_of(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["servers"][0]["starts"][0]
    return found


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    path = write_capacity(tmp_path, RECORD)
    assert path.name == f"{RECORD.id}.json"
    assert read_capacity(path) == RECORD


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a complete JSON document"),
        (b"[]", "it: "),
        (b"[" * 100_000, "not a complete JSON document"),
        (changed(lambda found: found.update(schema=2)), "has schema 2, this pushbench reads up to 1"),
        (changed(lambda found: found.update(id="../../etc")), "id: "),
        (changed(lambda found: found.update(more=1)), "more: "),
        (changed(lambda found: found["search"].update(step=0)), "search.step: "),
        (changed(lambda found: found["search"].update(first=20_000)), "expected step <= first <= most"),
        (changed(lambda found: start_of(found).update(carried=-1)), "carried: "),
        (changed(lambda found: start_of(found).update(carried=9999)), "refused less than it carried"),
        (changed(lambda found: start_of(found).update(carried=1199)), "no probe carried the load"),
        (changed(lambda found: start_of(found).update(refused=1231)), "no probe refused the load"),
        (changed(lambda found: start_of(found)["probes"][0].update(metrics={"x": float("nan")})), "metrics.x: "),
        (changed(lambda found: start_of(found)["probes"][0].update(answer="best")), "answer: "),
    ],
)
def test_anything_else_is_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UserError) as refused:
        read_capacity(path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_a_large_and_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no such record"):
        read_capacity(tmp_path / "none.json")
    with pytest.raises(UserError, match="cannot be read"):
        read_capacity(tmp_path)
    monkeypatch.setattr(capacity_store, "LARGEST_BYTES", 100)
    with pytest.raises(UserError, match="more than"):
        read_capacity(write_capacity(tmp_path, RECORD))


def test_a_compressed_record_is_read_and_one_that_is_cut_off_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / f"{RECORD.id}.json.gz"
    path.write_bytes(packed(RECORD.model_dump_json(by_alias=True).encode()))
    assert is_capacity(path)
    assert read_capacity(path) == RECORD
    path.write_bytes(path.read_bytes()[:200])
    assert not is_capacity(path)
    with pytest.raises(UserError, match="not a capacity record: incomplete or damaged"):
        read_capacity(path)
