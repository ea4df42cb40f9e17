"""The result of a capacity record: the median of the starts that count, what ended them, the bottleneck, the costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pushbench.metrics.carrying import CapacityResult, probe_sentence, results_of
from pushbench.records.capacity import Broken, ServerCapacity, Start
from pushbench.records.load_report import ReportedError
from pushbench.records.record import Failure, Finding
from pushbench.records.vocabulary import ORIGINAL, Told
from pushbench.reporting.capacities import render_capacities
from tests.capacity.capacities import SEARCH, make_capacity_record, make_probe, make_server, make_start

FULL = {"cpu_cores": 1.9}
BEHIND = Broken(metric="throughput_per_second", side="min", value=11_900.0, found=11_800.0)


def result(starts: Sequence[Start]) -> CapacityResult:
    (found,) = results_of(make_capacity_record([make_server(starts)]))
    return found


def starts(*pairs: tuple[int, int]) -> list[Start]:
    return [make_start(*pair, number=number, metrics=FULL) for number, pair in enumerate(pairs, 1)]


def test_the_median_of_the_starts_between_the_least_carried_and_the_most_refused() -> None:
    found = result(starts((1200, 1230), (1300, 1340), (1180, 1210)))
    assert (found.carried, found.low, found.high) == (1200, 1180, 1340)
    assert (found.at_least, found.end, found.confirmed) == (False, "limit", True)
    assert found.starts == [1200, 1300, 1180]
    assert found.reason == "delivery p95 812 ms, limit 500 ms"


def test_of_two_starts_the_lower_one_counts_which_was_really_carried() -> None:
    assert result(starts((1200, 1230), (1300, 1340))).carried == 1200


@pytest.mark.parametrize(
    ("late", "interval"), [((1310, 1440), (1200, 1440)), ((1310, 1450), (1200, 1310)), ((1230, None), (1200, 1250))]
)
def test_a_start_that_ran_out_of_time_widens_the_interval_to_what_it_carried_or_refused_near_its_limit(
    late: tuple[int, int | None], interval: tuple[int, int]
) -> None:
    found = result([*starts((1200, 1230), (1220, 1250)), make_start(*late, number=3, end="time")])
    assert (found.carried, found.low, found.high) == (1220, *interval), "it carries more than both"
    assert found.confirmed, "it has no part in the limit"
    assert result([*starts((1200, 1230), (1220, 1250)), make_start(600, None, number=3, end="time")]).carried == 1200


def test_most_starts_have_to_end_at_a_limit() -> None:
    generator = make_start(2000, 2060, end="generator", answer="generator", findings=[])
    one_of_three = result([*starts((1200, 1230), (1220, 1250)), generator])
    assert (one_of_three.carried, one_of_three.at_least, one_of_three.high) == (1220, False, 2000)
    two_of_three = result([*starts((1200, 1230)), generator, generator])
    assert (two_of_three.carried, two_of_three.at_least, two_of_three.end) == (2000, True, "generator")
    assert two_of_three.binding is None, "nobody saw what binds the server"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("generator", "the generator ended here: it used 85 %"),
        ("disturbed", "the machine was disturbed here: it used 85 %"),
    ],
)
def test_another_end_says_why(end: str, said: str) -> None:
    finding = Finding(code="any", message="it used 85 %")
    assert result([make_start(1200, 1230, end=end, answer=end, findings=[finding])]).reason == said


@pytest.mark.parametrize(
    ("most_by", "said"),
    [("suite", "the search goes no further"), ("generator", "the generator ended here: it has files and ports for no")],
)
def test_all_that_could_be_asked_says_whose_end_it_is(most_by: str, said: str) -> None:
    server = make_server([make_start(10_000, end="most")])
    (found,) = results_of(make_capacity_record([server], most_by=most_by))
    assert (found.carried, found.at_least, found.high) == (10_000, True, None)
    assert found.reason.startswith(said)


def test_a_server_that_carries_nothing_and_one_without_a_start() -> None:
    nothing = result([make_start(0, 10)])
    assert (nothing.carried, nothing.at_least, nothing.high) == (0, False, 10)
    assert set(nothing.per_1000.values()) == {None}
    record = make_capacity_record([make_server([make_start(0, 10)])])
    assert "node-ws: no load was carried\n  ended by  delivery p95 812 ms" in render_capacities(record, [nothing])
    failure = Failure(step="start", message="it is dead")
    (failed,) = results_of(make_capacity_record([make_server([], failure=failure)]))
    assert (failed.carried, failed.reason) == (None, "failed to start: it is dead")


def test_a_failure_after_some_starts_is_told_beside_the_number() -> None:
    failure = Failure(step="start", message="it is dead")
    record = make_capacity_record([make_server(starts((1200, 1230)), failure=failure)])
    (found,) = results_of(record)
    assert (found.carried, found.failure) == (1200, "failed to start: it is dead")
    assert "  then it   failed to start: it is dead\n" in render_capacities(record, [found])


def test_a_start_without_time_for_a_probe_says_nothing_of_the_server() -> None:
    late = make_start(0, number=2, end="time")
    found = result([*starts((1200, 1230)), late, late])
    assert (found.carried, found.at_least) == (1200, True)
    nothing = result([late])
    assert (nothing.carried, nothing.end) == (None, None)


def test_costs_are_of_the_load_that_was_held_for_each_thousand() -> None:
    start = make_start(500, 520)
    probes = [make_probe(500, metrics={"cpu_cores": 9.0}), make_probe(500, hold=True, metrics={"cpu_cores": 0.4})]
    found = result([start.model_copy(update={"probes": [*probes, *start.probes[1:]]})])
    assert found.per_1000["cpu_cores"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("metrics", "changed", "resource"),
    [
        ({"cpu_cores": 1.9}, {}, "cpu"),
        ({"cpu_cores": 1.02}, {}, "core"),
        ({"cpu_cores": 0.5, "clients_missing_ratio": 0.2}, {}, "connections"),
        ({"cpu_cores": 1.9, "clients_missing_ratio": 0.2}, {}, "cpu"),
        ({"cpu_cores": 0.5, "disconnects": 40.0}, {}, "connections"),
        ({"cpu_cores": 1.9, "clients_missing_ratio": 0.2, "open_files_ratio": 0.99}, {}, "open_files"),
        ({"cpu_cores": 0.5, "clients_missing_ratio": 0.2, "open_files_ratio": 0.9}, {}, "connections"),
        ({"cpu_cores": 1.9, "open_files_ratio": 1.0}, {}, "cpu"),
        ({"cpu_cores": 0.5, "services_cpu_cores": 1.4, "generator_cpu_cores": 0.5}, {}, "services"),
        ({"cpu_cores": 0.5, "services_cpu_cores": 0.5, "generator_cpu_cores": 1.4}, {}, "unknown"),
        ({"cpu_cores": 0.5, "memory_bytes.peak": 7 * 2.0**30}, {}, "memory"),
        ({"cpu_cores": 0.5, "loop_seconds.p99": 0.06}, {}, "event_loop"),
        ({"cpu_cores": 0.5}, {}, "unknown"),
        ({"cpu_cores": None}, {}, "unknown"),
        ({"cpu_cores": 1.9}, {"failure": Failure(step="load", message="it ended")}, "process"),
    ],
)
def test_what_was_used_up_first_binds(metrics: dict[str, float | None], changed: dict[str, Any], resource: str) -> None:
    words = ORIGINAL.model_copy(update={"told": {"loop": Told(title="Loop delay")}})
    start = make_start(1000, 1030, metrics=metrics, **changed)
    (found,) = results_of(make_capacity_record([make_server([start])], words=words))
    assert found.binding
    assert found.binding.resource == resource


def test_a_server_that_falls_behind_with_time_left_has_a_queue() -> None:
    behind = {"metric": "throughput_per_second", "side": "min", "value": 10_300.0, "found": 9_000.0}
    metrics = {"cpu_cores": 0.3, "throughput_per_second": 9_000.0, "offered_per_second": 10_400.0}
    found = result([make_start(1000, 1030, metrics=metrics, broken=[behind])])
    assert found.binding
    assert (found.binding.resource, found.binding.sentence) == (
        "queue",
        "deliveries out 9,000 of 10,400 /s; it used 0.30 of 2 cores",
    )
    assert found.reason == "it falls behind, deliveries out 9,000 /s, wanted 10,300 /s"


@pytest.mark.parametrize(
    ("services", "told"),
    [
        (1.0, "it used 1.40 of 2 cores, its services and the generator 1.72 of 2 cores"),
        (0.0, "it used 1.40 of 2 cores"),
    ],
    ids=["with services", "without"],
)
def test_what_services_and_generator_used_is_told_of_a_server_with_time_left(services: float, told: str) -> None:
    used = {"cpu_cores": 1.4, "services_cpu_cores": services, "generator_cpu_cores": 0.72}
    found = result([make_start(1000, 1030, metrics=used)])
    assert found.binding
    assert (found.binding.resource, found.binding.sentence) == ("unknown", f"nothing measured was full; {told}")


def test_refused_clients_are_named_with_what_they_saw() -> None:
    errors = [ReportedError(reason="connect: connection refused", count=200)]
    found = result([make_start(1000, 1030, metrics={"clients_missing_ratio": 0.1}, errors=errors)])
    assert found.binding
    assert found.binding.sentence.startswith("103 of 1,030 clients had no connection")
    assert found.binding.sentence.endswith("clients saw connect: connection refused")


@pytest.mark.parametrize(("used", "resource"), [(0.65, "accepting"), (1.9, "cpu")])
def test_a_server_that_only_connects_too_slowly_is_told_how_fast_clients_came(used: float, resource: str) -> None:
    late = {"metric": "connect_late_ratio", "side": "max", "value": 0.01, "found": 0.026}
    found = result([make_start(1000, 1030, metrics={"cpu_cores": used}, broken=[late], ramp_seconds=2.06)])
    assert found.binding
    assert found.binding.resource == resource
    if resource == "accepting":
        assert found.binding.sentence == (
            "500 new clients per second were too many; with all of them it used 0.65 of 2 cores"
        )


def test_a_server_without_a_file_for_a_client_is_told_of_its_limit() -> None:
    metrics = {"clients_missing_ratio": 0.1, "open_files_ratio": 0.996}
    record = make_capacity_record([make_server([make_start(1000, 1030, metrics=metrics)])])
    assert "  binds     open files: a process used 99.6 % of its `ulimit -n`; 103 of 1,030" in render_capacities(
        record, results_of(record)
    )


def test_a_probe_is_a_short_line() -> None:
    said = [
        make_probe(1200),
        make_probe(1200, hold=True),
        make_probe(1200, "broken"),
        make_probe(1200, "broken", failure=Failure(step="load", message="it ended")),
        make_probe(1200, "unsettled", broken=[BEHIND]),
    ]
    assert [probe_sentence(each, SEARCH, ORIGINAL) for each in said] == [
        "1,200 clients: carried, delivery p95 2.10 ms",
        "1,200 clients held: carried, delivery p95 2.10 ms",
        "1,200 clients: delivery p95 812 ms, limit 500 ms",
        "1,200 clients: the server ended",
        "1,200 clients: it falls behind, deliveries out 11,800 /s, wanted 11,900 /s, undecided",
    ]


def test_a_rate_is_told_as_one() -> None:
    search = SEARCH.model_copy(update={"searched": "requests_per_second"})
    assert probe_sentence(make_probe(1200), search, ORIGINAL).startswith("1,200 messages/s: carried")


def servers() -> list[ServerCapacity]:
    generator = make_start(20_000, 20_600, end="generator", answer="generator")
    return [
        make_server(starts((1200, 1230), (1300, 1340), (1180, 1210))),
        make_server([generator], "go"),
        make_server([], "broken", failure=Failure(step="build", message="no compiler")),
    ]


def test_the_largest_comes_first_and_lines_fit_a_terminal() -> None:
    record = make_capacity_record(servers())
    text = render_capacities(record, results_of(record))
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "whiteboard: the most clients within the limits of the suite",
        "",
        "go: at least 20,000 clients",
        "",
        "node-ws: 1,200 clients [1,180 to 1,340]",
        "",
        "broken: failed to build: no compiler",
    ]
    assert "  binds     CPU: 1.90 of 2 cores used" in lines
    assert max(map(len, lines)) <= 110
