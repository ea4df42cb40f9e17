"""What more rounds of a comparison would say, from the noise of those that were played. Pure.

Both answers repeat the rounds that are there: their differences stand for those to come.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, sqrt

import numpy as np

from pushbench.foundation.text import counted
from pushbench.judging.comparison import FEWEST_PAIRS, Contrast
from pushbench.judging.sequential import claim
from pushbench.statistics import signed_ranks

CLEAR_ROUNDS = 8
"""that decide a doubled cost, and most rows that did not change"""
SMALL_ROUNDS = 14
"""that decide a change of a tenth, where the noise is that of docs/calibration.md"""
POWER_Z = 1.2816
"""normal quantile of 0.9: a change is visible when nine of ten comparisons would call it"""
LONGER = 1.25
"""each number of rounds that is tried, as a multiple of the one before"""
MOST_TIMES = 10
"""the rounds so far: what takes longer is not foreseen"""
FARTHEST = 1000.0
"""margins: larger changes are not looked for"""
FEWEST_KNOWN = 3
"""rounds: fewer do not show their noise"""
STEPS = 10
"""halvings in the search for the smallest visible change"""


def visible(seen: Contrast, rows: int, rounds: int) -> float | None:
    """The smallest effect that nine of ten comparisons with this noise would call, out of so many rows and rounds."""
    if len(seen.differences) < FEWEST_PAIRS:
        return None
    noise = seen.differences - signed_ranks.centre(seen.differences)
    many = np.resize(noise, max(rounds, len(noise)))
    unsure = POWER_Z * float(noise.std(ddof=1)) / sqrt(len(many))

    def called(shift: float) -> bool:
        return claim(replace(seen, differences=many + shift), rows).word == "worse"

    high = seen.margin
    while not called(high):
        high *= 2
        if high > FARTHEST * seen.margin:
            return None
    low = high / 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if called(middle) else (middle, high)
    return high + unsure


def rounds_to_decide(seen: Contrast, rows: int) -> int | None:
    """About how many rounds would decide; None where ten times as many would not."""
    count = len(seen.differences)
    rounds = max(FEWEST_PAIRS, count + 1)
    while count >= FEWEST_KNOWN and rounds <= MOST_TIMES * max(count, FEWEST_PAIRS):
        if claim(replace(seen, differences=np.resize(seen.differences, rounds)), rows).word != "unknown":
            return rounds
        rounds = ceil(LONGER * rounds)
    return None


def too_short(round_seconds: float, rounds: int) -> str:
    """A sentence where a comparison of so many rounds decides little, with the time that would do; else empty."""
    need = f"give --max-time {ceil(round_seconds * (SMALL_ROUNDS + 1) / 60)}m or more, which is for each server"
    if rounds < CLEAR_ROUNDS:
        return f"{counted(rounds, 'round')} can hardly decide anything: {need}"
    if rounds < SMALL_ROUNDS:
        return f"{rounds} rounds decide large changes alone: for one of 10 %, {need}"
    return ""
