"""The signed-rank test against an enumeration of all sign patterns."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pushbench.statistics.signed_ranks import centre, p_greater, p_less

SAMPLE = np.array([0.3, -0.1, 0.7, 1.2, 0.45, -0.62, 0.9])


def counted_out(differences: np.ndarray) -> float:
    """P(sum of positive ranks >= the observed sum), over all patterns of signs."""
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    seen = ranks[differences > 0].sum()
    sums = [sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign) for signs in product([0, 1], repeat=7)]
    return float(np.mean([each >= seen for each in sums]))


def test_the_p_value_is_that_of_all_patterns_of_signs() -> None:
    assert p_greater(SAMPLE) == pytest.approx(counted_out(SAMPLE))
    assert p_less(SAMPLE) == pytest.approx(counted_out(-SAMPLE))


def test_differences_of_one_sign_are_as_rare_as_that_pattern() -> None:
    assert p_greater(np.array([1.0, 2.0, 3.0, 4.0])) == 1 / 16
    assert p_greater(np.full(6, 0.5)) == 1 / 64


def test_nothing_at_all_speaks_for_nothing() -> None:
    assert p_greater(np.array([])) == 1.0
    assert p_greater(np.zeros(8)) == p_less(np.zeros(8)) == 1.0


def test_an_outlier_hardly_moves_the_centre() -> None:
    assert abs(centre(np.append(SAMPLE, 1000.0)) - centre(SAMPLE)) < 0.35
