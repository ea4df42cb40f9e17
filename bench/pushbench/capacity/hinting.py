"""What the earlier starts of a server tell the next one: where its edge is, and how to get there. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from typing import Literal

End = Literal["limit", "generator", "disturbed", "most", "time"]
"""why the search ended: a load beyond a limit, the generator, a disturbed machine, the largest load of the search, or
the time"""

RESOLUTION = 0.03
"""between the carried and the refused load, as a share"""
BEYOND = 1.1
"""factor on the load that the share promises: with less room left, a climb aims there, for a refusal near the edge"""
PROMISED_LEAST, PROMISED_MOST = 1.14, 2.0
"""factors on the carried load. With the least one, a refusal gives a number: rounded to a whole step, it is below
`searching.NEAR` for loads of 50 steps or more"""


@dataclass(frozen=True)
class Ended:
    """The result of an earlier start."""

    carried: int
    refused: int | None
    end: End
    used: float | None = None
    """share of the server's busiest resource at the carried load"""
    warmed: bool = False
    """the server was cold at first: see `warms`"""
    compiled: bool = False
    """its compilers took CPU that the load needed: see `compiled_busy`"""
    slow: bool = False
    """a slow ramp helped: see `ramps_slowly`"""


@dataclass(frozen=True)
class Hint:
    """Where the edge is, according to earlier starts."""

    load: float
    spread: float = RESOLUTION
    """how far the edge may be from `load`, as a share: the first step beyond it"""
    cold: bool = False
    """a start of this server has to warm up"""
    compiles: bool = False
    """and the CPU time of its compilers shows when it is warm"""
    slow: bool = False
    """its clients need a slow ramp"""


def hint_of(starts: Sequence[Ended]) -> Hint | None:
    """Where to look, from the results of earlier starts; None if they do not show it.

    Starts that ran out of time do not count beside others, unless one carried more than all of those refused. Such a
    start carries at least its load. The edge is between the largest such load and the smallest refused load above it.
    Without such a refusal, the used share of the server's busiest resource estimates the edge.
    """
    hint = Hint(
        0.0,
        cold=any(start.warmed for start in starts),
        compiles=any(start.compiled for start in starts),
        slow=any(start.slow for start in starts),
    )
    exact = [start for start in starts if start.carried and start.end != "time"]
    most = max(starts, key=lambda start: start.carried, default=None)
    if most and any(most.carried <= (start.refused or start.carried) for start in exact):
        middle = median_low(math.sqrt(start.carried * (start.refused or start.carried)) for start in exact)
        return replace(hint, load=middle)
    if most is None or not most.carried:
        return None
    low = most.carried
    high: float = min((start.refused for start in starts if start.refused and start.refused > low), default=low)
    if high == low and most.used:
        high = low * promised(most.used) ** 2  # so that the middle is the load that the share promises
    times = high / low
    return replace(hint, load=low * math.sqrt(times), spread=max(times**0.25 - 1, RESOLUTION))


def promised(used: float) -> float:
    """The factor on the carried load, which used that share of a resource, to a load just beyond the edge."""
    return min(max(BEYOND / used, PROMISED_LEAST), PROMISED_MOST)
