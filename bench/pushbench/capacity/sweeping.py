"""The loads to ask next of clients that stay connected. Pure.

Most of a probe's time passes while its clients connect. A sweep asks several loads for the time of one ramp: each adds
a few clients to those that are connected. So the server is asked what it carries, and not how many clients it accepts
per second. `searching` decides where to look next, and a sweep asks several loads there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pushbench.capacity.asked import Ask, Asked, Sweep, SweepCost
from pushbench.capacity.hinting import RESOLUTION, Hint
from pushbench.capacity.searching import (
    ANSWERS,
    CLOSE,
    GALLOP_WITHIN,
    HALF,
    ROOM,
    Found,
    Plan,
    Votes,
    next_ask,
)
from pushbench.capacity.warming import compiles

LOADS_MOST = 6
"""loads of a sweep, besides those that warm a server up. With 6, more simulated searches of five minutes gave a number
than with 4"""
FINE_MOST = 8
"""parts of a ratio that a sweep divides as finely as needed: it ends before it reaches most of them"""
COARSE = 1.25
"""factor between neighbouring loads: with more, the edge is not near, and their clients connect fast"""
FINE = 0.9 * RESOLUTION
"""between neighbouring loads, as a share. Loads are whole steps: with less than `RESOLUTION`, none of the gaps is
wider than that"""
STEP_MOST = 1.12
"""factor between loads around the one that another start found: below `NEAR`, so two neighbours give a number"""


def next_sweep(plan: Plan, asked: Sequence[Asked], left: float, cost: SweepCost) -> Sweep | Found:
    """The loads to ask when `left` seconds remain: as many as there is time for, at least one."""
    votes = Votes(plan, asked)
    warms = _warms_up(votes)
    sweeps = plan.sweeps and not warms

    def alone(ask: Ask) -> Sweep:
        near = sweeps and votes.refused is not None
        return (votes.ask(ask.load, hold=ask.hold, slow=True) if near else ask,)

    step = next_ask(plan, asked, left, lambda ask: cost(alone(ask)))
    if isinstance(step, Found):
        return step
    found = () if not plan.sweeps else _warming(votes, step) if warms else _sweeps(votes, step)
    for sweep in found:
        held = any(ask.hold for ask in sweep)
        if cost(sweep) + (0.0 if held else votes.reserve(lambda ask: cost((ask,)), left)) <= left:
            return sweep
    return alone(step)


def _warms_up(votes: Votes) -> bool:
    """Whether the next load warms the server up, so that its answer decides the one after it."""
    if votes.asked:
        return compiles(votes.asked[-1])
    return votes.plan.hint is not None and (votes.plan.hint.cold or votes.plan.hint.compiles)


def _warming(votes: Votes, step: Ask) -> Iterator[Sweep]:
    """Sweeps that warm a server up, the longest first: each load is twice the one before, up to half of the load that
    another start found. The loads around that one follow if there is time."""
    most = (votes.plan.hint.load if votes.plan.hint else 0.0) / HALF
    loads = [step.load]
    while loads[-1] * 2 <= most * CLOSE:
        loads.append(votes.whole(loads[-1] * 2))
    if step.hold or len(loads) < 2:
        return
    begin, *others = (votes.ask(load, slow=True) for load in loads)
    others = [replace(each, far=True, first=False) for each in others]
    for number in range(LOADS_MOST if votes.refused is None else 0, 1, -1):
        near = [replace(votes.ask(load, slow=True), first=False) for load in _around(votes, number) if load > loads[-1]]
        yield begin, *others, *near
    for number in range(len(others), 0, -1):
        yield begin, *others[:number]


def _sweeps(votes: Votes, step: Ask) -> Iterator[Sweep]:
    """Sweeps that contain the load or replace it, the longest first."""
    confirming = _confirming(votes, step)
    if confirming:
        yield confirming
    elif not step.hold and not any(each.load == step.load for each in votes.asked):
        begin = (step,) if step.first else ()  # with the warm-up
        for most in range(LOADS_MOST, 0, -1):
            loads = _loads(votes, step, most)
            if loads:
                slow = votes.refused is None or loads[0] <= votes.carried * COARSE
                yield *begin, *(replace(votes.ask(load, slow=slow), first=False) for load in loads)


def _confirming(votes: Votes, step: Ask) -> Sweep | None:
    """The carried load for longer, and the refused one again; None if that is not what to ask next."""
    hold, refused = votes.hold(), votes.refused
    if hold is None or refused is None or votes.refusals(refused) >= ANSWERS or hold.load >= refused:
        return None
    if step.load != refused and not (step == hold and refused <= votes.carried * CLOSE):
        return None
    again = step.hold and step.load == refused
    return votes.ask(hold.load, hold=True, slow=True), votes.ask(refused, hold=again, slow=True)


def _loads(votes: Votes, step: Ask, most: int) -> list[int]:
    """At most `most` loads to ask on the way, in ascending order; none where the answer for one load decides the next.

    Between a carried and a refused load they divide the ratio of the two into equal parts, or lie close below the
    refused one if another start found more. Where another start found a load, they lie around it. On the way up to a
    load close to the edge, they divide the ratio up to that load, unless the used share shows no edge: the server gets
    cheaper per unit of load, or carried such a sweep.
    """
    carried, refused, hint = votes.carried, votes.refused, votes.plan.hint
    if refused is not None:
        return _between(votes, carried, refused, most) if carried else []
    if hint:
        loads = _around(votes, most)
        if carried >= hint.load:
            loads = _galloping(votes, carried, max(_finest(hint), math.sqrt(carried / hint.load)), most)
        low = step.load if step.first else carried
        return sorted({load for load in loads if load > low})
    if carried and votes.used(carried) > ROOM / 2 and not votes.warms and not votes.climbed:
        return _rising(votes, carried, step.load, min(most, _parts(step.load / carried)))
    return []


def _around(votes: Votes, most: int) -> list[int]:
    """Loads around the one that another start found."""
    hint = votes.plan.hint
    if hint is None:
        return []
    below = hint.load / _finest(hint)
    near = [votes.whole(load) for load in (below / STEP_MOST, below, hint.load)]
    return sorted({*near[:most], *_galloping(votes, hint.load, _finest(hint), most - len(near))})


def _finest(hint: Hint) -> float:
    """The factor between neighbouring loads close to the hint."""
    return 1 + hint.spread * FINE / RESOLUTION


def _galloping(votes: Votes, low: float, step: float, number: int) -> list[int]:
    """Loads above `low`. The first is `step` times `low`. Then the distance to `low` doubles, as a ratio. No step is
    larger than `STEP_MOST`."""
    loads: list[float] = []
    ratio = step
    for _ in range(number):
        loads.append((loads[-1] if loads else low) * min(ratio, STEP_MOST))
        ratio = loads[-1] / low
    return [votes.whole(load) for load in loads]


def _between(votes: Votes, carried: int, refused: int, most: int) -> list[int]:
    """Loads between the two, as `_loads` describes."""
    hint = votes.hinted
    if hint and refused <= hint and refused > carried * GALLOP_WITHIN:
        below = {votes.whole(refused / votes.gallop(power)) for power in range(most)}
        return sorted(load for load in below if carried < load < refused)
    fine = _parts(refused / carried)
    parts = fine if most == LOADS_MOST and fine <= FINE_MOST else min(most + 1, fine)
    return [load for load in _rising(votes, carried, refused, parts) if load < refused]


def _parts(ratio: float) -> int:
    """How many parts of a ratio are fine enough."""
    return math.ceil(math.log(ratio) / math.log1p(FINE))


def _rising(votes: Votes, low: int, high: int, parts: int) -> list[int]:
    """Loads above `low`, up to `high`, that divide the ratio of the two into equal parts."""
    ratio = (high / low) ** (1 / max(parts, 1))
    loads = {votes.whole(low * ratio**power) for power in range(1, parts + 1)}
    return sorted(load for load in loads if low < load <= high)
