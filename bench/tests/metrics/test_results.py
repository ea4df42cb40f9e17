"""Metrics are differences of counters over a steady window; what cannot be measured is None, never zero."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pushbench.generator.events import Started
from pushbench.machine.sampling import Sample
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.results import Window, resources, stage_result, timeline, windows
from pushbench.records.vocabulary import ORIGINAL
from tests.factories import METRICS
from tests.samples import WITH_PINGS, load_report, machine, pings, result_of, stage_report, usage, window


def test_every_metric_that_has_a_name_is_there_and_no_other() -> None:
    assert set(result_of(stage_report(), window(), 4).metrics) == set(METRICS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("clients", 100),
        ("clients_missing_ratio", 0.0),
        ("messages_per_second", 100.0),
        ("throughput_per_second", 800.0),
        ("offered_per_second", 1000.0),
        ("loss_ratio", 0.1),
        ("duplicate_ratio", 0.001),
        ("corrupt_ratio", 0.0005),
        ("delivery_seconds.p99", 0.002),
        ("lateness_share.p95", 0.05),
        ("lateness_share.p99", 0.05),
        ("echo_seconds.mean", 0.001),
        ("cpu_cores", 0.2),
        ("cpu_user_cores", 0.12),
        ("cpu_system_cores", 0.08),
        ("cpu_seconds_per_delivery", 1.2 / 4800),
        ("compilers_cpu_seconds_per_delivery", 0.3 / 4800),
        ("instructions_per_delivery", 96_000 / 4800),
        ("services_cpu_seconds_per_delivery", 0.6 / 4800),
        ("connect_late_ratio", 0.02),
        ("generator_cpu_cores", 0.5),
        ("generator_cpu_seconds_per_delivery", 3.0 / 4800),
        ("network_in_bytes_per_second", 100 * 250),
        ("network_out_bytes_per_second", 900 * 250),
        ("memory_bytes.peak", 50_000_000),
        ("threads", 4),
        ("generator_spin_cores", 0.0),
        ("steal_ratio", 0.01),
    ],
)
def test_a_metric_is_what_its_name_says(name: str, value: float) -> None:
    report = stage_report(received=5_400, lost=600, duplicate=6, corrupt=3, arrived=4_800, late=2)
    seen = window(
        server_cpu=1.2,
        generator_cpu=3.0,
        services_cpu=0.6,
        compiled=0.3,
        instructions=(4_000.0, 100_000.0),
        steal_seconds=0.24,
    )
    assert result_of(report, seen, 4).metrics[name] == pytest.approx(value, rel=2e-3)


def test_a_server_that_queues_has_what_arrived_in_the_window_and_what_was_due_beside_it() -> None:
    """The server delivers 4,000 of 5,200 messages per second, and the rest in the drain, at 250 us of CPU each."""
    result = result_of(stage_report(received=31_200, arrived=24_000), window(server_cpu=6.0), 4)
    assert result.arrived == 24_000
    assert result.metrics["throughput_per_second"] == pytest.approx(4_000)
    assert result.metrics["offered_per_second"] == pytest.approx(5_200)
    assert result.metrics["cpu_seconds_per_delivery"] == pytest.approx(250e-6)
    assert result.metrics["loss_ratio"] == 0.0


def test_a_server_without_compilers_has_no_cpu_of_them_not_none_of_it() -> None:
    assert result_of(stage_report(), window(), 4).metrics["compilers_cpu_seconds_per_delivery"] is None
    assert result_of(stage_report(), window(compiled=0.0), 4).metrics["compilers_cpu_seconds_per_delivery"] == 0.0


def test_what_the_generator_spun_is_no_work() -> None:
    """3 s of CPU in 6 s, 1.2 s of them spinning."""
    metrics = result_of(stage_report(arrived=6_000, spun_us=1_200_000), window(generator_cpu=3.0), 4).metrics
    assert metrics["generator_spin_cores"] == pytest.approx(0.2)
    assert metrics["generator_cpu_cores"] == pytest.approx(0.3)
    assert metrics["generator_cpu_seconds_per_delivery"] == pytest.approx(300e-6)


def test_a_stage_keeps_its_name_and_its_parameters() -> None:
    result = result_of(stage_report(name="classroom-100", parameters={"board_size": 100}), window(), 4)
    assert (result.name, result.clients, result.parameters) == ("classroom-100", 100, {"board_size": 100})


def test_a_server_that_delivered_nothing_has_loss_and_no_latency() -> None:
    metrics = result_of(stage_report(received=0, lost=6_000), window(), 4).metrics
    assert metrics["loss_ratio"] == 1.0
    assert metrics["delivery_seconds.p99"] is None
    assert metrics["lateness_share.p99"] is None
    assert metrics["cpu_seconds_per_delivery"] is None


def test_an_exchange_beside_the_first_has_a_latency_and_its_losses_count_and_it_is_no_work() -> None:
    report = stage_report(received=5_400, beside={"ping": pings(sent=600, lost=60, seconds=0.004)})
    result = stage_result(report, window(server_cpu=1.2), 4, WITH_PINGS)
    alone = result_of(stage_report(received=5_400), window(server_cpu=1.2), 4)
    assert result.metrics["ack_seconds.p50"] == pytest.approx(0.004, rel=2e-3)
    assert result.metrics["loss_ratio"] == pytest.approx(60 / 6_000)
    for same in ("throughput_per_second", "offered_per_second", "cpu_seconds_per_delivery", "messages_per_second"):
        assert result.metrics[same] == alone.metrics[same]
    assert result.beside["ping"].lost == 60


def test_what_was_superseded_is_a_count_of_suites_that_have_such_receipts() -> None:
    report = stage_report(received=5_400, superseded=600, expected=6_000)
    words = ORIGINAL.model_copy(update={"supersedes": True})
    result = stage_result(report, window(), 4, words)
    assert (result.metrics["superseded"], result.metrics["loss_ratio"]) == (600, 0.0)
    assert result.receipts.superseded == 600
    assert set(result.metrics) == set(metrics_of(words))
    assert "superseded" not in result_of(report, window(), 4).metrics


def test_a_stage_without_messages_has_no_loss() -> None:
    assert result_of(stage_report(received=0), window(), 4).metrics["loss_ratio"] is None


def test_a_server_that_died_in_the_window_has_no_cpu() -> None:
    seen = window()
    assert seen.begin
    metrics = result_of(stage_report(), Window(seen.begin, None, [seen.begin]), 4).metrics
    assert metrics["cpu_cores"] is None
    assert metrics["memory_bytes.mean"] == 50_000_000


def test_a_part_of_a_system_has_its_own_cpu_and_memory_beside_the_sum() -> None:
    whole = window(server_cpu=1.2)
    assert whole.begin
    assert whole.end
    begin = replace(whole.begin, parts={"app": usage(1.0, 4.0), "db": usage(1.0, 6.0, memory_bytes=7_000)})
    end = replace(whole.end, parts={"app": usage(7.0, 4.9), "db": usage(7.0, 6.3, memory_bytes=9_000)})
    result = result_of(stage_report(received=6_000), Window(begin, end, [begin, end]), 4)
    assert {name: each["cpu_cores"] for name, each in result.parts.items()} == pytest.approx({"app": 0.15, "db": 0.05})
    assert result.parts["db"]["cpu_seconds_per_delivery"] == pytest.approx(0.3 / 6_000)
    assert (result.parts["db"]["memory_bytes.mean"], result.parts["db"]["memory_bytes.peak"]) == (8_000, 9_000)
    total = sum(each["cpu_cores"] or 0.0 for each in result.parts.values())
    assert result.metrics["cpu_cores"] == pytest.approx(total)


def test_a_part_that_ended_has_no_cpu() -> None:
    whole = window()
    assert whole.begin
    assert whole.end
    begin, end = replace(whole.begin, parts={"db": usage(1.0, 4.0)}), replace(whole.end, parts={"db": None})
    assert result_of(stage_report(), Window(begin, end, [begin, end]), 4).parts["db"]["cpu_cores"] is None


def test_a_counter_that_went_back_is_no_negative_load() -> None:
    assert result_of(stage_report(), window(server_cpu=-0.5), 4).metrics["cpu_cores"] is None


def sample(at: float, *, border: bool = False, cpu: float = 0.0, memory: int = 50_000_000) -> Sample:
    found = usage(at, cpu, memory_bytes=memory)
    return Sample(at, found, found, found, machine(at) if border else None, border=border)


def test_a_window_has_its_borders_and_what_lies_between() -> None:
    started = Started(at=100.0, windows=[(101.5, 103.5), (105.0, 106.0)], end=106.0)
    borders = [sample(at + 0.001, border=True) for at in (101.5, 103.5, 105.0, 106.0)]
    seconds = [sample(at) for at in (101.0, 102.0, 103.0, 104.0)]
    first, second = windows(started, sorted([*borders, *seconds], key=lambda each: each.at))
    assert (first.begin, first.end) == (borders[0], borders[1])
    assert [each.at for each in first.inside] == [101.501, 102.0, 103.0, 103.501]
    assert (second.begin, second.end) == (borders[2], borders[3])


def test_a_border_that_was_not_reached_is_missing() -> None:
    started = Started(at=100.0, windows=[(101.0, 102.0), (103.0, 104.0)], end=104.0)
    first, second = windows(
        started, [sample(101.0, border=True), sample(102.0, border=True), sample(103.0, border=True)]
    )
    assert first.end
    assert second.begin
    assert second.end is None


def test_a_border_at_which_the_machine_was_not_read_moves_no_other() -> None:
    started = Started(at=100.0, windows=[(101.0, 102.0), (103.0, 104.0)], end=104.0)
    unread = Sample(102.0, None, None, None, None, border=True)
    first, second = windows(
        started, [sample(101.0, border=True), unread, sample(103.0, border=True), sample(104.0, border=True)]
    )
    assert first.end is unread
    assert (second.begin and second.begin.at, second.end and second.end.at) == (103.0, 104.0)


def test_memory_is_the_mean_and_the_peak_of_what_was_seen_in_the_window() -> None:
    begin, end = sample(1.0, border=True, memory=10_000), sample(7.0, border=True, memory=20_000)
    seen = Window(begin, end, [begin, sample(4.0, memory=60_000), end])
    metrics = result_of(stage_report(), seen, 4).metrics
    assert (metrics["memory_bytes.mean"], metrics["memory_bytes.peak"]) == (30_000, 60_000)


def test_open_files_are_the_most_that_were_seen_in_the_window() -> None:
    begin, end = sample(1.0, border=True), sample(7.0, border=True)
    full = Sample(4.0, usage(4.0, 0.0, open_files_ratio=0.9), None, None, None)
    assert result_of(stage_report(), Window(begin, end, [begin, full, end]), 4).metrics["open_files_ratio"] == 0.9
    assert result_of(stage_report(), Window(begin, end, [begin, end]), 4).metrics["open_files_ratio"] is None


def test_the_series_of_resources_has_rates_between_samples() -> None:
    samples = [sample(1.0, cpu=0.0), sample(2.0, cpu=0.5), Sample(3.0, None, None, None, None)]
    series = resources(load_report([stage_report()]), samples)
    assert series.seconds == [2.0, 3.0]
    assert series.cpu_cores == series.services_cpu_cores == [pytest.approx(0.5), None]
    assert series.memory_bytes == [50_000_000, None]
    assert series.throttled_seconds is series.pod_sent_bytes is None, "nothing has them here"


def test_a_pod_has_its_traffic_and_throttling_by_the_second() -> None:
    samples = [
        Sample(at, replace(usage(at, at), throttled_seconds=throttled), None, None, None, traffic=traffic)
        for at, throttled, traffic in [(1.0, 0.5, (10, 100)), (2.0, 0.75, (30, 400)), (3.0, None, None)]
    ]
    series = resources(load_report([stage_report()]), samples)
    assert series.throttled_seconds == [0.25, None]
    assert (series.pod_received_bytes, series.pod_sent_bytes) == ([20, None], [300, None])


def test_the_timeline_has_percentiles_of_each_second_and_gaps_where_nothing_came() -> None:
    report = load_report([stage_report()], seconds=2).timeline
    shown = timeline(report.model_copy(update={"latency": [report.latency[0], None]}))
    assert shown.latency_p99_seconds == [pytest.approx(0.002, rel=2e-3), None]
    assert shown.received == [200, 200]


def test_the_worst_second_is_one_of_whole_seconds_inside_the_window() -> None:
    stage = stage_report()
    stage = stage.model_copy(update={"begin_us": 1_500_000, "end_us": 4_500_000})
    known = timeline(load_report([stage], seconds=6).timeline)
    by_second = known.model_copy(update={"latency_p95_seconds": [9.0, 8.0, 0.1, None, 7.0, 6.0]})
    metrics = stage_result(stage, window(), 4, ORIGINAL, by_second=by_second).metrics
    assert metrics["delivery_seconds.worst_second"] == 0.1
    assert stage_result(stage, window(), 4, ORIGINAL).metrics["delivery_seconds.worst_second"] is None


def test_the_timeline_has_loss_and_network_as_the_server_sees_them() -> None:
    shown = timeline(load_report([stage_report()], seconds=2).timeline)
    assert (shown.expected, shown.lost) == ([210, 210], [10, 10])
    assert (shown.network_in_bytes, shown.network_out_bytes) == ([5_000, 5_000], [50_000, 50_000])
