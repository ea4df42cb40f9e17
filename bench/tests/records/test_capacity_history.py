"""The parts of a search for capacities that a history keeps, what it refuses, and which searches form a series."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.metrics.kept import entry_of, require_whole
from pushbench.records import capacity_history as capacities
from pushbench.records import history
from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_history import CapacityEntry
from pushbench.records.record import Failure
from pushbench.records.runs import past_of
from tests.capacity.capacities import SEARCH, make_server, make_start
from tests.factories import make_record, make_trial
from tests.records.capacity_entries import COMMIT, THREE, elsewhere, entry, kept, search

GOLDEN = Path(__file__).parents[1] / "golden" / "20261121T101500Z-1a2b3c.capacity.json"
"""as first written: a history is never rewritten"""


def test_an_entry_keeps_the_median_the_interval_the_end_and_what_binds() -> None:
    found = entry_of(search(21, *THREE)).servers["node-ws"]
    assert (found.carried, found.low, found.high, found.starts) == (5200, 5000, 5400, [5000, 5200, 5300])
    assert (found.end, found.at_least, found.binds) == ("limit", False, "cpu")
    assert found.reason == "delivery p95 812 ms, limit 500 ms"


def test_an_entry_keeps_the_starts_that_count() -> None:
    generator = make_start(9000, 9100, number=3, end="generator", answer="generator")
    two = [make_start(*pair, number=number) for number, pair in enumerate(THREE[:2], 1)]
    record = search(21, *THREE).model_copy(update={"servers": [make_server([*two, generator])]})
    assert entry_of(record).servers["node-ws"].starts == [5000, 5200]


def test_entries_of_earlier_versions_stay_readable(tmp_path: Path) -> None:
    written = GOLDEN.read_bytes()
    path = tmp_path / "0123456789ab" / "whiteboard" / GOLDEN.name
    path.parent.mkdir(parents=True)
    path.write_bytes(written)
    assert capacities.read_entry(path) == CapacityEntry.model_validate_json(written)
    assert capacities.append(tmp_path, entry_of(search(21, *THREE))) == path
    assert path.read_bytes() == written
    assert len(written) < 900, "it is small: one for each night"


def test_an_entry_never_changes(tmp_path: Path) -> None:
    capacities.append(tmp_path, entry(21))
    capacities.append(tmp_path, entry(21))
    with pytest.raises(UserError, match="entries never change"):
        capacities.append(tmp_path, entry(21, kept(5000, 5100)))


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (search(21, *THREE, commit=None), "its sources are no commit"),
        (search(21, *THREE, commit=COMMIT and COMMIT.model_copy(update={"dirty": True})), "its sources are no commit"),
        (search(21, *THREE, servers=[]), "nothing was searched"),
        (search(21, *THREE, wanted_starts=4), "node-ws has 3 of 4 starts"),
    ],
)
def test_what_no_commit_made_and_what_is_not_whole_is_refused(record: CapacityRecord, said: str) -> None:
    with pytest.raises(UserError, match=said):
        require_whole(record)


def test_a_server_that_fails_has_no_further_starts_and_is_kept() -> None:
    failed = make_server([], failure=Failure(step="start", message="it is dead"))
    record = search(21, *THREE).model_copy(update={"servers": [failed]})
    require_whole(record)
    found = entry_of(record).servers["node-ws"]
    assert (found.carried, found.failure, found.starts) == (None, "failed to start: it is dead", [])


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({}, True),
        ({"search": SEARCH.model_copy(update={"first": 500, "most": 9000})}, True),
        ({"search": SEARCH.model_copy(update={"steady_seconds": 5})}, False),
        ({"parameters": {"board_size": 20}}, False),
        ({"rules": 2}, False),
        ({"limits": [search(21, *THREE).limits[0].model_copy(update={"value": 0.4})]}, False),
    ],
)
def test_what_is_asked_otherwise_is_another_series(changed: dict[str, object], *, same: bool) -> None:
    asked = capacities.asked_of(search(21, *THREE))
    assert (capacities.asked_of(search(22, *THREE, **changed)) == asked) is same


def test_a_series_has_one_environment_and_one_way_of_asking(tmp_path: Path) -> None:
    first = search(20, *THREE)
    for record in (
        first,
        search(21, *THREE, environment=elsewhere(first.environment)),
        search(22, *THREE, parameters={"board_size": 20}),
        search(23, *THREE),
    ):
        capacities.append(tmp_path, entry_of(record))
    found = capacities.read_entries(tmp_path, first.environment.key, "whiteboard")
    series = capacities.series_of(found, capacities.asked_of(first))
    assert [each.created[8:10] for each in series.entries] == ["20", "23"]
    assert series.asked_otherwise == 1
    assert capacities.folders(tmp_path) == [("0123456789ab", "whiteboard"), ("ba9876543210", "whiteboard")]


def test_lower_bounds_are_no_numbers() -> None:
    bound = kept(at_least=True, end="generator")
    nothing = kept(carried=None, low=None, high=None, starts=[], end=None)
    series = capacities.Series([entry(20), entry(21, bound), entry(22, nothing)])
    assert series.numbers("node-ws") == [5200.0]
    assert len(series.of("node-ws")) == 3


def test_a_file_that_is_no_entry_or_in_another_one_s_place_is_named(tmp_path: Path) -> None:
    path = capacities.append(tmp_path, entry(21))
    moved = path.with_name("20261122T101500Z-1a2b3c.capacity.json")
    moved.write_bytes(path.read_bytes())
    with pytest.raises(UserError, match="the search 20261121T101500Z-1a2b3c belongs elsewhere"):
        capacities.read_entry(moved)
    path.write_text(json.dumps({"schema": 2}))
    with pytest.raises(UserError, match="not a capacity of a history: schema"):
        capacities.read_entry(path)


def test_runs_are_read_as_before_where_capacities_lie_beside_them(tmp_path: Path) -> None:
    run = make_record([make_trial("node-ws")])
    history.append(tmp_path, run)
    capacities.append(tmp_path, entry(21))
    assert history.folders(tmp_path) == [("0123456789ab", "whiteboard", "quick")]
    later = make_record([make_trial("node-ws")], id="20261130T101500Z-000000", created="2026-11-30T10:15:00+00:00")
    assert len(past_of(tmp_path, later, tmp_path / "cache").runs.heads) == 1
    other = later.model_copy(update={"profile": "full"})
    assert past_of(tmp_path, other, tmp_path / "cache").missing.endswith("with the profile full (quick)")
