"""A refused load ends its sweep: what the generator's seconds show of it, while it is played."""

from __future__ import annotations

import pytest

from pushbench.capacity.overload import Overload, Watched, watched
from pushbench.generator.events import Exceeded, Second, Started
from pushbench.generator.load import LatencyLimit
from pushbench.records.capacity import AskedLimit
from pushbench.records.record import Schedule, StagePlan
from pushbench.records.vocabulary import ORIGINAL
from pushbench.watching.progress import Unwatched

SCHEDULE = Schedule(
    warmup_seconds=0,
    stages=[
        StagePlan(clients=clients, ramp_seconds=1, settle_seconds=0, steady_seconds=3) for clients in (1000, 1100, 1200)
    ],
    drain_seconds=2,
)
STARTED = Started(at=0.0, windows=[(1.0, 4.0), (5.0, 8.0), (9.0, 12.0)], end=12.0)


P95 = Watched(LatencyLimit(latency="each", us=500_000), share=0.05)
P99 = Watched(LatencyLimit(latency="own", us=900_000), share=0.01)


def second(
    at: float,
    clients: int = 1000,
    *,
    received: int = 10_000,
    p95: float | None = 0.01,
    late: tuple[int, int] = (0, 0),
) -> Second:
    """A second with these numbers of latencies above the limits of `P95` and `P99`."""
    exceeded = [Exceeded(count, received) for count in late]
    return Second(
        at=at, clients=clients, sent=1000, received=received, owed=10_000, headline_p95=p95, exceeded=exceeded
    )


def play(*seconds: Second) -> Overload:
    overload = Overload(Unwatched(), SCHEDULE, [P95, P99])
    overload.started(STARTED)
    for each in seconds:
        overload.second(each)
    return overload


REFUSED = {
    "it falls behind": [second(2.1, received=9600, p95=0.1), second(3.1, received=9600, p95=0.2)],
    "it is late": [second(2.1, late=(501, 0)), second(3.1, late=(501, 0))],
    "it is late in one second only": [second(2.1), second(3.0), second(3.9, late=(1501, 0))],
    "another latency is late": [second(2.1, late=(0, 150)), second(3.1, late=(0, 51))],
    "clients are missing": [second(2.1), second(3.1, 999)],
}
CARRIED = {
    "calm": [second(2.1), second(3.1)],
    "newer messages supersede others": [second(2.1, received=5000, p95=0.1), second(3.1, received=5000, p95=0.1)],
    "as late as permitted": [second(2.1, late=(0, 200)), second(3.1, late=(1000, 0))],
    "a late ramp": [
        second(1.1, 400, received=3000, p95=2.0, late=(3000, 3000)),
        second(2.1),
        second(3.1),
        second(4.1, received=5000, late=(5000, 5000)),
    ],
    "nothing measured": [second(2.1, received=0, p95=None), second(3.1, received=0, p95=None)],
    "no second": [],
}


def growing(at: float) -> Second:
    """A second of the next ramp: the queue of the window before it keeps growing."""
    return second(at, 1100, received=9600, p95=0.3)


@pytest.mark.parametrize("seconds", REFUSED.values(), ids=REFUSED)
def test_a_refused_load_is_found_as_soon_as_nothing_of_it_can_arrive(seconds: list[Second]) -> None:
    assert not play(*seconds).found
    assert not play(*seconds, growing(5.9)).found
    assert play(*seconds, growing(5.9), growing(6.0)).found
    assert play(*seconds, growing(9.9)).found, "no second is reported between"


@pytest.mark.parametrize("seconds", CARRIED.values(), ids=CARRIED)
def test_a_load_that_may_be_carried_is_not(seconds: list[Second]) -> None:
    assert not play(*seconds, second(6.1, 1100)).found


def test_a_server_that_stalls_at_the_end_of_a_window_and_catches_up_carries_the_load() -> None:
    stalled = [second(2.1), second(3.1, received=7000, p95=0.3)]
    assert not play(*stalled, second(4.5, received=13_000, p95=0.4), second(6.1, 1100, p95=0.4)).found
    assert play(*stalled, second(4.5, received=7000, p95=0.7), second(6.1, 1100, p95=0.9)).found


def test_a_ramp_that_is_too_much_does_not_refuse_the_load_before_it() -> None:
    assert not play(second(2.1), second(3.1), second(4.5, received=5000, p95=0.3), growing(6.1)).found


def test_the_limits_of_latencies_are_watched() -> None:
    named = {
        "delivery_seconds.p95": ("max", 0.25),
        "echo_seconds.max": ("max", 2.0),
        "delivery_seconds.mean": ("max", 0.1),
        "connect_seconds.p99": ("max", 2.0),
        "loss_ratio": ("max", 0.01),
        "delivery_seconds.p50": ("min", 0.1),
    }
    limits = [AskedLimit.model_validate({"metric": name, "side": s, "value": v}) for name, (s, v) in named.items()]
    assert watched(limits, ORIGINAL) == [
        Watched(LatencyLimit(latency="each", us=250_000), share=0.05),
        Watched(LatencyLimit(latency="own", us=2_000_000), share=0.0),
    ]


def test_the_last_load_ends_by_itself() -> None:
    calm = [second(at, clients) for at, clients in ((2.1, 1000), (3.1, 1000), (6.1, 1100), (7.1, 1100))]
    refused = [second(at, 1200, late=(9000, 9000)) for at in (10.1, 11.1, 12.1, 14.1)]
    assert not play(*calm, *refused).found


def test_what_it_sees_is_passed_on() -> None:
    class Noting(Unwatched):
        def __init__(self) -> None:
            self.seen: list[object] = []

        def started(self, load: Started) -> None:
            self.seen.append(load)

        def second(self, second: Second) -> None:
            self.seen.append(second)

    noting = Noting()
    overload = Overload(noting, SCHEDULE, [])
    overload.started(STARTED)
    overload.second(second(2.1))
    assert noting.seen == [STARTED, second(2.1)]
