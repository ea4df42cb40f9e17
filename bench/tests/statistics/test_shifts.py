"""The evidence of a shift: fair under its null, whatever level and noise are, and equal to the integral it replaces."""

from __future__ import annotations

import numpy as np
import pytest

from pushbench.statistics.evidence import FREEDOM
from pushbench.statistics.shifts import shifted

LEAST = 0.01


@pytest.mark.slow
def test_it_is_the_ratio_of_integrated_likelihoods() -> None:
    """Compared with the integral over place, scale and effect, on a finer grid."""
    before, after = np.array([0.01, -0.02, 0.03, 0.0, -0.01, 0.02]), np.array([0.11, 0.08])
    scales, places = LEAST * 1.1 ** np.arange(60), np.arange(-1.0, 1.0, 0.002)
    effects = 0.5 * 1.5 ** np.arange(20)

    def likelihood(effect: float) -> float:
        total = 0.0
        for scale in scales:
            off = np.concatenate([before[:, None], after[:, None] - effect * scale]) - places
            total += float((np.prod((1 + (off / scale) ** 2 / FREEDOM) ** (-(FREEDOM + 1) / 2) / scale, axis=0)).sum())
        return total

    above = np.mean([likelihood(effect) for effect in effects]) / likelihood(0.0)
    below = np.mean([likelihood(-effect) for effect in effects]) / likelihood(0.0)
    found = shifted(before, after, 0.0, LEAST)
    assert [found.above, found.below] == pytest.approx([np.log(above), np.log(below)], abs=0.15)


def test_units_sides_and_the_level_do_not_matter() -> None:
    random = np.random.default_rng(1)
    before, after = random.normal(0, 0.02, 20), random.normal(0.05, 0.02, 3)
    found, mirrored = shifted(before, after, 0.0, LEAST), shifted(-before, -after, 0.0, LEAST)
    assert (found.above, found.below) == pytest.approx((mirrored.below, mirrored.above))
    assert shifted(before + 7, after + 7, 0.0, LEAST).above == pytest.approx(found.above, abs=1e-6)
    assert shifted(before, after + 0.3, 0.3, LEAST).above == pytest.approx(found.above, abs=1e-6)
    assert shifted(1000 * before, 1000 * after, 0.0, 1000 * LEAST).above == pytest.approx(found.above)


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 20])
def test_without_a_shift_it_rarely_convinces(count: int) -> None:
    random = np.random.default_rng(2)
    found = [
        shifted(random.standard_t(3, count), random.standard_t(3, 2), 0.0, 0.2).above > np.log(20) for _ in range(1500)
    ]
    assert np.mean(found) <= 1 / 20


def test_one_run_convinces_less_than_three() -> None:
    before = np.random.default_rng(3).normal(0, 0.02, 20)
    assert shifted(before, np.array([0.3]), 0.0, LEAST).above < np.log(10_000)
    assert shifted(before, np.array([0.3, 0.28, 0.31]), 0.0, LEAST).above > np.log(10_000)
