"""A rate that was counted, with its uncertainty. Pure."""

from __future__ import annotations

from math import sqrt

from pydantic import NonNegativeInt

from pushbench.foundation.model import Document

WILSON_Z = 1.959964
"""normal quantile of 0.975"""


class Rate(Document):
    """A rate with its 95 % interval by Wilson (JASA 22, 1927)."""

    count: NonNegativeInt
    of: NonNegativeInt
    low: float
    high: float


def rate(count: int, of: int) -> Rate:
    if not of:
        return Rate(count=0, of=0, low=0.0, high=1.0)
    share, z = count / of, WILSON_Z
    centre = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    # At either end the bound is exact, which the subtraction misses by a rounding.
    low, high = 0.0 if count == 0 else centre - half, 1.0 if count == of else centre + half
    return Rate(count=count, of=of, low=low, high=high)
