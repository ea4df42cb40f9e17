"""Limits from a first run leave room above its results, apply where they were measured, and loosen nothing."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from pushbench.authoring.promising import thresholds_yml
from pushbench.foundation.yamlfile import parse_yaml
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import KnownSuite, checked
from pushbench.metrics.definitions import metrics_of
from pushbench.records.record import Failure, Record, Validity
from tests.factories import STAGES, make_record, make_stage, make_trial

DAY = date(2026, 11, 21)
METRICS = {"cpu_seconds_per_delivery": 2.13e-5, "delivery_seconds.p95": 0.004, "memory_bytes.peak": 61_000_000.0}


def known(record: Record) -> dict[str, KnownSuite]:
    return {"whiteboard": KnownSuite([str(each) for each in STAGES], metrics_of(record.words))}


def read(record: Record, text: str, server: str = "chat") -> Thresholds:
    file = parse_yaml(text, Path("thresholds.yml"))
    return checked(file, "", suites=known(record), servers={server: "whiteboard"})


def record_of(*results: dict[str, float], **changed: object) -> Record:
    trials = [
        make_trial("chat", at + 1, results=[make_stage(STAGES[0], each)], **changed) for at, each in enumerate(results)
    ]
    return make_record(trials)


NOTHING = "version: 1\n"


def test_limits_leave_room_above_the_worst_trial() -> None:
    record = record_of(METRICS, {**METRICS, "memory_bytes.peak": 70_000_000.0})
    text = thresholds_yml(record, "chat", read(record, NOTHING))
    assert text
    limits = {each.metric: each for each in read(record, text).limits("whiteboard", "chat", str(STAGES[0]), DAY)}
    assert {metric: pytest.approx(each.bound.value) for metric, each in limits.items()} == {
        "cpu_seconds_per_delivery": 43e-6,
        "delivery_seconds.p95": 0.012,
        "memory_bytes.peak": 140e6,
    }
    assert limits["memory_bytes.peak"].reason == "2 times the 70 MB of a first run on 2026-11-21"


def test_a_limit_that_is_stricter_already_stays() -> None:
    record = record_of(METRICS)
    before = read(record, "version: 1\nsuites: {whiteboard: {limits: {delivery_seconds.p95: {max: 10ms}}}}\n")
    text = thresholds_yml(record, "chat", before)
    assert text
    assert "delivery_seconds.p95" not in text
    assert "cpu_seconds_per_delivery" in text


def test_a_run_that_does_not_count_promises_nothing() -> None:
    invalid = record_of(METRICS, validity=Validity(valid=False, reasons=[], warnings=[]))
    failed = record_of(METRICS, failure=Failure(step="stop", message="", log_tail=""))
    for record in (invalid, failed, record_of(METRICS).model_copy(update={"trials": []})):
        assert thresholds_yml(record, "chat", read(record, NOTHING)) is None


def test_limits_beside_a_server_replace_the_suites_for_it_alone() -> None:
    record = record_of(METRICS)
    common = read(record, "version: 1\nsuites: {whiteboard: {limits: {memory_bytes.peak: {max: 1MB}}}}\n")
    text = thresholds_yml(record, "chat", read(record, NOTHING))
    assert text
    both = common.with_own(read(record, text))

    def memory(server: str) -> float:
        [limit] = [each for each in both.limits("whiteboard", server, str(STAGES[0]), DAY) if "memory" in each.metric]
        return limit.bound.value

    assert (memory("chat"), memory("other")) == (130e6, 1e6)
