"""Other tools get the headline numbers in their own format, without any that were not measured."""

from __future__ import annotations

import json

from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.judging.verdict import judge
from pushbench.machine.environment import set_apart
from pushbench.records.record import Record
from pushbench.reporting.exporting import github_action_benchmark
from pushbench.reporting.summary import summarize
from tests.factories import by_method_1, invalid, make_record, make_trial, measured


def export(record: Record) -> dict[str, list[dict[str, object]]]:
    found = github_action_benchmark(record, summarize(record, judge(record, NO_THRESHOLDS)))
    read: dict[str, list[dict[str, object]]] = json.loads(json.dumps(found))
    return read


def test_every_headline_is_in_the_file_of_its_direction() -> None:
    trials = [
        measured("node-ws", {"delivery_seconds.p95": each}, round_=n) for n, each in enumerate((0.002, 0.004, 0.003))
    ]
    found = export(make_record(trials))
    assert [each["name"] for each in found["customBiggerIsBetter"]] == [
        "node-ws: Deliveries out (whiteboard, quick, 1,000 clients, method 2)"
    ]
    p95, cpu, memory, loss = found["customSmallerIsBetter"]
    assert p95 == {
        "name": "node-ws: Delivery p95 (whiteboard, quick, 1,000 clients, method 2)",
        "unit": "ms",
        "value": 3.0,
        "range": "2 to 4",
        "extra": "3 of 3 trials valid\nenvironment 0123456789ab\nDescribe the load report",
    }
    assert (cpu["unit"], cpu["value"], memory["unit"], loss["value"]) == ("ms", 41.0, "MB", 0.0)


def test_a_name_is_of_one_method_and_one_number_of_generators() -> None:
    def name(record: Record) -> object:
        return export(record)["customBiggerIsBetter"][0]["name"]

    record = make_record([make_trial("node-ws")])
    shared = record.model_copy(update={"environment": record.environment.model_copy(update={"generators": 2})})
    assert name(by_method_1(record)) == "node-ws: Deliveries out (whiteboard, quick, 1,000 clients)"
    assert name(shared) == "node-ws: Deliveries out (whiteboard, quick, 1,000 clients, 2 generators, method 2)"


def test_a_machine_apart_has_charts_of_its_own() -> None:
    record = make_record([make_trial("node-ws")])
    apart = record.model_copy(update={"environment": set_apart(record.environment, "bench-2")})
    names = [each["name"] for each in export(apart)["customSmallerIsBetter"]]
    assert all("1,000 clients, apart on bench-2, method 2" in str(name) for name in names)


def test_throughput_below_what_was_due_says_so() -> None:
    trial = measured("node-ws", {"throughput_per_second": 4_000.0, "offered_per_second": 5_200.0})
    [throughput] = export(make_record([trial]))["customBiggerIsBetter"]
    assert (throughput["value"], str(throughput["extra"]).split("\n")[0]) == (4_000.0, "of 5,200 /s that were due")


def test_a_server_without_a_valid_trial_has_no_number() -> None:
    found = export(make_record([invalid(make_trial("node-ws")), make_trial("fastapi")]))
    assert all(str(each["name"]).startswith("fastapi: ") for each in found["customSmallerIsBetter"])


def test_what_a_commit_says_stays_one_line() -> None:
    commit = make_record([]).commit
    assert commit
    hostile = commit.model_copy(update={"subject": "a\x1b[31m\nb" + "c" * 9000})
    [first, *_] = export(make_record([make_trial("node-ws")], commit=hostile))["customSmallerIsBetter"]
    extra = str(first["extra"])
    assert extra.count("\n") == 2
    assert "\x1b" not in extra
    assert len(extra) < 1000
