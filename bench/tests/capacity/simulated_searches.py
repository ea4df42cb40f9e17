"""Searches on simulated servers, to their end."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pushbench.capacity.asked import Answer, Ask, Asked, Sweep, SweepCost
from pushbench.capacity.hinting import Ended, hint_of
from pushbench.capacity.searching import Found, Plan, ramps_slowly
from pushbench.capacity.sweeping import next_sweep
from pushbench.capacity.warming import compiled_busy, warms

PLAN = Plan(first=100, step=10, most=20_000, sweeps=False)
SWEEPS = replace(PLAN, sweeps=True)
AMPLE = 1e6
"""seconds"""

Server = Callable[[Ask], Answer]


RAMP_SECONDS = 4.0
"""what a further load of a sweep saves"""


def cost(ask: Ask) -> float:
    return 14.0 if ask.hold else 6.0


def cost_of(sweep: Sweep) -> float:
    return sum(map(cost, sweep)) - RAMP_SECONDS * (len(sweep) - 1)


@dataclass
class Search:
    """One complete search, and its probes."""

    found: Found
    asked: list[Asked]
    asks: list[Ask]
    """those that were answered"""
    sweeps: list[Sweep]
    """what was played of them"""

    @property
    def seconds(self) -> float:
        return sum(map(cost_of, self.sweeps))

    @property
    def ended(self) -> Ended:
        used = next((each.used for each in self.asked if each.load == self.found.carried), None)
        found = self.found
        warmed, compiled = warms(self.asked), compiled_busy(self.asked)
        return Ended(found.carried, found.refused, found.end, used, warmed, compiled, ramps_slowly(self.asked))


def search(
    server: Server,
    plan: Plan = PLAN,
    *,
    seconds: float = AMPLE,
    capacity: float | Callable[[], float] | None = None,
    compiled: Callable[[], float] | None = None,
    takes: SweepCost = cost_of,
) -> Search:
    """A complete search. With `capacity`, the server reports the share of it that is in use; with `compiled`, the share
    of its CPU time in compilers. `takes` is the time of a sweep. An unsettled load is refused if the next one is not
    carried, as in `probing.probes_of`."""
    asked: list[Asked] = []
    asks: list[Ask] = []
    sweeps: list[Sweep] = []
    left = seconds
    while not isinstance(sweep := next_sweep(plan, asked, left, takes), Found):
        played = 0
        for ask in sweep:
            played += 1
            asks.append(ask)
            full = capacity() if callable(capacity) else capacity
            used = min(ask.load / full, 1.0) if full else None
            answer = server(ask)
            if played > 1 and asked[-1].answer == "unsettled" and answer in ("broken", "unsettled"):
                asked[-1] = replace(asked[-1], answer="broken")
                asks.pop()
                break
            share = compiled() if compiled else None
            asked.append(Asked(ask.load, ask.hold, answer, used, ask.slow, share))
            if answer not in ("carried", "unsettled"):
                break
        sweeps.append(sweep[:played])
        left -= takes(sweep[:played])
    return Search(sweep, asked, asks, sweeps)


def starts(
    server: Server, *, plan: Plan = PLAN, seconds: Sequence[float] = (AMPLE,) * 3, capacity: float | None = None
) -> list[Search]:
    """Several fresh starts with these time limits; each gets a hint from the earlier ones."""
    found: list[Search] = []
    for left in seconds:
        hint = hint_of([each.ended for each in found])
        found.append(search(server, replace(plan, hint=hint), seconds=left, capacity=capacity))
    return found


def noisy(capacity: float, spread: float, seed: int, chance: float = 0.0) -> Server:
    """A server whose capacity varies from probe to probe; sometimes a probe fails without a reason."""
    drawn = random.Random(seed)

    def answer(ask: Ask) -> Answer:
        if drawn.random() < chance:
            return "broken"
        return "carried" if ask.load <= capacity * drawn.gauss(1, spread) else "broken"

    return answer


def of_clients(capacity: float) -> Server:
    return lambda ask: "carried" if ask.load <= capacity else "broken"
