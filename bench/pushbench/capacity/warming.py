"""Whether a server was warm when it answered. Pure.

A virtual machine compiles its code while it serves, and a cold one refuses loads that a warm one carries. Where the
CPU time of the compilers is known, it shows the cold answers. Elsewhere a server was cold if it used clearly less per
unit of load later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from pushbench.capacity.asked import Asked

COMPILING = 0.05
"""share of the server's CPU time in its compilers: a server with more is cold. In the Spring servers of `posts` it was
7 to 56 % while a response got cheaper, and then 0 to 3 % in most probes (docs/capacity.md)"""
WITHIN = 1.25
"""factor on a load that was carried without compiling: the server was warm for a load up to there. In `whiteboard`, the
compilers of warm Spring servers used 6 to 8 % under a load that was too much"""
WARMER = 0.7
"""factor on the use of the busiest resource per unit of load: a server that uses less than that was not warm before"""
BUSY = 0.7
"""share of that resource: with more, a server has little room left"""
FULL = 0.85
"""share of that resource: a cold server with more of it used gets the same load again, not a larger one"""
REPEATS_MOST = 5
"""probes of one load, one after another, to warm a server up"""


def compiles(asked: Asked) -> bool:
    """Whether the compilers worked during the probe."""
    return asked.compiled is not None and asked.compiled > COMPILING


def compiled_busy(asked: Sequence[Asked]) -> bool:
    """Whether the compilers worked during a probe that left little room."""
    return any(compiles(each) and (each.used or 0.0) > BUSY for each in asked)


def warms(asked: Sequence[Asked]) -> bool:
    """Whether the server warmed up: with little room left it carried a load, then one at least as large with clearly
    less use."""
    known = [(each.load, each.used) for each in asked if each.used and each.answer == "carried"]
    return any(
        load <= next_load and used > BUSY and next_used < WARMER * used
        for (load, used), (next_load, next_used) in pairwise(known)
    )


def was_cold(refusal: Asked, earlier: Sequence[Asked], later: Sequence[Asked]) -> bool:
    """Whether the server refused the load only because it was cold: it compiled, or it used clearly less per unit of
    load later. If it used as little before, it was warm: clients that connect late, or again, use CPU of their own.
    """
    if (refusal.by_server or refusal.answer == "disturbed") and compiles(refusal):
        return not any(_was_warm(each) and each.load * WITHIN >= refusal.load for each in earlier)
    if not refusal.by_server or not refusal.cost:
        return False
    before, after = (min(costs(asked), default=math.inf) for asked in (earlier, later))
    return after < WARMER * min(refusal.cost, before)


def _was_warm(asked: Asked) -> bool:
    """Whether the server carried the load without compiling."""
    return asked.answer == "carried" and not compiles(asked)


def costs(asked: Sequence[Asked]) -> list[float]:
    """The cost per unit of load, for the loads that were carried."""
    return [each.cost for each in asked if each.answer == "carried" and each.cost]


def repeats(asked: Sequence[Asked]) -> bool:
    """Whether to ask the last load again: the server carried it, but compiled and had little left for more."""
    last = asked[-1]
    same = 0
    for each in reversed(asked):
        if each.load != last.load:
            break
        same += 1
    return last.answer == "carried" and compiles(last) and (last.used or 0.0) > FULL and same < REPEATS_MOST
