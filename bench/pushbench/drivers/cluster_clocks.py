"""The clocks of generators and meters: how far one is ahead of another, and how exactly that is known. Pure.

A generator requests the time from each meter (`k6/internal/clock`) and prints the result as an event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushbench.foundation.text import one_line
from pushbench.generator.events import Started

DRIFT = 1e-4
"""seconds per second by which two clocks drift apart at most: crystals are good for a third of that"""


@dataclass(frozen=True)
class Compared:
    """How a meter's clock compares with a generator's, at a moment of the generator's clock."""

    at: float
    meter: str
    """its address, with the port"""
    ahead: float = 0.0
    within: float | None = None
    """None: the meter did not answer"""
    error: str = ""

    def uncertainty(self, moment: float) -> float:
        return float("inf") if self.within is None else self.within + DRIFT * abs(moment - self.at)


def parse_compared(event: Mapping[str, Any]) -> Compared | None:
    """The comparison of an event; None for other events. Raises KeyError, TypeError and ValueError for a broken one."""
    if event["event"] != "clock":
        return None
    at, meter = int(event["at"]) / 1e6, str(event["meter"])
    if "error" in event:
        return Compared(at, meter, error=one_line(str(event["error"]), 200))
    ahead, within = (int(event[name]) / 1e6 for name in ("ahead_us", "within_us"))
    if within <= 0:
        raise ValueError("a clock that is known exactly")
    return Compared(at, meter, ahead, within)


def seen_by(started: Started, compared: Sequence[Compared]) -> tuple[Started, float] | None:
    """A generator's start by a meter's clock, and the uncertainty of the borders of its windows.

    None if the meter never answered.
    """
    answered = [each for each in compared if each.within is not None]
    if not answered:
        return None

    def nearest(moment: float) -> Compared:
        return min(answered, key=lambda each: each.uncertainty(moment))

    def by_meter(moment: float) -> float:
        return moment + nearest(moment).ahead

    borders = [border for window in started.windows for border in window]
    uncertain = max(nearest(border).uncertainty(border) for border in borders)
    windows = [(by_meter(begin), by_meter(end)) for begin, end in started.windows]
    return Started(by_meter(started.at), windows, by_meter(started.end)), uncertain
