"""Distributions and reports of several generators add up, and percentiles come from the sum."""

from __future__ import annotations

import random

import pytest
from hdrh.histogram import HdrHistogram

from pushbench.generator.merging import merge
from pushbench.records.load_report import Rooms, StageReport
from pushbench.statistics.histogram import Latencies
from tests.samples import load_report, outage, pings, stage_report


def recorded(*seconds: float) -> Latencies:
    latencies = Latencies()
    for each in seconds:
        latencies.record(each)
    return latencies


def test_a_distribution_survives_its_encoding() -> None:
    latencies = recorded(0.001, 0.002, 0.003)
    again = Latencies.decode(latencies.encode())
    assert (again.count, again.summary()) == (3, latencies.summary())


def test_an_empty_distribution_has_no_summary() -> None:
    assert Latencies.decode(Latencies().encode()).summary() is None


def test_a_summary_is_exact_to_three_digits() -> None:
    summary = recorded(*(number / 1000 for number in range(1, 1001))).summary()
    assert summary
    points = (summary.mean, summary.p50, summary.p95, summary.p99, summary.max)
    assert points == pytest.approx((0.5005, 0.5, 0.95, 0.99, 1.0), rel=2e-3)


def test_the_mean_is_the_librarys() -> None:
    hdr = HdrHistogram(1, 120_000_000, 3)
    for microseconds in (1, 900, 5_000, 77_777, 3_000_000):
        hdr.record_value(microseconds, 3)
    summary = Latencies.decode(hdr.encode().decode()).summary()
    assert summary
    assert summary.mean == pytest.approx(hdr.get_mean_value() / 1e6, rel=1e-3)


def test_what_is_out_of_range_counts_at_its_end() -> None:
    summary = recorded(0.0, 500.0).summary()
    assert summary
    assert summary.max == pytest.approx(120.0, rel=1e-3)


@pytest.mark.parametrize("text", ["", "xx", "AAAA", "HISTFAAAAB542pNpmSzMwMDAwgABzFCaEUoz2X"])
def test_what_is_no_histogram_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an HdrHistogram"):
        Latencies.decode(text)


def test_the_percentiles_of_a_sum_are_those_of_all_values_and_no_average() -> None:
    random.seed(1)
    fast = [random.uniform(0.001, 0.002) for _ in range(9000)]
    slow = [random.uniform(0.1, 0.2) for _ in range(1000)]
    together = Latencies.total([recorded(*fast), recorded(*slow)]).summary()
    whole = recorded(*fast, *slow).summary()
    assert together == whole
    assert together
    assert together.p95 > 0.1


def test_counts_of_two_generators_add() -> None:
    half = stage_report(
        clients=50,
        received=4_000,
        lost=100,
        late=3,
        arrived=3_500,
        spun_us=40,
        name="large",
        parameters={"board_size": 25},
    )
    merged = merge([load_report([half], segment="0:1/2"), load_report([half], segment="1/2:1")])
    stage = merged.stages[0]
    assert merged.segment == "0:1/2,1/2:1"
    assert (stage.name, stage.parameters) == ("large", {"board_size": 25})
    assert (stage.clients.target, stage.clients.members, stage.clients.groups) == (100, 100, 10)
    assert (stage.arrived, stage.clients.late, stage.spun_us) == (7_000, 6, 80)
    assert (stage.receipts.received, stage.receipts.lost, stage.receipts.expected) == (8_000, 200, 8_200)
    assert stage.traffic.received_bytes == 2 * half.traffic.received_bytes
    assert Latencies.decode(stage.histograms.each or "").count == 8_000


def test_timelines_add_second_by_second_also_when_one_is_longer() -> None:
    long, short = load_report([stage_report()], seconds=4), load_report([stage_report()], seconds=3)
    timeline = merge([long, short]).timeline
    assert timeline.received == [400, 400, 400, 200]
    counts = [Latencies.decode(text).count for text in timeline.latency if text]
    assert counts == [400, 400, 400, 200]
    assert (timeline.expected, timeline.lost) == ([420, 420, 420, 210], [20, 20, 20, 10])
    assert timeline.sent_bytes == [10_000, 10_000, 10_000, 5_000]
    assert timeline.received_bytes == [100_000, 100_000, 100_000, 50_000]


def test_errors_add_by_reason() -> None:
    merged = merge(
        [
            load_report([stage_report()], errors={"reset": 2}),
            load_report([stage_report()], errors={"reset": 1, "refused": 5}),
        ]
    )
    assert [(error.reason, error.count) for error in merged.errors] == [("refused", 5), ("reset", 3)]


def test_shortages_add_by_reason() -> None:
    parts = [{"open_files": 2}, {"addresses": 7, "open_files": 3}]
    merged = merge([load_report([stage_report()], shortages=part) for part in parts])
    assert [(shortage.reason, shortage.count) for shortage in merged.shortages] == [("addresses", 7), ("open_files", 5)]


def test_exchanges_beside_the_first_add_up() -> None:
    one, another = (stage_report(beside={"ping": pings(sent=sent, lost=1)}) for sent in (10, 20))
    merged = merge([load_report([one]), load_report([another])]).stages[0].beside["ping"]
    assert (merged.messages.sent, merged.receipts.lost) == (30, 2)
    assert Latencies.decode(merged.own).count == 28
    with pytest.raises(ValueError, match="generators disagree on the exchanges of stage 100"):
        merge([load_report([one]), load_report([stage_report()])])


def test_outages_add_up_and_last_until_the_last_client_is_back() -> None:
    one, another = (
        load_report([stage_report(outage=outage(back_us=back, last_lost_us=lost, lost_after=3))])
        for back, lost in ((3_000_000, None), (4_000_000, 2_000_000))
    )
    merged = merge([one, another]).stages[0].outage
    assert merged
    assert (merged.disconnects, merged.attempts, merged.receipts.lost, merged.lost_after) == (200, 500, 80, 6)
    assert (merged.back_us, merged.last_lost_us, merged.kill_us) == (4_000_000, 2_000_000, 1_000_000)
    assert Latencies.decode(merged.reconnect).count == Latencies.decode(merged.away).count == 200


def test_a_generator_without_a_client_that_was_away_says_nothing_of_the_return() -> None:
    nobody = outage(disconnects=0, back_us=None)
    merged = merge([load_report([stage_report(outage=each)]) for each in (nobody, outage())]).stages[0].outage
    assert merged
    assert merged.back_us == 3_000_000


def test_clients_are_back_only_where_those_of_each_generator_are() -> None:
    never = outage(back_us=None, not_back=1)
    merged = merge([load_report([stage_report(outage=each)]) for each in (never, outage())]).stages[0].outage
    assert merged
    assert (merged.back_us, merged.not_back) == (None, 1)


def test_generators_of_which_one_knows_of_no_outage_do_not_add() -> None:
    with pytest.raises(ValueError, match="generators disagree on the outage of stage 100"):
        merge([load_report([stage_report(outage=outage())]), load_report([stage_report()])])


def test_generators_that_were_interrupted_add_up_the_stages_that_all_have_finished() -> None:
    first, second = stage_report(clients=50, name="50"), stage_report(clients=100, name="100")
    merged = merge([load_report([first, second]), load_report([first])])
    assert [(stage.name, stage.clients.target) for stage in merged.stages] == [("50", 100)]
    assert merge([load_report([first]), load_report([])]).stages == []


def test_one_report_is_its_own_sum() -> None:
    report = load_report([stage_report()])
    assert merge([report]) is report


def test_reports_of_different_loads_do_not_add() -> None:
    first = load_report([stage_report()])
    with pytest.raises(ValueError, match="generators disagree on seed: 1 and 2"):
        merge([first, first.model_copy(update={"seed": 2})])
    with pytest.raises(ValueError, match="generators disagree on stages: 100 and 300"):
        merge([first, load_report([stage_report(clients=300)])])


def test_rooms_of_generators_add_up() -> None:
    def report(begun: int, ended: int) -> StageReport:
        return stage_report().model_copy(update={"rooms": Rooms(begun=begun, ended=ended)})

    merged = merge([load_report([report(3, 2)]), load_report([report(4, 1)])])
    assert merged.stages[0].rooms == Rooms(begun=7, ended=3)
    assert merge([load_report([stage_report()]), load_report([stage_report()])]).stages[0].rooms is None
