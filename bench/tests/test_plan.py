"""A plan has every server once a round, in an order that only the seed decides."""

from __future__ import annotations

import pytest

from pushbench.plan import make_plan, trial_seconds
from pushbench.record import Schedule, StagePlan

SERVERS = ["a", "b", "c", "d"]


def test_every_server_and_arm_has_one_trial_a_round() -> None:
    plan = make_plan(SERVERS, rounds=3, seed=1, arms=["base", "head"])
    assert [trial.order for trial in plan] == list(range(24))
    assert len({(trial.server, trial.arm, trial.round) for trial in plan}) == 24
    assert [trial.round for trial in plan] == [1] * 8 + [2] * 8 + [3] * 8


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
