"""The search finds the capacity of simulated servers, whatever limits it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pushbench.capacity.asked import Answer, Ask, Asked
from pushbench.capacity.hinting import RESOLUTION, Hint
from pushbench.capacity.searching import PROBES_MOST, Found, Plan, Votes, next_ask
from pushbench.capacity.sweeping import FINE_MOST
from tests.capacity.simulated_searches import PLAN, SWEEPS, Server, cost, of_clients, search

both_ways = pytest.mark.parametrize("plan", [PLAN, SWEEPS], ids=["single", "sweeps"])


def of_rate(capacity: float, board: int = 10) -> Server:
    """A server that is broken when more than 1 % of the due messages do not arrive."""
    return lambda ask: "carried" if capacity / (ask.load * board) >= 0.99 else "broken"


def of_bytes(capacity: float, each: float = 250.0) -> Server:
    return lambda ask: "carried" if ask.load * each <= capacity else "broken"


def of_pause(each: float, limit: float = 0.5) -> Server:
    """A server whose pauses grow with the number of clients."""
    return lambda ask: "carried" if (ask.load * each) ** 1.5 <= limit else "broken"


@both_ways
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
def test_a_set_capacity_is_found(server: Server, capacity: float, plan: Plan) -> None:
    once = search(server, plan).found
    assert once.end == "limit"
    assert once.confirmed
    assert once.refused
    assert once.carried <= capacity * 1.011
    assert once.refused > capacity * 0.999
    assert once.refused - once.carried <= max(RESOLUTION * once.carried, PLAN.step)


def test_it_climbs_faster_while_the_server_has_time() -> None:
    loads = [each.load for each in search(of_clients(5000), capacity=5000).asks]
    assert loads[:4] == [100, 800, 3500, 5500]
    assert [each.load for each in search(of_clients(5000)).asks][:3] == [100, 200, 400]
    near = [each.load for each in search(of_clients(6500), capacity=6100).asks]
    assert near[2:5] == [4270, 6710, 5350], "it aims close to the edge, where little room is left"


@both_ways
def test_what_is_found_was_held_and_the_next_step_refused_twice(plan: Plan) -> None:
    done = search(of_clients(1234), plan)
    carried, refused = done.found.carried, done.found.refused
    assert [each.answer for each in done.asked if each.load == carried and each.hold] == ["carried"]
    assert [each.answer for each in done.asked if each.load == refused] == ["broken", "broken"]


@both_ways
def test_a_load_that_cannot_be_held_is_not_found(plan: Plan) -> None:
    def leaks(ask: Ask) -> Answer:
        return "carried" if ask.load <= (900 if ask.hold else 1200) else "broken"

    done = search(leaks, plan)
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


@both_ways
def test_a_refusal_by_chance_moves_the_search_and_not_the_result(plan: Plan) -> None:
    failed: list[int] = []

    def stumbles(ask: Ask) -> Answer:
        if ask.load in range(1100, 1300) and not failed:
            failed.append(ask.load)
            return "broken"
        return "carried" if ask.load <= 1500 else "broken"

    assert search(stumbles, plan).found.carried == pytest.approx(1500, rel=RESOLUTION)
    assert failed


@both_ways
def test_where_the_generator_ends_first_no_limit_of_the_server_is_named(plan: Plan) -> None:
    def limited(ask: Ask) -> Answer:
        return "carried" if ask.load <= 4100 else "generator"

    found = search(limited, plan).found
    assert (found.end, found.confirmed) == ("generator", True)
    assert found.carried == pytest.approx(4100, rel=RESOLUTION)


@both_ways
def test_a_server_below_the_generators_end_is_still_found(plan: Plan) -> None:
    def answer(ask: Ask) -> Answer:
        return "carried" if ask.load <= 3700 else "broken" if ask.load <= 4400 else "generator"

    found = search(answer, plan).found
    assert found.end == "limit"
    assert found.carried == pytest.approx(3700, rel=RESOLUTION)


@both_ways
def test_a_disturbed_refusal_is_asked_again_and_never_a_servers_limit(plan: Plan) -> None:
    seen: list[int] = []

    def once_disturbed(ask: Ask) -> Answer:
        seen.append(ask.load)
        if ask.load > 1500:
            return "broken"
        return "disturbed" if seen.count(ask.load) == 1 and ask.load > 1000 else "carried"

    assert search(once_disturbed, plan).found.carried == pytest.approx(1500, rel=RESOLUTION)

    found = search(lambda ask: "carried" if ask.load <= 1000 else "disturbed", plan).found
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


def test_an_unsettled_load_is_held_to_decide() -> None:
    settled = search(lambda ask: "broken" if ask.load > 3000 else "unsettled" if ask.load == 1600 else "carried")
    asks = [(each.load, each.hold) for each in settled.asks]
    at = asks.index((1600, False))
    assert asks[at + 1] == (1600, True)

    def varies(ask: Ask) -> Answer:
        if ask.load > 3000:
            return "broken"
        return "unsettled" if ask.load > 500 and not ask.hold else "carried"

    done = search(varies)
    assert done.found.end == "limit"
    assert done.found.carried == pytest.approx(3000, rel=RESOLUTION)
    grows = search(lambda ask: "carried" if ask.load <= 1000 else "broken" if ask.hold else "unsettled")
    assert (grows.found.end, grows.found.confirmed) == ("limit", True)
    assert grows.found.carried == pytest.approx(1000, rel=RESOLUTION)


@pytest.mark.parametrize(
    ("answers", "refusals"),
    [
        (["unsettled"], 0),
        (["unsettled", "unsettled"], 1),
        (["broken", "unsettled"], 2),
        (["unsettled", "disturbed"], 0),
    ],
)
def test_an_unsettled_answer_counts_where_another_shows_a_refusal(answers: list[Answer], refusals: int) -> None:
    votes = Votes(PLAN, [Asked(1000, False, answer) for answer in answers])
    assert votes.refusals(1000) == refusals


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


@both_ways
def test_all_that_is_asked_and_carried_is_a_lower_bound(plan: Plan) -> None:
    found = search(of_clients(1e9), plan).found
    assert (found.carried, found.refused, found.end, found.confirmed) == (PLAN.most, None, "most", True)


@both_ways
def test_a_server_that_carries_nothing_has_no_capacity(plan: Plan) -> None:
    found = search(lambda _: "broken", plan).found
    assert (found.carried, found.refused, found.end) == (0, PLAN.step, "limit")


@both_ways
@pytest.mark.parametrize("seconds", [0, 5, 20, 40, 60, 80, 100])
def test_it_ends_in_time_and_says_what_it_knows(seconds: float, plan: Plan) -> None:
    done = search(of_clients(3333), plan, seconds=seconds)
    assert done.seconds <= seconds
    assert done.found.carried <= 3333
    assert done.found.refused is None or done.found.refused > 3333
    if seconds >= 60:
        assert done.sweeps[-1][0].hold, "the last seconds are for holding what is carried, if something was refused"


@pytest.mark.parametrize(("refused", "held"), [(1270, 1110), (1160, 1010), (1150, 1000), (810, 800)])
def test_the_last_seconds_hold_a_load_near_the_refused_one(refused: int, held: int) -> None:
    carried = min(1000, refused - PLAN.step)
    asked = [Asked(carried, False, "carried"), Asked(refused, False, "broken")]
    assert next_ask(PLAN, asked, 14.0, cost) == Ask(held, hold=True)


@both_ways
@pytest.mark.parametrize("seed", range(20))
def test_it_ends_whatever_is_answered(seed: int, plan: Plan) -> None:
    drawn = random.Random(seed)
    answers: tuple[Answer, ...] = ("carried", "broken", "generator", "disturbed", "connecting", "unsettled")
    done = search(lambda _: drawn.choice(answers), plan)
    assert len(done.asks) <= PROBES_MOST + FINE_MOST
    assert all(PLAN.step <= each.load <= PLAN.most and each.load % PLAN.step == 0 for each in done.asks)


@pytest.mark.parametrize(("refused", "end"), [(1030, "limit"), (1150, "limit"), (1160, "time")])
@pytest.mark.parametrize("held", [True, False])
def test_without_time_to_hold_a_load_its_edge_is_near_and_not_confirmed(held: bool, refused: int, end: str) -> None:
    asked = [Asked(1000, held, "carried"), Asked(refused, False, "broken")]
    found = next_ask(PLAN, asked, 0.0, cost)
    assert isinstance(found, Found)
    assert (found.carried, found.refused, found.end, found.confirmed) == (1000, refused, end, False)


@pytest.mark.parametrize(
    ("answers", "carried", "refused", "end"),
    [
        ([(1000, True, "carried"), (1030, False, "broken"), (1030, False, "carried")], 1000, 1030, "limit"),
        ([(1000, True, "carried"), (1030, False, "broken"), *[(1030, False, "carried")] * 2], 1030, None, "time"),
        ([(1000, True, "carried"), (1200, False, "broken"), *[(1200, False, "carried")] * 2], 1200, None, "time"),
        ([(1000, False, "carried"), (1030, False, "broken"), (1030, False, "carried")], 1000, None, "time"),
        ([(1000, True, "carried"), (1030, False, "disturbed"), (1030, False, "carried")], 1030, None, "time"),
        ([(1000, True, "carried"), (1030, False, "disturbed")], 1000, None, "time"),
        ([(1000, True, "carried"), (1030, False, "unsettled")], 1000, 1030, "limit"),
        ([(1000, True, "carried"), *[(1030, False, "unsettled")] * 2], 1000, 1030, "limit"),
        ([(1000, True, "carried"), (1030, False, "generator"), (1030, False, "carried")], 1000, None, "time"),
    ],
    ids=[
        "tie",
        "mostly carried",
        "not close",
        "not held",
        "disturbed",
        "only disturbed",
        "unsettled",
        "unsettled twice",
        "the generator's",
    ],
)
def test_without_time_to_decide_the_edge_is_a_held_load_and_one_close_above_that_was_refused(
    answers: list[tuple[int, bool, Answer]], carried: int, refused: int | None, end: str
) -> None:
    asked = [Asked(load, hold, answer) for load, hold, answer in answers]
    found = next_ask(PLAN, asked, 0.0, cost)
    assert isinstance(found, Found)
    assert (found.carried, found.refused, found.end, found.confirmed) == (carried, refused, end, False)
