"""A plan has every server once per round, in an order that depends only on the seed."""

from __future__ import annotations

import pytest

from pushbench.measuring.plan import make_plan, make_rounds, trial_seconds
from pushbench.records.record import Schedule, StagePlan

SERVERS = ["a", "b", "c", "d"]
ARMS = ("base", "head")


def test_every_server_has_one_trial_a_round() -> None:
    plan = make_plan(SERVERS, rounds=3, seed=1)
    assert [trial.order for trial in plan] == list(range(12))
    assert len({(trial.server, trial.round) for trial in plan}) == 12
    assert [trial.round for trial in plan] == [1] * 4 + [2] * 4 + [3] * 4


def test_the_arms_of_a_server_are_side_by_side_in_an_order_that_varies() -> None:
    rounds = [
        make_rounds({server: [number] for server in SERVERS}, seed=1, first=8, arms=["base", "head"])
        for number in range(20)
    ]
    for each in rounds:
        assert [trial.order for trial in each] == list(range(8, 16))
        assert {(trial.server, trial.arm) for trial in each} == {(name, arm) for name in SERVERS for arm in ARMS}
        assert [one.server for one in each[::2]] == [other.server for other in each[1::2]]
    first = [each[0].arm for each in rounds]
    assert 5 < first.count("base") < 15


def test_rounds_of_a_server_are_side_by_side_with_a_seed_each() -> None:
    planned = make_rounds({"a": [5, 6, 7], "b": [3]}, seed=1, first=0, arms=["base", "head"], together=["a"])
    assert [trial.order for trial in planned] == list(range(8))
    assert sorted((trial.round, trial.seed) for trial in planned if trial.server == "a") == [
        (number, number + 1) for number in (5, 5, 6, 6, 7, 7)
    ]
    servers = [trial.server for trial in planned]
    assert servers in (["a"] * 6 + ["b"] * 2, ["b"] * 2 + ["a"] * 6)
    assert {trial.server for trial in planned if trial.together} == {"a"}


def test_the_same_seed_gives_the_same_plan_and_another_one_another_order() -> None:
    assert make_plan(SERVERS, rounds=3, seed=1) == make_plan(SERVERS, rounds=3, seed=1)
    orders = {tuple(trial.server for trial in make_plan(SERVERS, rounds=3, seed=seed)) for seed in range(10)}
    assert len(orders) == 10


def test_rounds_differ_in_order_and_servers_of_a_round_share_a_seed() -> None:
    plan = make_plan(SERVERS, rounds=6, seed=1)
    rounds = [[trial for trial in plan if trial.round == number] for number in range(1, 7)]
    assert len({tuple(trial.server for trial in each) for each in rounds}) > 1
    assert [{trial.seed for trial in each} for each in rounds] == [{seed} for seed in range(2, 8)]


def test_a_trial_lasts_as_long_as_its_stages_and_what_is_around_them() -> None:
    stage = StagePlan(clients=100, ramp_seconds=2, settle_seconds=1, steady_seconds=6)
    schedule = Schedule(warmup_seconds=8, stages=[stage] * 5, drain_seconds=10)
    assert trial_seconds(schedule) == pytest.approx(5 * 9 + 8, abs=8)
