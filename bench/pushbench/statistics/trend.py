"""Where the level of a series changed, and how far its values usually scatter around it. Pure.

Levels are found by optimal partitioning of the logarithms, so that a change of a tenth counts the same at any height.
The ranks of the values around a level change must confirm it, because partitioning alone also splits a drift.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushbench.statistics.middle import middle
from pushbench.statistics.partition import partition
from pushbench.statistics.rank_sums import p_differ

SHORTEST_LEVEL = 5
"""runs: with fewer on one side, ranks cannot reach the level ALPHA"""
PENALTY = 3.0
"""times the noise's variance and the logarithm of the length, as in BIC for a mean and its place"""
AROUND = 30
"""runs on either side that confirm a change: older ones may belong to a drift"""
ALPHA = 0.001
"""of the ranks, multiplied by the number of places where a change could have been"""
MAD_TO_SIGMA = 1.4826
"""standard deviation of normal values with this median absolute deviation"""
BAND_RUNS = 20
"""runs of the current level that form the band"""
RECENT = 100
"""runs to search for the beginning of the current level"""
BAND_SIGMAS = 3.0
OUTLIER_SIGMAS = 4.0
"""single values beyond this are moved to it before the search for levels: one disturbed run is no level"""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """The level went from `before` to `after` between `index - 1` and `index`; `p` is that of their ranks."""

    index: int
    before: float
    after: float
    p: float

    @property
    def ratio(self) -> float:
        return self.after / self.before


@dataclass(frozen=True)
class Band:
    """Where the next value of the current level should lie."""

    low: float
    level: float
    high: float
    runs: int


def changes(values: Sequence[float]) -> list[Change]:
    """The level changes of a series of values above 0, the oldest first."""
    found = np.asarray(values, dtype=float)
    if len(found) < 2 * SHORTEST_LEVEL or found.min() == found.max():
        return []
    logs = np.log(found)
    borders = [0, *_partition(_without_outliers(logs)), len(logs)]
    confirmed: list[Change] = []
    begin = 0
    for border, end in itertools.pairwise(borders[1:]):
        before, after = found[max(begin, border - AROUND) : border], found[border : min(end, border + AROUND)]
        p = p_differ(before, after) * (len(found) / SHORTEST_LEVEL)
        if p <= ALPHA:
            confirmed.append(Change(border, middle(before), middle(after), p))
            begin = border
    return confirmed


@dataclass(frozen=True)
class Level:
    """The values from `begin` up to `end`, without it, have one level; its band is None if they are too few."""

    begin: int
    end: int
    band: Band | None


def levels(values: Sequence[float], found: Sequence[Change]) -> list[Level]:
    """The levels between the changes `found` in a series, each with the band that its last value lay in or left."""
    borders = [0, *(change.index for change in found), len(values)]
    return [
        Level(begin, end, _band_of_level(values[begin:end]))
        for begin, end in itertools.pairwise(borders)
        if begin < end
    ]


def band(values: Sequence[float]) -> Band | None:
    """The band of the last runs of the current level; None if they are too few. Only the last `RECENT` runs are
    searched for that level. With values of 0, which have no logarithm, all of them count as one level.
    """
    values = values[-RECENT:]
    last = changes(values) if min(values, default=0) > 0 else []
    return _band_of_level(values[last[-1].index if last else 0 :])


def _band_of_level(values: Sequence[float]) -> Band | None:
    level = np.asarray(values[-BAND_RUNS:], dtype=float)
    if len(level) < SHORTEST_LEVEL:
        return None
    if min(values) <= 0:
        return _linear_band(level)
    logs = np.log(level)
    centre = middle(logs)
    spread = BAND_SIGMAS * MAD_TO_SIGMA * middle(np.abs(logs - centre))
    return Band(float(np.exp(centre - spread)), float(np.exp(centre)), float(np.exp(centre + spread)), len(level))


def _linear_band(level: Values) -> Band:
    centre = middle(level)
    spread = BAND_SIGMAS * MAD_TO_SIGMA * middle(np.abs(level - centre))
    return Band(centre - spread, centre, centre + spread, len(level))


def _partition(logs: Values) -> list[int]:
    noise = MAD_TO_SIGMA * middle(np.abs(np.diff(logs))) / np.sqrt(2)
    if noise == 0:
        noise = 1e-9
    return partition(logs / noise, PENALTY * np.log(len(logs)), SHORTEST_LEVEL)


def _without_outliers(logs: Values) -> Values:
    """The values with outliers clipped, relative to the median of the five around each."""
    padded = np.pad(logs, 2, mode="edge")
    local = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    off = logs - local
    noise = MAD_TO_SIGMA * middle(np.abs(off))
    return local + np.clip(off, -OUTLIER_SIGMAS * noise, OUTLIER_SIGMAS * noise)
