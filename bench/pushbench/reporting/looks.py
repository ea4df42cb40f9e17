"""How each server is drawn: a colour, a dash and a marker, the same whichever other servers are measured. Pure.

Colours alone do not distinguish forty servers, least of all for colour-blind readers. Two servers of one colour differ
in the dash of their line or in its marker.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

LIGHT = {
    "paper": "#ffffff",
    "ink": "#16191d",
    "muted": "#575d66",
    "rule": "#d9dce1",
    "shade": "#eef1f5",
    "bad": "#a3261b",
}
DARK = {
    "paper": "#14171b",
    "ink": "#e8eaed",
    "muted": "#a2a9b4",
    "rule": "#343a43",
    "shade": "#1f242b",
    "bad": "#ff9d91",
}
"""both as in report-site/src/style.css, for the pages"""
LIGHT_LINES = ("#5577ee", "#dd6688", "#116655", "#887722", "#2222bb", "#223300")
DARK_LINES = ("#8888ee", "#ee5588", "#99eecc", "#eeee33", "#ccccff", "#999911")
PATTERNS = ("", "8 4", "2 3", "9 3 2 3")
"""of dashes, as in report-site/src/theme.ts"""
COLOURS, DASHES, MARKERS = len(LIGHT_LINES), len(PATTERNS), 6
LOOKS = COLOURS * DASHES * MARKERS
LISTED = LOOKS // 2
"""the maximum number of lines in the list; servers that are not listed share the other looks"""


class Look(NamedTuple):
    colour: int
    dash: int
    marker: int


def marker(number: int, x: float, y: float, size: float = 3.4) -> str:
    """The outline of a marker around a point, as `markerPath` in report-site/src/theme.ts draws it."""
    left, right, top, bottom = (f"{each:g}" for each in (x - size, x + size, y - size, y + size))
    match number % MARKERS:
        case 0:
            return f"M{left} {y:g}a{size:g} {size:g} 0 1 0 {2 * size:g} 0a{size:g} {size:g} 0 1 0 {-2 * size:g} 0Z"
        case 1:
            return f"M{left} {top}H{right}V{bottom}H{left}Z"
        case 2:
            return f"M{x:g} {top}L{right} {bottom}H{left}Z"
        case 3:
            return f"M{x:g} {y - size - 1:g}L{x + size + 1:g} {y:g}L{x:g} {y + size + 1:g}L{x - size - 1:g} {y:g}Z"
        case 4:
            return f"M{left} {top}L{x:g} {y:g}L{right} {top}V{bottom}L{x:g} {y:g}L{left} {bottom}Z"
    far, near = size + 1, size / 3
    upright = f"M{x:g} {y - far:g}L{x + near:g} {y:g}L{x:g} {y + far:g}L{x - near:g} {y:g}Z"
    return f"{upright}M{x - far:g} {y:g}L{x:g} {y - near:g}L{x + far:g} {y:g}L{x:g} {y + near:g}Z"


def listed(text: str) -> list[str]:
    """The servers of report-site/looks.txt, in their order."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def read_listed(file: Path) -> list[str]:
    """The servers of such a file; none where it is missing."""
    return listed(file.read_text()) if file.is_file() else []


def looks(order: Sequence[str], servers: Iterable[str]) -> dict[str, Look]:
    """A listed server's look depends on its line, another server's look on its name."""
    lines = {server: number for number, server in enumerate(order[:LISTED])}
    return {server: _look(lines.get(server, _by_name(server))) for server in sorted(set(servers))}


def _look(number: int) -> Look:
    """Colours change first, then dashes: charts have few lines, which should differ in the most visible property."""
    colour, pattern = number % COLOURS, number // COLOURS
    turn = pattern // (DASHES * MARKERS // 2)  # one turn has half of the pairs; the second is shifted by one
    return Look(colour, pattern % DASHES, (pattern + turn) % MARKERS)


def _by_name(server: str) -> int:
    digest = hashlib.sha256(server.encode()).digest()
    return LISTED + int.from_bytes(digest[:4], "big") % (LOOKS - LISTED)
