"""The rank-sum test: whether the values after a border tend to differ from those before it. Pure.

Mann and Whitney, Annals of Mathematical Statistics 18, 1947. Exact if one side is short and no two values are equal;
otherwise normal, corrected for continuity and ties. It gives the result of `scipy.stats.mannwhitneyu` without importing
scipy.stats, which takes half a second.
"""

from __future__ import annotations

from functools import cache
from math import comb, erfc, sqrt

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

SHORT = 8
"""values: with more on both sides the normal approximation is as good"""


def p_differ(before: Values, after: Values) -> float:
    """The probability of ranks as different as these, in either direction, if both sides had one distribution."""
    pairs, count = len(before) * len(after), len(before) + len(after)
    ordered = np.sort(before)
    smaller, not_larger = (ordered.searchsorted(after, side).sum() for side in ("left", "right"))
    wins = float(smaller + not_larger) / 2
    wins = max(wins, pairs - wins)
    _, ties = np.unique(np.concatenate([before, after]), return_counts=True)
    if min(len(before), len(after)) <= SHORT and len(ties) == count:
        return min(1.0, 2 * _at_least(int(wins), *sorted((len(before), len(after)))))
    variance = pairs / 12 * (count + 1 - float((ties**3 - ties).sum()) / (count * (count - 1)))
    if not variance:
        return 1.0
    return min(1.0, erfc((wins - pairs / 2 - 0.5) / sqrt(2 * variance)))


def _at_least(wins: int, shorter: int, longer: int) -> float:
    """The probability that one side wins at least `wins` of all pairs, half of them or more."""
    return float(_up_to(shorter, longer)[shorter * longer - wins]) / comb(shorter + longer, shorter)


@cache
def _up_to(shorter: int, longer: int) -> NDArray[np.int64]:
    """The numbers of orders of the values in which one side wins at most 0, 1, 2, ... pairs: coefficients of the
    Gaussian binomial
    `(longer + shorter, shorter)`, the product of `(1 - q^(longer + i)) / (1 - q^i)`, added up."""
    ways = np.zeros(shorter * longer + 1, dtype=np.int64)
    ways[0] = 1
    for i in range(1, shorter + 1):
        ways[longer + i :] -= ways[: -longer - i]
        for first in range(i):
            ways[first::i] = np.cumsum(ways[first::i])
    return np.cumsum(ways)
