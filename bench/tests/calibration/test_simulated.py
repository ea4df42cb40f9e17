"""Many servers share their time, and the published figures of simulated comparisons meet the promised rates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pushbench.calibration import simulated
from pushbench.calibration.error_rates import Calibration
from pushbench.calibration.rates import rate
from pushbench.calibration.simulated import HOUR_ROUNDS, INDEPENDENT, KNOWN_BIAS, Simulated, shared

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def published() -> list[Simulated]:
    return Calibration.model_validate(json.loads((DOCS / "calibration.json").read_text())).simulated


def kinds(published: list[Simulated], factor: float, servers: int) -> list[Simulated]:
    found = [
        each
        for each in published
        if (each.factor, each.servers, each.all_rounds) == (factor, servers, None) and each.noise in INDEPENDENT
    ]
    assert len(found) == len(INDEPENDENT)
    return found


def test_undecided_servers_share_what_decided_ones_leave() -> None:
    assert shared([4, 10, 44], 1000) == [4, 10, 44]
    assert shared([4, 10, 44], 30) == [4, 10, 16]
    assert shared([44] * 7, HOUR_ROUNDS) == [37] * 7, "as many as all of them have time for"
    assert shared([44] * 7, 6) == [0] * 7


def test_at_most_one_independent_run_in_a_hundred_has_a_false_alarm(published: list[Simulated]) -> None:
    found = [each.alarms for each in published if each.noise in INDEPENDENT]
    assert sum(each.of for each in found) >= 5_000
    assert rate(sum(each.count for each in found), sum(each.of for each in found)).high <= 0.01


def test_a_tenth_more_in_one_of_seven_servers_is_found(published: list[Simulated]) -> None:
    for each in kinds(published, 1.1, 7):
        assert each.found
        assert each.found.count >= 0.9 * each.runs
        assert each.alarms.count <= 0.01 * each.runs


@pytest.mark.slow
def test_a_tenth_more_in_one_of_seven_noisy_servers_is_found_within_an_hour() -> None:
    """Only two runs, because each takes seconds; `calibrate report --simulated` takes the number of runs."""
    kind = simulated._Kind("normal", 7, 1.1, 2.0, HOUR_ROUNDS)
    found = simulated._simulate(kind, 2, np.random.default_rng(1))
    assert (found.found, found.alarms) == (rate(2, 2), rate(0, 2))
    assert kind in simulated.KINDS


def test_large_and_small_changes_are_decided_early(published: list[Simulated]) -> None:
    assert max(each.rounds for each in kinds(published, 2.0, 1)) <= 8
    assert max(each.rounds for each in kinds(published, 1.1, 1)) <= 14


def test_a_known_bias_makes_no_false_alarms(published: list[Simulated]) -> None:
    known = [each for each in published if each.noise == KNOWN_BIAS]
    assert {each.servers for each in known} == {1, 7}
    assert sum(each.alarms.count for each in known) <= 0.01 * sum(each.alarms.of for each in known)
