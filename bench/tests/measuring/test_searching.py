"""The search finds the capacity of simulated servers, whatever ends it and however they vary."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import pytest

from pushbench.measuring.searching import (
    PROBES_MOST,
    RESOLUTION,
    WARMING_MOST,
    Answer,
    Ask,
    Asked,
    Ended,
    Found,
    Hint,
    Plan,
    hint_of,
    next_ask,
    warms,
)

PLAN = Plan(first=100, step=10, most=20_000)
AMPLE = 1e6
"""seconds"""

Server = Callable[[Ask], Answer]


def cost(ask: Ask) -> float:
    return 14.0 if ask.hold else 6.0


@dataclass
class Search:
    """One search to its end, and what it asked."""

    found: Found
    asked: list[Asked]
    asks: list[Ask]

    @property
    def seconds(self) -> float:
        return sum(cost(each) for each in self.asks)

    @property
    def ended(self) -> Ended:
        used = next((each.used for each in self.asked if each.load == self.found.carried), None)
        return Ended(self.found.carried, self.found.refused, self.found.end, used, warms(self.asked))


def search(
    server: Server, plan: Plan = PLAN, *, seconds: float = AMPLE, capacity: float | Callable[[], float] | None = None
) -> Search:
    """`capacity` is what makes the server full, where it tells how full it is."""
    asked: list[Asked] = []
    asks: list[Ask] = []
    left = seconds
    while isinstance(step := next_ask(plan, asked, left, cost), Ask):
        asks.append(step)
        full = capacity() if callable(capacity) else capacity
        used = min(step.load / full, 1.0) if full else None
        asked.append(Asked(step.load, step.hold, server(step), used, step.slow))
        left -= cost(step)
    return Search(step, asked, asks)


def starts(
    server: Server, *, plan: Plan = PLAN, seconds: Sequence[float] = (AMPLE,) * 3, capacity: float | None = None
) -> list[Search]:
    """Several fresh starts of so many seconds, each told what those before it came to."""
    found: list[Search] = []
    for left in seconds:
        hint = hint_of([each.ended for each in found])
        found.append(search(server, replace(plan, hint=hint), seconds=left, capacity=capacity))
    return found


def of_clients(capacity: float) -> Server:
    return lambda ask: "carried" if ask.load <= capacity else "broken"


def of_rate(capacity: float, board: int = 10) -> Server:
    """Falls behind where more than 1 % of what is due does not come."""
    return lambda ask: "carried" if capacity / (ask.load * board) >= 0.99 else "broken"


def of_bytes(capacity: float, each: float = 250.0) -> Server:
    return lambda ask: "carried" if ask.load * each <= capacity else "broken"


def of_pause(each: float, limit: float = 0.5) -> Server:
    """Pauses for longer, the more clients there are."""
    return lambda ask: "carried" if (ask.load * each) ** 1.5 <= limit else "broken"


def noisy(capacity: float, spread: float, seed: int, chance: float = 0.0) -> Server:
    """The capacity varies from probe to probe; sometimes a probe fails for nothing."""
    drawn = random.Random(seed)

    def answer(ask: Ask) -> Answer:
        if drawn.random() < chance:
            return "broken"
        return "carried" if ask.load <= capacity * drawn.gauss(1, spread) else "broken"

    return answer


@pytest.mark.parametrize(
    ("server", "capacity"),
    [
        (of_clients(1234), 1234),
        (of_clients(98), 98),
        (of_clients(12_900), 12_900),
        (of_rate(33_000), 3300),
        (of_bytes(800_000), 3200),
        (of_pause(0.0005), 1260),
    ],
    ids=["clients", "below the first", "many", "rate", "bytes", "pause"],
)
def test_a_set_capacity_is_found(server: Server, capacity: float) -> None:
    once = search(server).found
    assert once.end == "limit"
    assert once.confirmed
    assert once.refused
    assert once.carried <= capacity * 1.011
    assert once.refused > capacity * 0.999
    assert once.refused - once.carried <= max(RESOLUTION * once.carried, PLAN.step)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("capacity", "chance"), [(700, 0.0), (3300, 0.0), (3300, 0.05), (15_000, 0.0)])
def test_the_median_of_three_starts_of_a_server_that_varies_is_within_five_percent(
    capacity: int, chance: float, seed: int
) -> None:
    found = starts(noisy(capacity, 0.015, seed, chance))
    assert median(each.found.carried for each in found) == pytest.approx(capacity, rel=0.05)
    assert all(each.found.confirmed for each in found)


def test_three_starts_take_less_than_five_minutes() -> None:
    found = starts(of_clients(3333), capacity=3333)
    assert sum(each.seconds for each in found) < 280
    assert found[1].seconds < found[0].seconds / 1.5, "it begins where the first one ended"


def test_a_start_after_another_one_begins_at_half_and_does_not_believe_it() -> None:
    plan = replace(PLAN, hint=hint_of([Ended(2000, 2060, "limit")]))
    found = search(of_clients(1000), plan)
    assert (found.asks[0].load, found.asks[0].first) == (1000, True)
    assert found.found.carried == pytest.approx(1000, rel=RESOLUTION)
    assert search(of_clients(4000), plan).found.carried == pytest.approx(4000, rel=RESOLUTION)
    near = search(of_clients(1900), plan)
    assert [each.load for each in near.asks[1:4]] == [2000, 1940, 1830], "close below it first"


@pytest.mark.parametrize("capacity", [1100, 2020, 2200, 2350, 2540, 5000])
@pytest.mark.parametrize("refused", [2560, None])
def test_a_start_after_one_that_ran_out_of_time_looks_there_and_does_not_believe_it(
    refused: int | None, capacity: int
) -> None:
    found = search(of_clients(capacity), replace(PLAN, hint=hint_of([Ended(2090, refused, "time", 0.9)])))
    assert found.asks[0].load < 1400, "half: it may be cold"
    assert found.found.confirmed
    assert found.found.carried == pytest.approx(capacity, rel=RESOLUTION)


@pytest.mark.parametrize("capacity", [1700, 2200, 2700, 3333, 5000])
def test_starts_that_each_run_out_of_time_come_nearer_to_the_edge(capacity: int) -> None:
    found = [each.found for each in starts(of_clients(capacity), seconds=(42, 38, 38), capacity=capacity)]
    assert found[0].end == "time"
    assert found[-1].end == "limit"
    assert found[-1].carried == pytest.approx(capacity, rel=0.15)


@dataclass
class Warming:
    """A server that carries 3,000 clients, and a third of that until it has worked for some seconds."""

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


def test_a_server_that_stays_full_at_half_is_searched_below_it() -> None:
    done = search(of_clients(1000), replace(PLAN, hint=Hint(3000)), capacity=1000)
    assert [each.load for each in done.asks[:WARMING_MOST]] == [1500] * WARMING_MOST
    assert done.found.carried == pytest.approx(1000, rel=RESOLUTION)


def test_it_climbs_faster_while_the_server_has_time() -> None:
    loads = [each.load for each in search(of_clients(5000), capacity=5000).asks]
    assert loads[:4] == [100, 800, 3500, 5500]
    assert [each.load for each in search(of_clients(5000)).asks][:3] == [100, 200, 400]
    near = [each.load for each in search(of_clients(6500), capacity=6100).asks]
    assert near[2:5] == [4270, 6710, 5350], "it aims close to the edge, where little room is left"


def test_what_is_found_was_held_and_the_next_step_refused_twice() -> None:
    done = search(of_clients(1234))
    carried, refused = done.found.carried, done.found.refused
    assert [each.answer for each in done.asked if each.load == carried and each.hold] == ["carried"]
    assert [each.answer for each in done.asked if each.load == refused] == ["broken", "broken"]


def test_a_load_that_cannot_be_held_is_not_found() -> None:
    def leaks(ask: Ask) -> Answer:
        return "carried" if ask.load <= (900 if ask.hold else 1200) else "broken"

    done = search(leaks)
    assert done.found.confirmed
    assert done.found.carried == pytest.approx(900, rel=RESOLUTION)


def test_a_load_that_gave_way_when_it_was_held_is_an_edge_though_the_time_ends_there() -> None:
    def gives_way(ask: Ask) -> Answer:
        return "carried" if ask.load <= (1000 if ask.hold else 1100) else "broken"

    for seconds in range(30, 140, 2):
        done = search(gives_way, replace(PLAN, hint=Hint(1050)), seconds=seconds)
        if done.asks[-1].hold and done.asked[-1].answer == "broken" and done.found.carried > 900:
            break
    assert (done.found.end, done.found.confirmed) == ("limit", False)
    assert done.found.refused == done.asks[-1].load


def test_a_refusal_by_chance_moves_the_search_and_not_the_result() -> None:
    failed: list[int] = []

    def stumbles(ask: Ask) -> Answer:
        if ask.load in range(1100, 1300) and not failed:
            failed.append(ask.load)
            return "broken"
        return "carried" if ask.load <= 1500 else "broken"

    assert search(stumbles).found.carried == pytest.approx(1500, rel=RESOLUTION)
    assert failed


def test_where_the_generator_ends_first_no_limit_of_the_server_is_named() -> None:
    def limited(ask: Ask) -> Answer:
        return "carried" if ask.load <= 4100 else "generator"

    found = search(limited).found
    assert (found.end, found.confirmed) == ("generator", True)
    assert found.carried == pytest.approx(4100, rel=RESOLUTION)


def test_a_server_below_the_generators_end_is_still_found() -> None:
    def answer(ask: Ask) -> Answer:
        return "carried" if ask.load <= 3700 else "broken" if ask.load <= 4400 else "generator"

    found = search(answer).found
    assert found.end == "limit"
    assert found.carried == pytest.approx(3700, rel=RESOLUTION)


def test_a_disturbed_refusal_is_asked_again_and_never_a_servers_limit() -> None:
    seen: list[int] = []

    def once_disturbed(ask: Ask) -> Answer:
        seen.append(ask.load)
        if ask.load > 1500:
            return "broken"
        return "disturbed" if seen.count(ask.load) == 1 and ask.load > 1000 else "carried"

    assert search(once_disturbed).found.carried == pytest.approx(1500, rel=RESOLUTION)

    found = search(lambda ask: "carried" if ask.load <= 1000 else "disturbed").found
    assert found.end == "disturbed"
    assert found.carried == pytest.approx(1000, rel=RESOLUTION)


def test_a_refusal_that_was_disturbed_is_asked_until_most_answers_are_the_servers() -> None:
    seen: list[int] = []

    def often_disturbed(ask: Ask) -> Answer:
        if ask.load <= 1000:
            return "carried"
        seen.append(ask.load)
        return "disturbed" if seen.count(ask.load) <= 3 else "broken"

    found = search(often_disturbed)
    assert (found.found.end, found.found.confirmed) == ("limit", True)
    assert found.found.carried == pytest.approx(1000, rel=RESOLUTION)
    assert len(found.asked) < PROBES_MOST
    short = search(often_disturbed, seconds=found.seconds / 2)
    assert short.found.end in ("disturbed", "time")
    assert short.seconds <= found.seconds / 2


def test_a_ramp_that_is_too_fast_for_the_server_is_made_longer() -> None:
    def accepts_slowly(ask: Ask) -> Answer:
        if ask.load > 2000:
            return "broken"
        return "connecting" if ask.load > 500 and not ask.slow else "carried"

    done = search(accepts_slowly)
    assert done.found.carried == pytest.approx(2000, rel=RESOLUTION)
    assert [(each.load, each.slow) for each in done.asks[3:6]] == [(800, False), (800, True), (1600, True)]


def test_a_longer_ramp_that_does_not_help_is_not_kept() -> None:
    def overloaded(ask: Ask) -> Answer:
        return "carried" if ask.load <= 1000 else "broken" if ask.slow else "connecting"

    done = search(overloaded)
    assert done.found.carried == pytest.approx(1000, rel=RESOLUTION)
    assert not any(each.slow for each in done.asks if each.load <= 1000)


def test_all_that_is_asked_and_carried_is_a_lower_bound() -> None:
    found = search(of_clients(1e9)).found
    assert (found.carried, found.refused, found.end, found.confirmed) == (PLAN.most, None, "most", True)


def test_a_server_that_carries_nothing_has_no_capacity() -> None:
    found = search(lambda _: "broken").found
    assert (found.carried, found.refused, found.end) == (0, PLAN.step, "limit")


@pytest.mark.parametrize("seconds", [0, 5, 20, 40, 60, 80, 100])
def test_it_ends_in_time_and_says_what_it_knows(seconds: float) -> None:
    done = search(of_clients(3333), seconds=seconds)
    assert done.seconds <= seconds
    assert done.found.carried <= 3333
    assert done.found.refused is None or done.found.refused > 3333
    if seconds >= 40:
        assert done.asks[-1].hold, "the last seconds are for holding what is carried"


@pytest.mark.parametrize("seed", range(20))
def test_it_ends_whatever_is_answered(seed: int) -> None:
    drawn = random.Random(seed)
    answers: tuple[Answer, ...] = ("carried", "broken", "generator", "disturbed", "connecting")
    done = search(lambda _: drawn.choice(answers))
    assert len(done.asks) <= PROBES_MOST
    assert all(PLAN.step <= each.load <= PLAN.most and each.load % PLAN.step == 0 for each in done.asks)


def test_a_start_that_ran_out_of_time_does_not_say_where_to_look_if_another_one_does() -> None:
    found = [Ended(1272, 1300, "limit"), Ended(636, None, "time"), Ended(1300, 1340, "limit")]
    assert hint_of(found) == Hint(1272)
    assert hint_of([Ended(0, 10, "limit"), Ended(636, None, "time")]) == Hint(636)
    assert hint_of([Ended(0, 10, "limit")]) is None
    assert hint_of([]) is None


def test_the_edge_is_looked_for_between_what_was_carried_and_refused() -> None:
    hint = hint_of([Ended(1600, 2800, "time", 0.8), Ended(1000, 1500, "time", 0.5), Ended(1200, 2500, "time", 0.6)])
    assert hint
    assert hint.load == 2000
    assert 2000 * (1 + hint.spread) ** 2 == pytest.approx(2500), "half of the way from there to what was refused"


@pytest.mark.parametrize(("used", "most"), [(0.88, 1250), (1.0, 1150), (0.2, 2000)])
def test_where_nothing_was_refused_the_used_share_says_where_to_look(used: float, most: int) -> None:
    hint = hint_of([Ended(1000, None, "time", used)])
    assert hint
    assert hint.load == pytest.approx(most)
    assert hint.load / (1 + hint.spread) ** 2 == pytest.approx(1000), "half of the way back"
