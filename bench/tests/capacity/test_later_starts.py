"""Later starts of simulated servers get a hint where to search, and ignore loads that only a cold server refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from statistics import median

import pytest

from pushbench.capacity.asked import Answer, Ask, Asked
from pushbench.capacity.hinting import RESOLUTION, Ended, Hint, hint_of
from pushbench.capacity.searching import Found, Plan, next_ask
from pushbench.capacity.sweeping import STEP_MOST
from pushbench.capacity.warming import REPEATS_MOST, warms
from tests.capacity.simulated_searches import AMPLE, PLAN, SWEEPS, cost, noisy, of_clients, search, starts


@pytest.mark.parametrize("plan", [PLAN, SWEEPS], ids=["single", "sweeps"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("capacity", "chance"), [(700, 0.0), (3300, 0.0), (3300, 0.05), (15_000, 0.0)])
def test_the_median_of_three_starts_of_a_server_that_varies_is_within_five_percent(
    capacity: int, chance: float, seed: int, plan: Plan
) -> None:
    found = starts(noisy(capacity, 0.015, seed, chance), plan=plan)
    assert median(each.found.carried for each in found) == pytest.approx(capacity, rel=0.05)
    assert all(each.found.confirmed for each in found)


def test_three_starts_take_less_than_five_minutes() -> None:
    found = starts(of_clients(3333), capacity=3333)
    assert sum(each.seconds for each in found) < 280
    assert found[1].seconds < found[0].seconds / 1.5, "it begins where the first one ended"


def test_a_start_after_another_one_begins_at_half_and_does_not_believe_it() -> None:
    plan = replace(PLAN, hint=hint_of([Ended(2000, 2060, "limit")]))
    found = search(of_clients(1000), plan)
    assert (found.asks[0].load, found.asks[0].first) == (1010, True)
    assert found.found.carried == pytest.approx(1000, rel=RESOLUTION)
    assert search(of_clients(4000), plan).found.carried == pytest.approx(4000, rel=RESOLUTION)
    near = search(of_clients(1900), plan)
    assert [each.load for each in near.asks[1:4]] == [2030, 1970, 1860], "close below it first"


@pytest.mark.parametrize("capacity", [1100, 2020, 2200, 2350, 2540, 5000])
@pytest.mark.parametrize("refused", [2560, None])
def test_a_start_after_one_that_ran_out_of_time_looks_there_and_does_not_believe_it(
    refused: int | None, capacity: int
) -> None:
    found = search(of_clients(capacity), replace(PLAN, hint=hint_of([Ended(2090, refused, "time", 0.9)])))
    assert found.asks[0].load < 1400, "half: it may be cold"
    assert found.found.confirmed
    assert found.found.carried == pytest.approx(capacity, rel=RESOLUTION)


@pytest.mark.parametrize("capacity", [2000, 2200, 2700, 3333, 5000])
def test_starts_that_each_run_out_of_time_come_nearer_to_the_edge(capacity: int) -> None:
    found = [each.found for each in starts(of_clients(capacity), seconds=(34, 38, 38), capacity=capacity)]
    assert found[0].end == "time"
    assert found[-1].end == "limit"
    assert found[-1].carried == pytest.approx(capacity, rel=0.15)


@pytest.mark.parametrize("capacity", [480, 950, 1700, 3200, 5000, 8000])
def test_starts_of_a_server_that_carries_more_than_its_used_share_promises_find_its_limit(capacity: int) -> None:
    found = starts(of_clients(capacity), plan=SWEEPS, seconds=(90, 60, 60), capacity=0.5 * capacity)
    assert [each.found.end for each in found] == ["limit"] * 3
    assert median(each.found.carried for each in found) == pytest.approx(capacity, rel=RESOLUTION)


@pytest.mark.parametrize(
    ("seconds", "capacity", "holds", "carried", "end"),
    [
        (25, 2100, [], 2060, "limit"),
        (25, 1500, [], 1000, "time"),
        (30, 1800, [1740], 1740, "limit"),
        (30, 1500, [1740], 1000, "time"),
    ],
    ids=["a refusal comes first", "a refusal that is not near", "near what was refused", "which does not hold either"],
)
def test_a_later_start_with_little_time_does_not_hold_half(
    seconds: float, capacity: int, holds: list[int], carried: int, end: str
) -> None:
    done = search(of_clients(capacity), replace(PLAN, hint=Hint(2000)), seconds=seconds)
    assert [each.load for each in done.asks if each.hold] == holds
    assert (done.found.carried, done.found.end) == (carried, end)


@pytest.mark.parametrize(
    ("carried", "following"), [(900, 1000), (1000, 1030), (1100, 1210), (1300, 1690), (2500, 5000)]
)
def test_beyond_the_hint_each_step_doubles_the_distance_to_it(carried: int, following: int) -> None:
    ask = next_ask(replace(PLAN, hint=Hint(1000)), [Asked(carried, False, "carried")], AMPLE, cost)
    assert isinstance(ask, Ask)
    assert ask.load == following


def test_time_that_is_too_short_for_the_hold_goes_to_another_probe() -> None:
    asked = [Asked(1000, False, "carried"), Asked(2000, False, "broken")]
    short, enough = (next_ask(PLAN, asked, seconds, cost) for seconds in (8.0, 16.0))
    assert isinstance(short, Ask)
    assert not short.hold
    assert isinstance(enough, Ask)
    assert enough.hold


def test_a_later_start_has_the_longer_ramp_that_an_earlier_one_needed() -> None:
    def accepts_slowly(ask: Ask) -> Answer:
        if ask.load > 2000:
            return "broken"
        return "connecting" if ask.load > 500 and not ask.slow else "carried"

    first, second, *_ = starts(accepts_slowly)
    assert not first.asks[0].slow
    assert all(each.slow for each in second.asks)
    assert second.found.carried == pytest.approx(2000, rel=RESOLUTION)
    assert not any(each.slow for each in starts(of_clients(2000))[1].asks)


@dataclass
class Warming:
    """A server that carries 3,000 clients, but only a third of that until it has worked for `seconds`."""

    seconds: float
    worked: float = 0.0

    def capacity(self) -> float:
        return 3000 if self.worked >= self.seconds else 1000

    def __call__(self, ask: Ask) -> Answer:
        full = self.capacity()
        self.worked += cost(ask) * min(ask.load / full, 1.0)
        return "carried" if ask.load <= full else "broken"


@pytest.mark.parametrize("seconds", [0, 15, 25, 35, 45])
def test_what_a_server_refused_before_it_was_warm_does_not_count(seconds: float) -> None:
    ended: list[Ended] = []
    for left in (130, 90, 90):
        server = Warming(seconds)
        done = search(server, replace(PLAN, hint=hint_of(ended)), seconds=left, capacity=server.capacity)
        ended.append(done.ended)
    found = [each.carried for each in ended if each.end == "limit"]
    assert found
    assert found == [pytest.approx(3000, rel=0.1)] * len(found)


def test_a_server_that_is_cold_is_asked_half_until_it_has_room() -> None:
    server = Warming(20)
    done = search(server, replace(PLAN, hint=Hint(3000, cold=True)), capacity=server.capacity)
    assert [each.load for each in done.asks[:6]] == [1500, 1500, 1500, 1500, 1500, 3000]
    full = search(
        lambda ask: "carried" if ask.load <= 3000 else "broken", replace(PLAN, hint=Hint(3000)), capacity=1500
    )
    assert [each.load for each in full.asks[:2]] == [1500, 3000], (
        "it uses all of its CPU for half, and carries twice that"
    )
    assert done.found.carried == pytest.approx(3000, rel=RESOLUTION)


def test_a_server_got_warm_where_a_load_that_is_no_smaller_takes_less() -> None:
    def asked(*used: tuple[int, float | None]) -> list[Asked]:
        return [Asked(load, False, "carried", share) for load, share in used]

    assert warms(asked((1900, 0.9), (2000, 1.0), (2000, 0.5)))
    assert not warms(asked((1900, 0.9), (2000, 1.0), (1000, 0.5))), "it has less to do"
    assert not warms(asked((200, 0.2), (400, 0.1))), "it had room"
    assert not warms(asked((1900, 0.9), (2000, None), (2100, 0.95)))
    assert not warms([])


@pytest.mark.parametrize(("used", "following"), [(0.6, 2300), (0.95, 1330)])
def test_while_a_server_gets_warm_the_load_doubles(used: float, following: int) -> None:
    asked = [Asked(1000, False, "carried", 0.9), Asked(1150, False, "carried", used)]
    ask = next_ask(PLAN, asked, AMPLE, cost)
    assert isinstance(ask, Ask)
    assert ask.load == following


@pytest.mark.parametrize(("before", "refused"), [(0.40, None), (0.21, 3000)], ids=["it got warm", "it was warm"])
def test_a_refusal_counts_where_the_server_took_as_little_before(before: float, refused: int | None) -> None:
    asked = [
        Asked(1000, False, "carried", before),
        Asked(3000, False, "broken", 1.0),
        Asked(2000, False, "carried", 0.4),
    ]
    found = next_ask(PLAN, asked, 0.0, cost)
    assert isinstance(found, Found)
    assert (found.carried, found.refused) == (2000, refused)


def test_a_server_that_stays_full_at_half_is_searched_below_it() -> None:
    done = search(of_clients(1000), replace(PLAN, hint=Hint(3000)), capacity=1000)
    assert [each.load for each in done.asks[:REPEATS_MOST]] == [1500] * REPEATS_MOST
    assert done.found.carried == pytest.approx(1000, rel=RESOLUTION)


def test_a_start_that_ran_out_of_time_does_not_say_where_to_look_if_another_one_does() -> None:
    found = [Ended(1272, 1300, "limit"), Ended(636, None, "time"), Ended(1300, 1340, "limit")]
    assert hint_of(found) == Hint(sqrt(1272 * 1300)), "in the middle of what it carried and refused"
    assert hint_of([Ended(0, 10, "limit"), Ended(636, None, "time")]) == Hint(636)
    assert hint_of([Ended(0, 10, "limit")]) is None
    assert hint_of([]) is None


def test_a_start_that_ran_out_of_time_counts_if_it_carried_more_than_the_others_refused() -> None:
    cold, warm = Ended(5750, 6610, "limit"), Ended(7270, None, "time", 0.9)
    assert hint_of([cold, warm]) == hint_of([warm])
    as_much = Ended(6610, None, "time", 0.9)
    assert hint_of([cold, as_much]) == hint_of([cold])


def test_later_starts_that_carry_more_than_the_first_one_refused_find_their_limit_in_little_time() -> None:
    capacity, cold = 7000, 4900
    found = [search(of_clients(cold), SWEEPS, capacity=cold).ended]
    for _ in range(2):
        plan = replace(SWEEPS, hint=hint_of(found))
        found.append(search(of_clients(capacity), plan, seconds=30, capacity=capacity).ended)
    assert [each.end for each in found] == ["limit"] * 3
    assert [each.carried for each in found[1:]] == [pytest.approx(capacity, rel=STEP_MOST - 1)] * 2


def test_the_edge_is_looked_for_between_what_was_carried_and_refused() -> None:
    hint = hint_of([Ended(1600, 2800, "time", 0.8), Ended(1000, 1500, "time", 0.5), Ended(1200, 2500, "time", 0.6)])
    assert hint
    assert hint.load == 2000
    assert 2000 * (1 + hint.spread) ** 2 == pytest.approx(2500), "half of the way from there to what was refused"


@pytest.mark.parametrize(("used", "most"), [(0.88, 1250), (1.0, 1140), (0.2, 2000)])
def test_where_nothing_was_refused_the_used_share_says_where_to_look(used: float, most: int) -> None:
    hint = hint_of([Ended(1000, None, "time", used)])
    assert hint
    assert hint.load == pytest.approx(most)
    assert hint.load / (1 + hint.spread) ** 2 == pytest.approx(1000), "half of the way back"
