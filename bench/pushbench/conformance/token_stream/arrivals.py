"""The arrival times of the characters of a paced stream, and checks of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pushbench.conformance.rule import Mismatch

TOLERANCE = 0.05
"""Seconds. The first stream of a freshly started server begins up to 21 ms before the head of its answer."""
END = 20
"""Characters at the end of the text that reveal a drift."""


@dataclass(frozen=True)
class Arrivals:
    """The arrival times of the characters of a paced stream."""

    pace: int
    asked: float
    began: float
    times: Sequence[float]

    def early(self) -> list[float]:
        """Seconds by which each character arrived before its earliest due time, counted from the request."""
        return [self.asked + number / self.pace - at for number, at in enumerate(self.times)]

    def late(self) -> list[float]:
        """Seconds by which each character arrived after it was due, counted from the head of the answer."""
        return [at - self.began - number / self.pace for number, at in enumerate(self.times)]


def come_when_due(seen: Arrivals) -> None:
    """No character is early. The machine may delay a single character, but not half of them."""
    if (early := max(seen.early())) > TOLERANCE:
        raise Mismatch(f"no character more than {_ms(TOLERANCE)} early", f"one {_ms(early)} early")
    if (late := sorted(seen.late())[len(seen.times) // 2]) > TOLERANCE:
        raise Mismatch(f"characters at most {_ms(TOLERANCE)} late", f"half of them {_ms(late)} late or more")


def come_one_by_one(seen: Arrivals) -> None:
    """If characters are sent in batches, most arrive together with the previous one."""
    together = sum(later - earlier < 0.25 / seen.pace for earlier, later in pairwise(seen.times))
    if together > (len(seen.times) - 1) / 2:
        raise Mismatch("characters one by one", f"{together} of {len(seen.times) - 1} together with the one before")


def do_not_drift(seen: Arrivals) -> None:
    """A delay of some characters is not a drift: a drift delays all characters at the end."""
    if not seen.times:
        raise Mismatch("a paced stream", "no event")
    if (late := min(seen.late()[-END:])) > TOLERANCE:
        raise Mismatch(f"the last {END} characters at most {_ms(TOLERANCE)} late", f"all {_ms(late)} late or more")
    if (early := max(seen.early()[-END:])) > TOLERANCE:
        raise Mismatch(f"the last {END} characters at most {_ms(TOLERANCE)} early", f"one {_ms(early)} early")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
