"""The loads that a search asks, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = Literal["carried", "broken", "generator", "disturbed", "connecting"]
"""carried: within all limits. broken: not. generator: it reached its end before the server did. disturbed: not carried
while other processes used the machine. connecting: only limits on connecting were broken; slower ramps may keep them"""


@dataclass(frozen=True)
class Ask:
    """A load to ask; `hold` for longer, `slow` with a longer ramp."""

    load: int
    hold: bool = False
    slow: bool = False
    first: bool = False
    """whether it is the first of its start: the server has just begun"""


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
    def cost(self) -> float | None:
        """The used share per unit of load."""
        return self.used / self.load if self.used else None
