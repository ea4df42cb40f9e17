"""Level changes are found where they are, and nowhere else; the band contains the usual next values."""

from __future__ import annotations

import time

import numpy as np
import pytest

from pushbench.statistics.trend import band, changes, levels


def noisy(*levels: tuple[float, int], noise: float = 0.03, seed: int = 1) -> list[float]:
    """The values of noisy runs, from pairs of (level, count)."""
    random = np.random.default_rng(seed)
    return [level * float(np.exp(random.normal(0, noise))) for level, count in levels for _ in range(count)]


def test_a_change_of_level_is_found_at_its_place_with_its_size() -> None:
    [found] = changes(noisy((20e-6, 60), (22e-6, 40)))
    assert abs(found.index - 60) <= 1
    assert found.ratio == pytest.approx(1.1, abs=0.02)
    assert found.p < 1e-6


def test_several_changes_are_found_in_their_order() -> None:
    found = changes(noisy((10, 50), (13, 30), (10, 30), (11, 60)))
    assert [round(each.index, -1) for each in found] == [50, 80, 110]


@pytest.mark.parametrize("seed", range(20))
def test_noise_has_no_level_changes(seed: int) -> None:
    assert changes(noisy((5, 200), noise=0.08, seed=seed)) == []


def test_a_single_outlier_is_no_level() -> None:
    values = noisy((5, 100))
    values[50] = 40.0
    assert changes(values) == []
    found = band(values)
    assert found
    assert found.high < 6.5


def test_a_change_just_made_is_found_after_a_few_runs_and_not_before() -> None:
    assert changes(noisy((20, 60), (26, 3))) == []
    assert [each.index for each in changes(noisy((20, 60), (26, 8)))] == [60]


def test_short_and_constant_series_are_no_trouble() -> None:
    assert changes([]) == changes([1.0] * 4) == changes([1.0] * 50) == []
    assert band([1.0] * 4) is None
    flat = band([2.0] * 20)
    assert flat
    assert (flat.low, flat.high) == (2.0, 2.0)


def test_the_band_is_that_of_the_current_level() -> None:
    found = band(noisy((10, 50), (13, 30)))
    assert found
    assert found.level == pytest.approx(13, rel=0.02)
    assert 10 < found.low < 13 < found.high < 16
    assert found.runs == 20


def test_five_thousand_runs_take_a_tenth_of_a_second() -> None:
    values = noisy(*[(10 + each % 3, 250) for each in range(20)])
    changes(values[:100])  # imports and first calls
    seconds = []
    for _ in range(3):  # the fastest counts: other work on the machine only slows one down
        began = time.perf_counter()
        found = changes(values)
        seconds.append(time.perf_counter() - began)
        assert len(found) == 19
    assert min(seconds) < 0.3  # `make bench-judge` has the figure; other tests may run meanwhile


def test_levels_lie_between_the_changes_each_with_its_band() -> None:
    values = noisy((10, 60), (13, 40), (10, 3))
    found = levels(values, changes(values))
    assert [(each.begin, each.end) for each in found] == [(0, 60), (60, 103)]
    assert found[0].band
    assert found[0].band.level == pytest.approx(10, rel=0.03)
    assert levels(noisy((10, 4)), [])[0].band is None


def test_the_band_of_the_last_level_is_that_of_the_series() -> None:
    values = noisy((10, 50), (13, 40))
    assert levels(values, changes(values))[-1].band == band(values)
    zeros = [0.0, 0.01, 0.0, 0.02, 0.0, 0.01]
    assert levels(zeros, [])[-1].band == band(zeros)
