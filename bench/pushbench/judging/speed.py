"""Whether the machine of a run was slower or faster than in the runs before. Pure.

Every trial contains the generator, which changes rarely. Its CPU for a unit of work follows the machine's speed
(docs/method.md, "Controls for the machine's speed").
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, log1p

import numpy as np

from pushbench.statistics.middle import middle
from pushbench.statistics.trend import BAND_SIGMAS, MAD_TO_SIGMA, SHORTEST_LEVEL

RUNS = 10
"""number of newest runs to compare with: after five more runs, a lasting change of the generator is no excuse"""
MOST_SLOPE = 2.0
"""about the largest slope of the logarithm of a server's cost on that of the generator (docs/method.md)"""


def relative_change(past: Sequence[float], now: float, margin: float) -> float | None:
    """The relative change of the generator's cost compared with the median of its newest runs.

    None if it is within the relative margin or within three standard deviations of these runs, or if there are too few.
    """
    newest = np.asarray(past[-RUNS:])
    if len(newest) < SHORTEST_LEVEL or now <= 0 or newest.min() <= 0:
        return None
    usual = middle(newest)
    scatter = MAD_TO_SIGMA * middle(np.abs(np.log(newest / usual)))
    within = max(log1p(margin), BAND_SIGMAS * scatter)
    return now / usual - 1 if abs(log(now / usual)) >= within else None


def without(change: float, cost: float) -> float:
    """The server's cost after the largest correction that a relative change of the generator's cost allows."""
    return float(cost / (1 + change) ** MOST_SLOPE)


def sentence(change: float) -> str:
    """`the generator's own CPU for the same work changed by +62 %, too: the machine was slower, or ...`."""
    how = "slower" if change > 0 else "faster"
    return (
        f"the generator's own CPU for the same work changed by {100 * change:+.0f} %, too, compared with the runs "
        f"before: the machine was {how}, or the generator or its work changed"
    )
