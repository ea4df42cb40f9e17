"""Capacity records: whatever can be read is shown and written as JSON, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pushbench.metrics.carrying import CapacityReport, results_of
from pushbench.records.capacity import Start
from pushbench.records.capacity_store import parse_capacity
from pushbench.reporting.capacities import render_capacities
from tests.fuzz.target import Target
from tests.measuring.capacities import make_capacity_record, make_server, make_start


def seed(starts: Sequence[Start]) -> bytes:
    return make_capacity_record([make_server(starts)]).model_dump_json(by_alias=True).encode()


FOUND = seed([make_start(1200, 1230, metrics={"clients_missing_ratio": 0.2}), make_start(1300, 1340, number=2)])
BOUND = seed([make_start(1200, 1230, end="generator", answer="generator")])


def read(content: bytes) -> bool:
    record = parse_capacity(content, "a capacity record")
    results = results_of(record)
    render_capacities(record, results)
    report = CapacityReport(record=record, results=results)
    json.dumps(report.model_dump(mode="json", by_alias=True), allow_nan=False)
    return False  # it is a measurement, and no verdict


TARGET = Target("a capacity record", [FOUND, BOUND], read)
