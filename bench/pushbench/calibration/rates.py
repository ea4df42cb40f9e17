"""A counted rate with its uncertainty. Pure."""

from __future__ import annotations

from math import sqrt

from pydantic import NonNegativeInt

from pushbench.foundation.model import Document

WILSON_Z = 1.959964
"""normal quantile of 0.975"""


class Rate(Document):
    """A rate with its 95 % Wilson interval (JASA 22, 1927), for the number of independent cases."""

    count: NonNegativeInt
    of: NonNegativeInt
    low: float
    high: float


def rate(count: int, of: int, independent: float | None = None) -> Rate:
    """`count` of `of` cases. If these are draws from fewer `independent` cases, the interval is for that number. The
    share within one of those lies between 0 and 1, so it varies at most like a coin toss.
    """
    if not of:
        return Rate(count=0, of=0, low=0.0, high=1.0)
    share, z, n = count / of, WILSON_Z, independent or of
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At either end the bound is exact; the subtraction would miss it by a rounding error.
    low, high = 0.0 if count == 0 else centre - half, 1.0 if count == of else centre + half
    return Rate(count=count, of=of, low=low, high=high)
