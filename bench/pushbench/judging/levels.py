"""The word for a run from the runs before it, compared with the last accepted level rather than with the level that the
series has drifted to. Pure.

The accepted level is that of the first runs, or of the first runs after a line of `thresholds.yml` that accepts them. A
lasting improvement becomes the accepted level by itself; a regression never does. `worse` needs evidence from the
newest runs that is convincing even for a run with many rows, so one disturbed run is no regression. `same` needs a
history with a band no wider than the margin. Everything else is `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushbench.judging.comparison import LEAST_NOISE, TINY
from pushbench.judging.sequential import BEYOND, SUSPICION_ALPHA, Word, needed
from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better
from pushbench.statistics.evidence import Evidence
from pushbench.statistics.middle import middle
from pushbench.statistics.shifts import shifted
from pushbench.statistics.trend import BAND_SIGMAS, MAD_TO_SIGMA, SHORTEST_LEVEL, changes

Values = NDArray[np.float64]
Suspected = Literal["better", "worse"] | None

ACCEPTED_RUNS = 20
"""runs that make the accepted level"""
WINDOWS = (1, 2, 3, 5, 8, 13)
"""numbers of newest runs to compare with it: few show a large step at once, many show a small one"""
BLOCK_RUNS = 10
"""runs that are searched together for a lasting improvement"""
SAME_QUANTILE = 1.2816
"""of the normal distribution at 90 %: how often a change as large as the margin is not called the same"""


@dataclass(frozen=True)
class Accepted:
    """The accepted level in base units, and the band in which single runs of it lie."""

    level: float
    low: float
    high: float
    begin: int
    end: int
    """`begin` and `end` are the places of its runs in the series"""

    @property
    def runs(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True)
class Standing:
    """Where a run stands against the accepted level."""

    word: Word = "unknown"
    accepted: Accepted | None = None
    """None if there are too few runs"""
    margin: float | None = None
    """in base units"""
    suspected: Suspected = None
    """the apparent change; it becomes the word only if it is certain enough for one row of many"""
    newest: int = 0
    """the number of newest runs, including this one, that show the change most clearly; 0 if none do"""
    now: float | None = None
    """the level of these runs, in base units"""


def standing(
    past: Sequence[float],
    value: float | None,
    regression: Regression,
    rows: int,
    *,
    begin: int = 0,
    instead: tuple[Accepted, float] | None = None,
) -> Standing:
    """The standing of `value` after the runs of `past`, as one row out of `rows`. The runs before `begin` do not count;
    `instead` has an accepted level with its noise, and the level that replaces it.
    """
    scale = _Scale.of(past[begin:], value, regression)
    series = scale.values(past)
    found = (instead[0].begin, instead[0].end) if instead else _accepted(series, begin, scale, rows)
    if found is None:
        return Standing()
    first, end = found
    if instead:
        series[first:end] += scale.values([instead[1]])[0] - middle(series[first:end])
    reference = series[first:end]
    seen = _Seen.of(reference, scale)
    accepted = Accepted(*seen.band(scale), first, end)
    margin = scale.margin_in_units(accepted.level)
    if value is None:
        return Standing("unknown", accepted, margin)
    now = float(scale.values([value])[0]) - seen.level
    if seen.is_same(now):
        return Standing("same", accepted, margin)
    word, suspected, shift = _changed(np.append(series, scale.values([value])), seen, found, rows)
    if shift is None:
        return Standing(word, accepted, margin)
    if (shorter := len(series) + 1 - shift.runs) < end:  # a young history: its newest runs are outside the level
        accepted = Accepted(*_Seen.of(series[first:shorter], scale).band(scale), first, shorter)
    return Standing(word, accepted, margin, suspected, shift.runs, scale.back(seen.level + shift.estimate))


class _Scale(NamedTuple):
    """Logarithms if every value is above 0, otherwise base units; oriented: more is worse."""

    logarithmic: bool
    sign: float
    regression: Regression

    @classmethod
    def of(cls, past: Sequence[float], value: float | None, regression: Regression) -> _Scale:
        positive = min(past, default=0.0) > 0 and (value is None or value > 0)
        return cls(positive, 1.0 if regression.better is Better.LOWER else -1.0, regression)

    def values(self, values: Sequence[float]) -> Values:
        found = np.asarray(values, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):  # of runs that do not count
            return self.sign * (np.log(found) if self.logarithmic else found)

    def back(self, value: float) -> float:
        """In base units."""
        return float(np.exp(self.sign * value)) if self.logarithmic else self.sign * value

    def margin_in_units(self, level: float) -> float:
        return max(self.regression.margin * level, self.regression.floor)

    def margin(self, level: float) -> float:
        """The distance from a level at which a change counts, both on this scale."""
        units = self.back(level)
        margin = self.margin_in_units(units)
        return float(np.log1p(margin / units)) if self.logarithmic else margin


class _Seen(NamedTuple):
    """The values of the accepted level on their scale, its centre, their noise, and the margin."""

    values: Values
    level: float
    noise: float
    margin: float

    @classmethod
    def of(cls, values: Values, scale: _Scale) -> _Seen:
        level = middle(values)
        return cls(values, level, _noise(values), scale.margin(level))

    @property
    def least_noise(self) -> float:
        return max(LEAST_NOISE * self.margin, TINY)

    def band(self, scale: _Scale) -> tuple[float, float, float]:
        """Level, low and high in base units."""
        wide = BAND_SIGMAS * self.noise
        ends = scale.back(self.level - wide), scale.back(self.level + wide)
        return scale.back(self.level), min(ends), max(ends)

    def is_same(self, now: float) -> bool:
        """Whether one more value at this distance from the level excludes a change as large as the margin. It does if
        the band is no wider than the margin, by a prediction interval (Hahn and Meeker, Statistical Intervals, 1991).
        """
        count = len(self.values)
        noise = max(self.noise, self.least_noise)
        allowed = self.margin - _quantile(count - 1) * noise * sqrt(1 + 1 / count)
        return BAND_SIGMAS * self.noise <= self.margin and (now == 0 or abs(now) < allowed)

    def is_outside(self, now: float) -> bool:
        return abs(now) >= self.margin and abs(now) > BAND_SIGMAS * self.noise


def _noise(values: Values) -> float:
    return MAD_TO_SIGMA * middle(np.abs(values - middle(values)))


def _quantile(freedom: int) -> float:
    """Student's quantile at 90 %, by its expansion (Abramowitz and Stegun, 26.7.5)."""
    z = SAME_QUANTILE
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _accepted(series: Values, begin: int, scale: _Scale, rows: int) -> tuple[int, int] | None:
    """The runs of the accepted level: the first runs of one level from `begin` on, or of the last improvement."""
    found = _first_level(series, begin, scale, rows)
    while found and (better := _improved(series, found, scale, rows)) is not None:
        found = _first_level(series, better, scale, rows)
    return found


def _first_level(series: Values, begin: int, scale: _Scale, rows: int) -> tuple[int, int] | None:
    """The first runs from `begin` on, until their level changes."""
    runs = series[begin : begin + 2 * ACCEPTED_RUNS]
    if len(runs) < SHORTEST_LEVEL:
        return None
    found = changes(np.exp(runs - runs[0]).tolist()) if scale.logarithmic else []
    end = min(ACCEPTED_RUNS, len(runs), *(change.index for change in found[:1]))
    return begin, begin + _until_shift(runs[:end], scale, rows)


def _until_shift(runs: Values, scale: _Scale, rows: int) -> int:
    """The number of runs before the clearest shift by the margin, which may be too recent to be its own level."""
    seen = _Seen.of(runs, scale)
    counts = np.arange(1, len(runs))
    sums = np.cumsum(runs)
    moved = np.abs((sums[-1] - sums[:-1]) / (len(runs) - counts) - sums[:-1] / counts) >= seen.margin
    found = {
        int(count): max(shifted(runs[:count], runs[count:], 0.0, seen.least_noise))
        for count in counts[moved]
        if count >= SHORTEST_LEVEL
    }
    best = max(found, key=lambda count: found[count], default=len(runs))
    return best if found and found[best] >= needed(rows) + log(len(found)) else len(runs)


def _improved(series: Values, accepted: tuple[int, int], scale: _Scale, rows: int) -> int | None:
    """The first run of a level after the accepted one that is surely better by the margin and lasts for two blocks."""
    first, end = accepted
    count = (len(series) - end) // BLOCK_RUNS
    if count < 2:
        return None
    seen = _Seen.of(series[first:end], scale)
    blocks = series[end : end + count * BLOCK_RUNS].reshape(count, BLOCK_RUNS)
    below = np.median(blocks, axis=1) <= seen.level - seen.margin
    for block in np.flatnonzero(below[:-1] & below[1:]):
        for values in blocks[block : block + 2]:
            if shifted(seen.values, values, 0.0, seen.least_noise).below < needed(rows):
                break
        else:
            return int(end + block * BLOCK_RUNS)
    return None


class _Shift(NamedTuple):
    """What a window of the newest runs shows."""

    runs: int
    estimate: float
    """how far their level is from the accepted one"""
    evidence: float
    is_beyond: bool
    """whether a change larger than the margin is more likely than not, by odds of three to one"""


def _changed(
    series: Values, seen: _Seen, accepted: tuple[int, int], rows: int
) -> tuple[Word, Suspected, _Shift | None]:
    """`worse` or `better` if the newest runs are convincing, else what they suggest. `series` ends with this run."""
    now = float(series[-1]) - seen.level
    sign = 1.0 if now > 0 else -1.0
    word: Literal["better", "worse"] = "worse" if now > 0 else "better"
    shifts = list(_shifts(series, seen, accepted, sign))
    if not shifts:
        return "unknown", None, None
    mixed = float(np.logaddexp.reduce([each.evidence for each in shifts])) - log(len(WINDOWS))
    best = max(shifts, key=lambda each: each.evidence)
    lasts = sign * now >= sign * best.estimate / 2
    if mixed >= needed(rows) and best.is_beyond and lasts:
        return word, word, best
    suspicious = lasts and (mixed >= -log(SUSPICION_ALPHA) or seen.is_outside(now))
    return "unknown", word if suspicious else None, best if suspicious else None


def _shifts(series: Values, seen: _Seen, accepted: tuple[int, int], sign: float) -> Iterator[_Shift]:
    """The windows of newest runs with a level at least as far off as the margin. The mean of fair bets is a fair bet,
    so all windows together cost no more than their number.
    """
    first, end = accepted
    for runs in WINDOWS:
        before, after = series[first : min(end, len(series) - runs)], series[-runs:]
        estimate = middle(after) - seen.level
        if len(before) < SHORTEST_LEVEL or sign * estimate < seen.margin:
            continue
        change = _toward(sign, shifted(before, after, 0.0, seen.least_noise))
        beyond = _toward(sign, shifted(before, after, sign * seen.margin, seen.least_noise))
        yield _Shift(runs, estimate, change, beyond >= log(BEYOND))


def _toward(sign: float, found: Evidence) -> float:
    return found.above if sign > 0 else found.below
