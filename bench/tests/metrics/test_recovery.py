"""A recovery lasts from the kill until all clients are back; without a recovery there is no time."""

from __future__ import annotations

from typing import Any

import pytest

from pushbench.machine.sampling import Sample
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.recovery import outage_result, recovery_metrics
from pushbench.metrics.results import Happened, stage_result
from pushbench.records.vocabulary import ORIGINAL
from tests.samples import outage, stage_report, usage, window

ORIGIN = 500.0
RECOVERING = ORIGINAL.model_copy(update={"recovers": True})


def samples(*cpu_seconds: float | None) -> list[Sample]:
    """One sample per second from the start of the load, with the server's CPU so far; None while it does not run."""
    return [
        Sample(ORIGIN + at, None if cpu is None else usage(ORIGIN + at, cpu), None, None, None)
        for at, cpu in enumerate(cpu_seconds)
    ]


def metrics(kill_seconds: float = 1.0, seen: tuple[float | None, ...] = (), **changed: Any) -> dict[str, float | None]:
    report = outage(**changed)
    return recovery_metrics(report, outage_result(report, kill_seconds), samples(*seen), ORIGIN)


def test_a_recovery_is_told_by_its_time_its_loss_and_its_cost() -> None:
    found = metrics(1.0, (0.0, 0.5, None, 1.5, 2.0))
    assert found["recovery_seconds"] == pytest.approx(2.0)
    assert found["outage_lost"] == 40
    assert found["outage_loss_ratio"] == pytest.approx(40 / 900)
    assert (found["reconnect_attempts"], found["clients_not_back"], found["lost_after_recovery"]) == (250, 0, 0)
    assert found["reconnect_seconds.p95"] == pytest.approx(0.02, rel=2e-3)
    assert found["away_seconds.max"] == pytest.approx(1.5, rel=2e-3)
    assert found["outage_cpu_cores"] == pytest.approx(0.5), "from 1 s, the kill, to 3 s, when all were back"


def test_a_recovery_counts_from_the_kill_that_was_done_and_not_from_the_one_that_was_planned() -> None:
    assert metrics(1.25)["recovery_seconds"] == pytest.approx(1.75)


def test_clients_that_never_came_back_leave_no_time() -> None:
    found = metrics(back_us=None, not_back=1)
    assert (found["recovery_seconds"], found["clients_not_back"]) == (None, 1)


def test_a_kill_that_ended_no_connection_is_recovered_from_at_once() -> None:
    assert metrics(kill="worker", disconnects=0, back_us=None)["recovery_seconds"] == 0.0


@pytest.mark.parametrize(
    ("last_lost_us", "seconds"), [(None, 0.0), (2_500_000, 1.5), (3_999_999, 3.0), (4_000_000, None)]
)
def test_a_service_is_recovered_from_once_nothing_is_lost_any_more(
    last_lost_us: int | None, seconds: float | None
) -> None:
    found = metrics(kill="service", disconnects=0, back_us=None, last_lost_us=last_lost_us)
    assert found["recovery_seconds"] == pytest.approx(seconds)


def test_what_a_killed_server_lost_on_the_way_is_no_part_of_its_recovery() -> None:
    assert metrics(last_lost_us=4_900_000)["recovery_seconds"] == pytest.approx(2.0)


def test_an_outage_without_anything_due_has_no_ratio() -> None:
    report = outage()
    nothing = report.receipts.model_copy(update={"expected": 0, "received": 0, "lost": 0})
    assert metrics(receipts=nothing)["outage_loss_ratio"] is None


def test_a_server_that_is_not_seen_again_has_no_cpu() -> None:
    assert metrics(1.0, (0.0, 0.5, None, None))["outage_cpu_cores"] is None


def test_a_stage_has_the_metrics_of_an_outage_only_where_something_was_killed() -> None:
    report = stage_report(outage=outage())
    happened = Happened(outage(), ORIGIN + 1.0, ORIGIN)
    killed = stage_result(report, window(), 4, RECOVERING, outage=happened)
    usual = stage_result(report, window(), 4, RECOVERING)
    assert set(killed.metrics) == set(metrics_of(RECOVERING))
    assert {name for name, each in metrics_of(RECOVERING).items() if each.of_outage} == set(killed.metrics) - set(
        usual.metrics
    )
    assert killed.outage
    assert (killed.outage.kill, killed.outage.kill_seconds, killed.outage.unsent) == ("server", 1.0, 5)
    assert {"reconnect", "away"} <= set(killed.histograms)
    assert usual.outage is None
    assert killed.metrics["messages_per_second"] == pytest.approx((600 + 85) / 6), "rates are of the whole window"
    assert killed.metrics["offered_per_second"] == pytest.approx((6_000 + 900) / 6)
    assert killed.metrics["loss_ratio"] == usual.metrics["loss_ratio"] == 0.0, "the outage's loss counts apart"
