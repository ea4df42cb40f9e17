"""Which runs of a combination go into which file: the recent ones together, older ones by their year. Pure.

The recent window begins at a multiple of 100 runs, so it has 500 to 599. Between two such steps a new run is appended
to the window and changes nothing else: old files keep their bytes, and in a git branch a new version of the window
costs what was appended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pushbench.records.runs import Head

RECENT = 500
STEP = 100


@dataclass(frozen=True)
class RunWindow:
    """Runs `begin` to before `end` of a combination, in one folder."""

    name: str
    """`recent`, or the year"""
    begin: int
    end: int
    version: str
    """digest over the runs: another one means that the files have to be made anew"""

    @property
    def recent(self) -> bool:
        return self.name == "recent"


def windows(heads: Sequence[Head]) -> list[RunWindow]:
    """The oldest first, without gaps; `recent` is the last one."""
    border = max(0, (len(heads) - RECENT) // STEP * STEP)
    found, begin = [], 0
    for year, runs in groupby(heads[:border], lambda head: head.created[:4]):
        end = begin + len(list(runs))
        found.append(_window(year, heads, begin, end))
        begin = end
    return [*_unique(found), _window("recent", heads, border, len(heads))]


def _window(name: str, heads: Sequence[Head], begin: int, end: int) -> RunWindow:
    # What lies before the window has a part in its levels: see `series.LEAD`.
    digest = hashlib.sha256(f"{name} {begin}".encode())
    for head in heads[max(0, begin - STEP) : end]:
        digest.update(f"{head.record} {head.bytes}\n".encode())
    return RunWindow(name, begin, end, digest.hexdigest()[:10])


def _unique(found: Sequence[RunWindow]) -> list[RunWindow]:
    """Runs are in the order of their ids; one whose clock was wrong may part a year in two, which get numbers."""
    names: dict[str, int] = {}
    unique = []
    for window in found:
        names[window.name] = number = names.get(window.name, 0) + 1
        name = window.name if number == 1 else f"{window.name}-{number}"
        unique.append(RunWindow(name, window.begin, window.end, window.version))
    return unique
