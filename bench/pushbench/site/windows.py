"""Which runs of a combination belong in which file: recent ones together, older ones by year. Pure.

The recent window begins at a multiple of 100 runs, so it has 500 to 599. Between two such steps, a new run is appended
to the window and changes nothing else. Old files stay identical, and in a git branch a new version of the window costs
only the appended part.
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
    """Runs from `begin` up to but excluding `end` of a combination, in one folder."""

    name: str
    """`recent`, or the year"""
    begin: int
    end: int
    version: str
    """digest of the runs: if it changes, the files have to be rebuilt"""

    @property
    def recent(self) -> bool:
        return self.name == "recent"


def windows(heads: Sequence[Head]) -> list[RunWindow]:
    """The windows, oldest first, without gaps; `recent` is the last one."""
    border = max(0, (len(heads) - RECENT) // STEP * STEP)
    found, begin = [], 0
    for year, runs in groupby(heads[:border], lambda head: head.created[:4]):
        end = begin + len(list(runs))
        found.append(_window(year, heads, begin, end))
        begin = end
    return [*_unique(found), _window("recent", heads, border, len(heads))]


def _window(name: str, heads: Sequence[Head], begin: int, end: int) -> RunWindow:
    # Runs before the window affect its levels: see `series.LEAD`.
    digest = hashlib.sha256(f"{name} {begin}".encode())
    for head in heads[max(0, begin - STEP) : end]:
        digest.update(f"{head.record} {head.bytes}\n".encode())
    return RunWindow(name, begin, end, digest.hexdigest()[:10])


def _unique(found: Sequence[RunWindow]) -> list[RunWindow]:
    """The windows with unique names. Runs are in order of their ids, so a wrong clock may split a year into several
    windows, which get numbers.
    """
    names: dict[str, int] = {}
    unique = []
    for window in found:
        names[window.name] = number = names.get(window.name, 0) + 1
        name = window.name if number == 1 else f"{window.name}-{number}"
        unique.append(RunWindow(name, window.begin, window.end, window.version))
    return unique
