"""Which machine differs: how often the rule is wrong, and what it finds, on simulated controls."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import numpy as np
import pytest

from pushbench.statistics.strays import ALPHA, difference, p_of_t, strays

CPU, LATENCY = 0.02, 0.12
"""the scatter of starts of the same code: CPU per delivery, and the p95 of a latency (statistics/ties)"""
STARTS = 4


def controls(seed: int, machines: int, scatter: float, *factors: float, starts: int = STARTS) -> dict[str, list[float]]:
    """Each machine's values of the control; the first machines are slower by these factors."""
    random = np.random.default_rng(seed)
    by_machine = [*factors, *[1.0] * (machines - len(factors))]
    return {
        f"m{number}": list(0.003 * factor * np.exp(random.normal(0, scatter, starts)))
        for number, factor in enumerate(by_machine)
    }


def share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 6, 7, 9, 24])
def test_the_t_distribution_is_that_of_scipy(degrees: int) -> None:
    student = importlib.import_module("scipy.stats").t  # here, because loading it takes longer than most tests
    for t in (0.0, 0.3, -1.0, 2.5, 4.3, 12.0):
        assert p_of_t(t, degrees) == pytest.approx(2 * student.sf(abs(t), degrees), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("machines", [2, 3, 6])
@pytest.mark.parametrize(("scatter", "margin"), [(CPU, 0.05), (LATENCY, 0.15)])
def test_machines_that_are_alike_stay_together(machines: int, scatter: float, margin: float) -> None:
    wrong = [bool(strays(controls(seed, machines, scatter), margin)) for seed in range(600)]
    assert share(wrong) <= 2 * ALPHA


def test_a_margin_keeps_a_difference_that_does_not_matter_and_noise_alone_keeps_none() -> None:
    alike = [strays(controls(seed, 3, 0.002, 1.03), 0.05) for seed in range(200)]
    assert not any(alike)
    assert all(strays(controls(seed, 3, 0.002, 1.03), 0.01) == ["m0"] for seed in range(200))


@pytest.mark.slow
@pytest.mark.parametrize("machines", [3, 6])
@pytest.mark.parametrize(("scatter", "margin", "factor"), [(CPU, 0.05, 1.15), (CPU, 0.05, 0.87), (LATENCY, 0.15, 1.8)])
def test_a_machine_that_differs_is_found_alone(machines: int, scatter: float, margin: float, factor: float) -> None:
    found = [strays(controls(seed, machines, scatter, factor), margin) == ["m0"] for seed in range(300)]
    assert share(found) >= 0.95


def test_of_two_machines_nothing_says_which_one_is_right() -> None:
    found = [strays(controls(seed, 2, CPU, 1.25), 0.05) for seed in range(200)]
    assert share([each == ["m0", "m1"] for each in found]) >= 0.95
    assert all(each in ([], ["m0", "m1"]) for each in found)


def test_two_halves_that_differ_are_all_named_and_a_minority_alone() -> None:
    assert strays(controls(1, 4, 0.005, 1.3, 1.3), 0.05) == ["m0", "m1", "m2", "m3"]
    assert strays(controls(1, 5, 0.005, 1.3, 1.3), 0.05) == ["m0", "m1"]


def test_several_questions_share_the_errors() -> None:
    once = [bool(strays(controls(seed, 3, CPU, 1.08), 0.05)) for seed in range(300)]
    shared = [bool(strays(controls(seed, 3, CPU, 1.08), 0.05, tests=20)) for seed in range(300)]
    assert sum(shared) < sum(once)


def test_the_difference_is_a_share_of_the_others() -> None:
    groups = {"a": [2.0, 2.0], "b": [1.0, 1.0], "c": [4.0, 4.0]}
    assert difference(groups, "a") == pytest.approx(0.0)
    assert difference({"a": [1.3, 1.3], "b": [1.0, 1.0]}, "a") == pytest.approx(0.3)


def test_equal_values_are_no_error() -> None:
    assert strays({"a": [1.0, 1.0], "b": [1.0, 1.0]}, 0.05) == []
    assert strays({"a": [1.0, 1.0], "b": [2.0, 2.0]}, 0.05) == ["a", "b"]
