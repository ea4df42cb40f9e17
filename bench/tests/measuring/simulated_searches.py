"""Searches on simulated servers, to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pushbench.measuring.asked import Answer, Ask, Asked
from pushbench.measuring.searching import Ended, Found, Plan, hint_of, next_ask, ramps_slowly
from pushbench.measuring.warming import compiled_busy, warms

PLAN = Plan(first=100, step=10, most=20_000)
AMPLE = 1e6
"""seconds"""

Server = Callable[[Ask], Answer]


def cost(ask: Ask) -> float:
    return 14.0 if ask.hold else 6.0


@dataclass
class Search:
    """One complete search, and its probes."""

    found: Found
    asked: list[Asked]
    asks: list[Ask]

    @property
    def seconds(self) -> float:
        return sum(cost(each) for each in self.asks)

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
) -> Search:
    """A complete search. With `capacity`, the server reports the share of it that is in use; with `compiled`, the share
    of its CPU time in compilers."""
    asked: list[Asked] = []
    asks: list[Ask] = []
    left = seconds
    while isinstance(step := next_ask(plan, asked, left, cost), Ask):
        asks.append(step)
        full = capacity() if callable(capacity) else capacity
        used = min(step.load / full, 1.0) if full else None
        answer = server(step)
        share = compiled() if compiled else None
        asked.append(Asked(step.load, step.hold, answer, used, step.slow, share))
        left -= cost(step)
    return Search(step, asked, asks)


def starts(
    server: Server, *, plan: Plan = PLAN, seconds: Sequence[float] = (AMPLE,) * 3, capacity: float | None = None
) -> list[Search]:
    """Several fresh starts with these time limits; each gets a hint from the earlier ones."""
    found: list[Search] = []
    for left in seconds:
        hint = hint_of([each.ended for each in found])
        found.append(search(server, replace(plan, hint=hint), seconds=left, capacity=capacity))
    return found


def of_clients(capacity: float) -> Server:
    return lambda ask: "carried" if ask.load <= capacity else "broken"
