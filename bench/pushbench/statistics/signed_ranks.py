"""Wilcoxon's exact signed-rank test of paired differences, with the estimate that belongs to it.

If both arms are the same, a random order makes the differences of a round symmetric about 0. The test is then an exact
permutation test for any distribution of the noise, and an outlier counts as one rank. The estimate is that of Hodges
and Lehmann (Annals of Mathematical Statistics 34, 1963): it inverts the test.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Differences = NDArray[np.float64]


def p_greater(differences: Differences) -> float:
    """The probability of ranks as high as these if the centre of the differences were 0 or less; 1 without any.

    A difference of exactly 0 counts against the claim.
    """
    if not len(differences):
        return 1.0
    ranks = _midranks(np.abs(differences))
    return float(_survival(len(differences))[int(np.ceil(ranks[differences > 0].sum() - 1e-9))])


def p_less(differences: Differences) -> float:
    return p_greater(-differences)


def centre(differences: Differences) -> float:
    """The median of the means of all pairs, each difference with itself among them."""
    return float(np.median(_walsh(differences)))


def _walsh(differences: Differences) -> Differences:
    one, other = np.triu_indices(len(differences))
    return (differences[one] + differences[other]) / 2


def _midranks(magnitudes: Differences) -> Differences:
    _, place, ties = np.unique(magnitudes, return_inverse=True, return_counts=True)
    return (np.cumsum(ties) - (ties - 1) / 2)[place.ravel()]


@cache
def _survival(count: int) -> Differences:
    """P(sum of the ranks of positive signs >= w) for w = 0, 1, ... of `count` fair signs, and a last 0."""
    ways = np.ones(1)
    for rank in range(1, count + 1):
        longer = np.zeros(len(ways) + rank)
        longer[: len(ways)] += ways / 2
        longer[rank:] += ways / 2
        ways = longer
    return np.append(np.cumsum(ways[::-1])[::-1], 0.0)
