"""How each server is drawn: a colour, a dash and a marker, the same on every page whatever else is measured. Pure.

Colours alone cannot tell forty servers apart, least of all for colour-blind readers. Two servers of one colour differ
in the dash of their line or in the marker on it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

COLOURS, DASHES, MARKERS = 6, 4, 6
"""as many as the pages know: report-site/src/theme.ts"""
LOOKS = COLOURS * DASHES * MARKERS
LISTED = LOOKS // 2
"""the lines that the list may have; the other looks are those of servers that are not listed"""


class Look(NamedTuple):
    colour: int
    dash: int
    marker: int


def listed(text: str) -> list[str]:
    """The servers of report-site/looks.txt, in their order."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def looks(order: Sequence[str], servers: Iterable[str]) -> dict[str, Look]:
    """A listed server's look follows from its line, another one's from its name."""
    lines = {server: number for number, server in enumerate(order[:LISTED])}
    return {server: _look(lines.get(server, _by_name(server))) for server in sorted(set(servers))}


def _look(number: int) -> Look:
    """Colours change first, then dashes: charts have few lines, and those shall differ in what is seen best."""
    colour, pattern = number % COLOURS, number // COLOURS
    turn = pattern // (DASHES * MARKERS // 2)  # one turn has half of the pairs; the second is shifted by one
    return Look(colour, pattern % DASHES, (pattern + turn) % MARKERS)


def _by_name(server: str) -> int:
    digest = hashlib.sha256(server.encode()).digest()
    return LISTED + int.from_bytes(digest[:4], "big") % (LOOKS - LISTED)
