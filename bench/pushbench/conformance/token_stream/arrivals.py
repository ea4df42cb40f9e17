"""When the characters of a paced stream came, and what that says. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pushbench.conformance.rule import Mismatch

TOLERANCE = 0.05
"""Seconds. The first stream of a server that has just started begins up to 21 ms before the head of its answer."""
END = 20
"""Characters at the end of the text by which a drift is seen."""


@dataclass(frozen=True)
class Arrivals:
    """When the characters of a paced stream came."""

    pace: int
    asked: float
    began: float
    times: Sequence[float]

    def early(self) -> list[float]:
        """Seconds by which each character came before it can have been due: after the request was sent."""
        return [self.asked + number / self.pace - at for number, at in enumerate(self.times)]

    def late(self) -> list[float]:
        """Seconds by which each character came after it was due, seen from the head of the answer."""
        return [at - self.began - number / self.pace for number, at in enumerate(self.times)]


def come_when_due(seen: Arrivals) -> None:
    """None is early; one that is late by itself may be the fault of the machine, half of them are not."""
    if (early := max(seen.early())) > TOLERANCE:
        raise Mismatch(f"no character more than {_ms(TOLERANCE)} early", f"one {_ms(early)} early")
    if (late := sorted(seen.late())[len(seen.times) // 2]) > TOLERANCE:
        raise Mismatch(f"characters at most {_ms(TOLERANCE)} late", f"half of them {_ms(late)} late or more")


def come_one_by_one(seen: Arrivals) -> None:
    """Of characters that are sent in batches, most come together with the one before them."""
    together = sum(later - earlier < 0.25 / seen.pace for earlier, later in pairwise(seen.times))
    if together > (len(seen.times) - 1) / 2:
        raise Mismatch("characters one by one", f"{together} of {len(seen.times) - 1} together with the one before")


def do_not_drift(seen: Arrivals) -> None:
    """What delays some characters is no drift, which delays all at the end."""
    if not seen.times:
        raise Mismatch("a paced stream", "no event")
    if (late := min(seen.late()[-END:])) > TOLERANCE:
        raise Mismatch(f"the last {END} characters at most {_ms(TOLERANCE)} late", f"all {_ms(late)} late or more")
    if (early := max(seen.early()[-END:])) > TOLERANCE:
        raise Mismatch(f"the last {END} characters at most {_ms(TOLERANCE)} early", f"one {_ms(early)} early")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
