"""The loads that a search asks, and their answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Answer = Literal["carried", "broken", "generator", "disturbed", "connecting", "unsettled"]
"""carried: within all limits. broken: not. generator: it reached its end before the server did. disturbed: not carried
while other processes used the machine. connecting: not carried with clients that connect fast, and a limit on
connecting was broken; a slower ramp may keep the limits. unsettled: all limits were kept, but less arrived than was
due: the window is too short to say whether the queue keeps growing"""


@dataclass(frozen=True)
class Ask:
    """A load to ask; `hold` for longer, `slow` with clients that connect slowly."""

    load: int
    hold: bool = False
    slow: bool = False
    first: bool = False
    """whether it is the first of its start: the server has just begun"""
    lead_in: int = 0
    """the part of a load with a slow ramp whose clients connect fast, before the others"""
    far: bool = False
    """whether the load is far from the edge: a slow ramp does not slow down further"""

    @property
    def slowest(self) -> bool:
        """Whether no ramp is slower, so that clients that connect late are the server's limit."""
        return self.slow and not self.far


Sweep = tuple[Ask, ...]
"""loads that are asked one after another of clients that stay connected: each adds clients"""
SweepCost = Callable[[Sweep], float]
"""seconds that a sweep takes"""


@dataclass(frozen=True)
class Asked:
    """A load that was asked, and its answer."""

    load: int
    hold: bool
    answer: Answer
    used: float | None = None
    """share of the server's busiest resource"""
    slow: bool = False
    compiled: float | None = None
    """share of the server's CPU time that its compilers used; None where they are not known"""

    @property
    def by_server(self) -> bool:
        """Whether the server did not carry the load, or may not have, and nothing else is the reason."""
        return self.answer in ("broken", "unsettled")

    @property
    def cost(self) -> float | None:
        """The used share per unit of load."""
        return self.used / self.load if self.used else None
