"""Sweeps find the same capacity as single probes, in less time and with fewer ramps."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from pushbench.capacity.asked import Answer, Asked, Sweep
from pushbench.capacity.hinting import RESOLUTION, Ended, Hint, hint_of
from pushbench.capacity.searching import NEAR, Found
from pushbench.capacity.sweeping import next_sweep
from tests.capacity.simulated_searches import AMPLE, PLAN, SWEEPS, Search, cost_of, of_clients, search, starts


def loads(done: Search) -> list[list[int]]:
    return [[ask.load for ask in sweep] for sweep in done.sweeps]


@pytest.mark.parametrize("capacity", [64, 98, 730, 1234, 3333, 6789, 12_900])
def test_sweeps_find_a_set_capacity_with_fewer_ramps(capacity: int) -> None:
    swept = search(of_clients(capacity), SWEEPS, capacity=capacity)
    single = search(of_clients(capacity), PLAN, capacity=capacity)
    for done in (swept, single):
        found = done.found
        assert (found.end, found.confirmed) == ("limit", True)
        assert found.refused
        assert found.carried <= capacity < found.refused
        assert found.refused - found.carried <= max(RESOLUTION * found.carried, PLAN.step)
    assert len(swept.sweeps) < len(single.sweeps)
    assert swept.seconds < single.seconds * 1.05


@pytest.mark.parametrize("capacity", [3333, 6789, 12_900])
def test_three_starts_take_less_time_with_sweeps(capacity: int) -> None:
    swept, single = (starts(of_clients(capacity), plan=plan, capacity=capacity) for plan in (SWEEPS, PLAN))
    assert sum(each.seconds for each in swept) < 0.85 * sum(each.seconds for each in single)
    assert sum(len(each.sweeps) for each in swept) < 0.7 * sum(len(each.sweeps) for each in single)


def test_a_load_close_to_the_edge_is_reached_in_parts() -> None:
    done = search(of_clients(5000), SWEEPS, capacity=5000)
    assert loads(done)[:4] == [[100], [800], [3500], [3770, 4070, 4390, 4730, 5100]]


def test_after_a_sweep_that_was_carried_to_its_end_single_loads_climb_by_steps_that_double() -> None:
    done = search(of_clients(9000), SWEEPS, capacity=5000)
    assert loads(done)[:4] == [[100], [800], [3500], [3770, 4070, 4390, 4730, 5100, 5500]]
    assert loads(done)[4:7] == [[6270], [8150], [13_770]], "1.14, 1.3 and 1.69 times the load before"


def test_a_server_that_gets_cheaper_per_unit_of_load_is_not_asked_in_parts() -> None:
    first = Asked(200, hold=False, answer="carried", used=0.2)

    def then(used: float) -> list[int]:
        asked = [first, Asked(1000, hold=False, answer="carried", used=used)]
        sweep = next_sweep(SWEEPS, asked, AMPLE, cost_of)
        assert not isinstance(sweep, Found)
        return [ask.load for ask in sweep]

    assert then(0.5) == [2000], "0.5 of the CPU per 1,000, and 1.0 before"
    assert then(0.9) == [1030, 1070, 1100, 1140, 1180, 1220]


def test_the_carried_load_is_held_and_the_refused_one_asked_again_in_one_sweep() -> None:
    done = search(of_clients(1234), SWEEPS, capacity=1234)
    last = done.sweeps[-1]
    assert [(ask.load, ask.hold, ask.slow) for ask in last] == [
        (done.found.carried, True, True),
        (done.found.refused, False, True),
    ]


def test_a_later_start_asks_the_loads_around_the_one_that_was_found() -> None:
    plan = replace(SWEEPS, hint=hint_of([Ended(2000, 2060, "limit")]))
    near = search(of_clients(2010), plan)
    assert loads(near) == [[1010, 1760, 1980, 2030], [1980, 2030]]
    assert [(ask.first, ask.slow) for ask in near.sweeps[0]] == [(True, False), *[(False, True)] * 3]


def known(*answers: tuple[int, Answer]) -> list[Asked]:
    return [Asked(load, hold=False, answer=answer) for load, answer in answers]


@pytest.mark.parametrize(
    ("refused", "loads"),
    [
        (8960, [8180, 8370, 8560, 8760]),
        (9600, [8210, 8430, 8650, 8880, 9110, 9350]),
        (12_000, [8480, 8980, 9520, 10_090, 10_690, 11_320]),
    ],
    ids=["few", "as many as it takes", "in two sweeps"],
)
def test_a_sweep_between_two_loads_ends_where_they_are_close_enough(refused: int, loads: list[int]) -> None:
    sweep = next_sweep(SWEEPS, known((8000, "carried"), (refused, "broken")), AMPLE, cost_of)
    assert not isinstance(sweep, Found)
    assert [ask.load for ask in sweep] == loads


@pytest.mark.parametrize(("seconds", "asks"), [(40, [(8190, False)]), (18, [(8040, True), (8350, False)])])
def test_with_little_time_left_two_loads_that_are_close_are_confirmed(
    seconds: float, asks: list[tuple[int, bool]]
) -> None:
    sweep = next_sweep(SWEEPS, known((8040, "carried"), (8350, "broken")), seconds, cost_of)
    assert not isinstance(sweep, Found)
    assert [(ask.load, ask.hold) for ask in sweep] == asks


@pytest.mark.parametrize(("refused", "slow"), [(8000, False), (2000, True)])
def test_clients_connect_fast_where_the_edge_is_not_near(refused: int, slow: bool) -> None:
    sweep = next_sweep(SWEEPS, known((1000, "carried"), (refused, "broken")), AMPLE, cost_of)
    assert not isinstance(sweep, Found)
    assert {ask.slow for ask in sweep} == {slow}


@pytest.mark.parametrize("capacity", [98, 730, 3333, 12_900])
@pytest.mark.parametrize("seconds", range(20, 140, 10))
def test_slow_ramps_take_no_more_than_the_time_that_is_left(seconds: float, capacity: int) -> None:
    def slower(sweep: Sweep) -> float:
        return cost_of(sweep) + 8.0 * sweep[0].slow

    done = search(
        lambda ask: "carried" if ask.load <= capacity * (0.97 if ask.hold else 1.0) else "broken",
        SWEEPS,
        seconds=seconds,
        capacity=capacity,
        takes=slower,
    )
    assert sum(map(slower, done.sweeps)) <= seconds


def test_as_many_clients_lead_in_as_connected_fast_before() -> None:
    asked = [*known((800, "carried"), (5000, "connecting")), Asked(5000, hold=False, answer="carried", slow=True)]
    asked.append(Asked(6000, hold=False, answer="broken", slow=True))
    sweep = next_sweep(SWEEPS, asked, AMPLE, cost_of)
    assert not isinstance(sweep, Found)
    assert {ask.lead_in for ask in sweep} == {800}
    asked = known((5000, "carried"), (6000, "broken"))
    sweep = next_sweep(SWEEPS, asked, AMPLE, cost_of)
    assert not isinstance(sweep, Found)
    assert sweep[0].lead_in == int(sweep[0].load * 0.8), "four fifths at most"


@pytest.mark.parametrize("capacity", [700, 1000, 1500, 1900, 2500, 4000])
def test_a_later_start_does_not_believe_the_earlier_one(capacity: int) -> None:
    done = search(of_clients(capacity), replace(SWEEPS, hint=Hint(2000)))
    assert done.found.carried == pytest.approx(capacity, rel=RESOLUTION)
    assert done.found.confirmed


@pytest.mark.parametrize(
    ("carried", "loads"),
    [
        ([], [1000, 1740, 1950, 2000, 2050, 2110, 2220]),
        ([1000, 1950, 2000], [2050, 2110, 2220, 2480, 2770, 3100]),
        ([1000, 2480], [2760, 3080, 3440, 3860, 4320, 4840]),
    ],
    ids=["around it", "from there on", "far beyond it"],
)
def test_beyond_the_hint_the_loads_of_a_sweep_gallop(carried: list[int], loads: list[int]) -> None:
    asked = known(*((load, "carried") for load in carried))
    sweep = next_sweep(replace(SWEEPS, hint=Hint(2000)), asked, AMPLE, cost_of)
    assert not isinstance(sweep, Found)
    assert [ask.load for ask in sweep] == loads
    assert all(after < NEAR * before for before, after in pairwise(loads) if before >= 2000)


def test_no_step_of_a_sweep_beyond_an_uncertain_hint_is_too_wide_for_a_number() -> None:
    sweep = next_sweep(replace(SWEEPS, hint=Hint(2000, spread=0.4)), [], AMPLE, cost_of)
    assert not isinstance(sweep, Found)
    around = [ask.load for ask in sweep if ask.load >= 2000]
    assert len(around) > 1
    assert all(after < NEAR * before for before, after in pairwise(around))


def test_a_server_that_has_to_warm_up_is_asked_one_load_at_first() -> None:
    plan = replace(SWEEPS, hint=Hint(3000, cold=True))
    sweep = next_sweep(plan, [], 300.0, cost_of)
    assert not isinstance(sweep, Found)
    assert [ask.first for ask in sweep] == [True]
    after = next_sweep(plan, [Asked(sweep[0].load, hold=False, answer="carried", used=0.9)], 300.0, cost_of)
    assert not isinstance(after, Found)
    assert len(after) == 1


@pytest.mark.parametrize(
    ("seconds", "loads"),
    [(300, [380, 760, 1520, 2610, 2920, 3000]), (26, [380, 760, 1520, 2610, 2920]), (12, [380, 760, 1520])],
)
def test_a_server_that_compiles_warms_up_on_the_way_to_the_edge(seconds: float, loads: list[int]) -> None:
    sweep = next_sweep(replace(SWEEPS, hint=Hint(3000, compiles=True)), [], seconds, cost_of)
    assert not isinstance(sweep, Found)
    assert [ask.load for ask in sweep][: len(loads)] == loads
    assert all(ask.slow for ask in sweep)
    assert [ask.far for ask in sweep[:4]] == [False, True, True, False][: len(sweep)]
    assert [ask.first for ask in sweep] == [True, *[False] * (len(sweep) - 1)]


def test_the_loads_around_the_hint_are_above_those_that_warm_up() -> None:
    sweep = next_sweep(replace(SWEEPS, hint=Hint(3000, spread=1.5, compiles=True)), [], AMPLE, cost_of)
    assert not isinstance(sweep, Found)
    assert [ask.load for ask in sweep] == sorted({ask.load for ask in sweep})


def test_a_server_that_still_compiles_warms_up_again_and_keeps_what_it_carried() -> None:
    plan = replace(SWEEPS, hint=Hint(3000, compiles=True))
    cold = [Asked(380, False, "carried", 0.5, compiled=0.4), Asked(760, False, "broken", 1.0, compiled=0.4)]
    sweep = next_sweep(plan, cold, 300.0, cost_of)
    assert not isinstance(sweep, Found)
    assert [ask.load for ask in sweep[:4]] == [380, 760, 1520, 2610]
    assert not any(ask.first for ask in sweep)


@pytest.mark.parametrize("seconds", [0, 5, 20, 40, 60, 80, 100])
@pytest.mark.parametrize("hint", [None, Hint(3300)], ids=["first", "later"])
def test_it_ends_in_time_and_says_what_it_knows(seconds: float, hint: Hint | None) -> None:
    done = search(of_clients(3333), replace(SWEEPS, hint=hint), seconds=seconds, capacity=3333)
    assert done.seconds <= seconds
    assert done.found.carried <= 3333
    assert done.found.refused is None or done.found.refused > 3333


@pytest.mark.parametrize("seed", range(20))
def test_a_sweep_only_adds_clients_whatever_is_answered(seed: int) -> None:
    drawn = random.Random(seed)
    answers: tuple[Answer, ...] = ("carried", "broken", "generator", "disturbed", "connecting", "unsettled")
    done = search(lambda _: drawn.choice(answers), SWEEPS)
    for sweep in done.sweeps:
        assert [ask.load for ask in sweep] == sorted({ask.load for ask in sweep})
