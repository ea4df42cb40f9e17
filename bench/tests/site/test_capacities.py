"""Capacities on the site: each record is read once and kept, each server has its newest, and nothing is mixed up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_store import write_capacity
from pushbench.records.record import Failure
from tests.capacity.capacities import SEARCH, make_capacity_record, make_probe, make_server, make_start
from tests.reporting.shown_records import HOSTILE
from tests.site.checkouts import Site


class Capacities(Site):
    """A site whose capacity records are in a folder beside it."""

    @property
    def given(self) -> Path:
        return self.root / "capacity"

    def add(self, *servers: Any, day: int = 21, **changed: Any) -> CapacityRecord:
        values = {"id": f"202611{day}T101500Z-1a2b3c", "created": f"2026-11-{day}T10:15:00+00:00"}
        record = make_capacity_record(servers, **(values | changed))
        write_capacity(self.given, record)
        return record

    def make(self) -> list[str]:
        return self.build().written

    @property
    def series(self) -> list[dict[str, Any]]:
        return list(self.manifest["capacities"])

    def found(self, number: int = 0) -> dict[str, Any]:
        return dict(self.data(self.series[number]["id"])["servers"])


@pytest.fixture
def site(tmp_path: Path) -> Capacities:
    return Capacities(tmp_path)


def test_each_server_has_its_newest_search(site: Capacities) -> None:
    old = site.add(make_server([make_start(1000, 1030)]), make_server([make_start(500, 520)], "go"), day=20)
    new = site.add(make_server([make_start(1200, 1230), make_start(1300, 1340, number=2)]), day=22)
    site.make()
    [series] = site.series
    assert (series["suite"], series["searched"], series["servers"]) == ("whiteboard", "clients", ["go", "node-ws"])
    assert (series["created"], series["parameters"]) == (new.created, {"board_size": 10})
    found = site.found()
    assert (found["node-ws"]["record"], found["go"]["record"]) == (new.id, old.id)
    assert {key: found["node-ws"][key] for key in ("carried", "low", "high", "at_least", "starts")} == {
        "carried": 1200,
        "low": 1200,
        "high": 1340,
        "at_least": False,
        "starts": [1200, 1300],
    }
    assert found["node-ws"]["reason"] == "delivery p95 812 ms, limit 500 ms"


def test_searches_that_cannot_be_compared_are_apart(site: Capacities) -> None:
    server = make_server([make_start(1000, 1030)])
    site.add(server, day=20)
    site.add(server, day=21, parameters={"board_size": 100})
    rate = SEARCH.model_copy(update={"searched": "requests_per_second"})
    site.add(server, day=22, search=rate, parameters={"board_size": 10, "requests_per_second": 0})
    strict = make_capacity_record([]).limits[0].model_copy(update={"value": 0.1})
    site.add(server, day=23, limits=[strict])
    elsewhere = make_capacity_record([]).environment.model_copy(update={"key": "elsewhere000"})
    site.add(server, day=24, environment=elsewhere)
    site.make()
    assert [each["created"][8:10] for each in site.series] == ["24", "23", "22", "21", "20"]
    assert site.series[2]["parameters"] == {"board_size": 10}, "the rate is what is searched"


def test_points_are_medians_of_what_the_server_answered(site: Capacities) -> None:
    probes = [
        make_probe(900, metrics={"delivery_seconds.p95": 0.01}),
        make_probe(900, metrics={"delivery_seconds.p95": 0.03}),
        make_probe(900, "generator", metrics={"delivery_seconds.p95": 9.0}),
        make_probe(1500, "disturbed"),
    ]
    start = make_start(1000, 1030)
    site.add(make_server([start.model_copy(update={"probes": [*start.probes, *probes]})]))
    site.make()
    points = {point["load"]: point for point in site.found()["node-ws"]["points"]}
    assert {load: point["carried"] for load, point in points.items()} == {900: True, 1000: True, 1030: False}
    assert points[900]["metrics"]["delivery_seconds.p95"] == 0.02


def test_a_record_is_kept_and_read_once(site: Capacities) -> None:
    record = site.add(make_server([make_start(1000, 1030)]))
    assert f"capacity/{record.id}.json.gz" in site.make()
    assert site.make() == []
    (site.given / f"{record.id}.json").unlink()
    site.make()
    assert site.found()["node-ws"]["carried"] == 1000, "what the site has it goes on showing"
    (site.out / "data" / "state.json").unlink()
    site.make()
    assert site.found()["node-ws"]["carried"] == 1000


def test_a_search_that_went_on_is_read_again(site: Capacities) -> None:
    site.add(make_server([make_start(1000, 1030)]))
    site.make()
    before = site.series[0]["version"]
    site.add(make_server([make_start(1000, 1030), make_start(900, 930, number=2)]))
    site.make()
    assert site.found()["node-ws"]["starts"] == [1000, 900]
    assert site.series[0]["version"] != before


def test_what_is_no_record_is_left_out_with_a_note(site: Capacities) -> None:
    record = site.add(make_server([make_start(1000, 1030)]))
    (site.given / "20261120T000000Z-000000.json").write_text("{")
    (site.given / "20261120T000000Z-000001.json").write_text(json.dumps({"schema": 9}))
    (site.given / "20261120T000000Z-000002.json").write_bytes((site.given / f"{record.id}.json").read_bytes())
    (site.given / "20261120T000000Z-000003.json.gz").write_bytes(b"\x1f\x8bno")
    site.make()
    assert list(site.found()) == ["node-ws"]
    said = [note for note in site.notes if note.startswith("left out")]
    assert len(said) == 4
    assert any(f"not that of its record, {record.id}" in note for note in said)


def test_a_server_without_a_number_says_why(site: Capacities) -> None:
    site.add(make_server([], failure=Failure(step="start", message=HOSTILE)))
    site.make()
    found = site.found()["node-ws"]
    assert (found["carried"], found["points"], found["binding"]) == (None, [], None)
    assert found["reason"].startswith("failed to start: ") and "\x1b" not in found["reason"]


def test_a_site_without_any_has_an_empty_list(site: Capacities) -> None:
    site.make()
    assert site.series == []
