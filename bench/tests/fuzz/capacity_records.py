"""Capacity records: all that can be read are shown, judged and written as JSON, and no others are."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pushbench.judging.judged_capacity import against_history
from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.metrics.carrying import CapacityReport, results_of
from pushbench.metrics.kept import entry_of
from pushbench.records.capacity import Start
from pushbench.records.capacity_store import parse_capacity
from pushbench.reporting.capacities import render_capacities
from pushbench.reporting.judged_capacities import render_capacity_verdict
from tests.capacity.capacities import make_capacity_record, make_server, make_start
from tests.ci.searches import BEFORE
from tests.fuzz.target import Target


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
    verdict = against_history(entry_of(record), BEFORE, NO_THRESHOLDS)
    render_capacity_verdict(verdict)
    json.dumps(verdict.model_dump(mode="json", by_alias=True), allow_nan=False)
    return False  # a measurement is not a verdict


TARGET = Target("a capacity record", [FOUND, BOUND], read)
