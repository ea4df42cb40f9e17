"""The rank-sum test agrees with scipy's, on every kind of values that may confirm a level change."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from pushbench.statistics.rank_sums import p_differ


@pytest.mark.slow
@pytest.mark.parametrize("digits", [17, 1], ids=["no two alike", "ties"])
@pytest.mark.parametrize("apart", [0.0, 0.5, 3.0])
def test_the_p_value_is_that_of_scipy(apart: float, digits: int) -> None:
    stats = importlib.import_module("scipy.stats")  # here, because loading it takes longer than most tests
    random = np.random.default_rng(round(apart * 10) + digits)
    for before in (1, 5, 8, 9, 30):
        for after in (1, 5, 8, 9, 30):
            one = random.normal(size=before).round(digits)
            other = random.normal(apart, size=after).round(digits)
            assert p_differ(one, other) == pytest.approx(float(stats.mannwhitneyu(one, other).pvalue), rel=1e-12)


def test_values_that_are_all_the_same_do_not_differ() -> None:
    assert p_differ(np.ones(9), np.ones(9)) == p_differ(np.ones(5), np.ones(5)) == 1.0
