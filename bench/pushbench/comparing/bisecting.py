"""Which commit a bisection compares next, when it is done, and how sure it is. Pure.

A comparison may be wrong or undecided, so no answer removes a commit for good. Each answer shifts the odds of which
commit is the first bad one (probabilistic bisection: Horstein, IEEE Transactions on Information Theory 9, 1963; Waeber,
Frazier and Henderson, SIAM Journal on Control and Optimization 51, 2013). The next commit is the one that splits the
odds best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, log1p
from typing import Literal

Word = Literal["worse", "same", "better", "unknown"]

CONFIDENCE = 0.9
"""confidence in the answer at which the search ends"""
FALSE_ALARM = 0.02
"""how often a commit like the good one is called `worse`; docs/calibration.md has counted fewer"""
MISSED = 0.05
"""how often a commit like the bad one is called `same`: half of what all looks of a comparison may spend"""
MOST_ODDS = 9.0
"""the most that an undecided comparison can count for or against its commit: stronger evidence would have decided it"""
NORMAL_95 = 1.96
MOST_TESTS = 3
"""comparisons of one commit: after three equal answers, a fourth would be the same"""
TELLING = 0.01
"""the least odds on either side of a commit that make a comparison worth its time"""
MOST_FORESEEN = 50
"""steps to look ahead"""


@dataclass(frozen=True)
class Seen:
    """What the comparison of a commit with the good one found. `change` and its 95 % interval are relative."""

    place: int
    """the place of the commit among the candidates, in their order"""
    word: Word
    change: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Search:
    """A bisection so far: one of `candidates` commits is the first bad one; the last of them is bad.

    `effect` is the change from the good commit to the bad one.
    """

    candidates: int
    effect: float
    seen: Sequence[Seen] = ()
    skipped: frozenset[int] = frozenset()
    """commits that cannot be compared"""

    def odds(self) -> list[float]:
        """The probability that each commit is the first bad one."""
        weights = [1.0] * self.candidates
        for each in self.seen:
            bad, good = likelihoods(each, self.effect)
            for first in range(self.candidates):
                weights[first] *= bad if first <= each.place else good
        total = sum(weights)
        return [weight / total for weight in weights]

    def next(self) -> int | None:
        """The commit to compare next; None when the search is done, or no comparison would add information."""
        odds = self.odds()
        if self.confidence(odds) >= CONFIDENCE:
            return None
        tests = Counter(each.place for each in self.seen)
        best, place = TELLING, None
        before = 0.0
        for candidate in range(self.candidates - 1):
            before += odds[candidate]
            split = min(before, 1 - before)
            if candidate not in self.skipped and tests[candidate] < MOST_TESTS and split > best:
                best, place = split, candidate
        return place

    def culprits(self, odds: Sequence[float] | None = None) -> list[int]:
        """The most probable commit, with the skipped ones before it, which comparisons cannot tell apart from it."""
        odds = self.odds() if odds is None else odds
        groups = self._groups()
        return max(groups, key=lambda group: sum(odds[place] for place in group))

    def confidence(self, odds: Sequence[float] | None = None) -> float:
        odds = self.odds() if odds is None else odds
        return sum(odds[place] for place in self.culprits(odds))

    def is_sure(self) -> bool:
        return self.confidence() >= CONFIDENCE

    def steps_left(self) -> int:
        """How many comparisons are left, if the most probable commit is the first bad one and no answer is wrong."""
        found, steps, first_bad = self, 0, self.culprits()[-1]
        while steps < MOST_FORESEEN and (place := found.next()) is not None:
            seen = Seen(place, "worse" if place >= first_bad else "same")
            found, steps = replace(found, seen=[*found.seen, seen]), steps + 1
        return steps

    def _groups(self) -> list[list[int]]:
        """Groups of commits that comparisons can tell apart: a skipped commit belongs to the next one not skipped."""
        groups: list[list[int]] = [[]]
        for place in range(self.candidates):
            groups[-1].append(place)
            if place not in self.skipped and place + 1 < self.candidates:
                groups.append([])
        return groups


def likelihoods(seen: Seen, effect: float) -> tuple[float, float]:
    """The probability of the answer for a commit that has the effect, and for one that does not."""
    if seen.word == "worse":
        return 1 - MISSED, FALSE_ALARM
    if seen.word in ("same", "better"):
        return MISSED, 1 - FALSE_ALARM
    if seen.change is None or seen.low is None or seen.high is None or min(seen.low, seen.change, effect) <= -1:
        return 1.0, 1.0
    found, whole = log1p(seen.change), log1p(effect)
    error = (log1p(seen.high) - log1p(seen.low)) / (2 * NORMAL_95)
    if error <= 0:
        return 1.0, 1.0
    most = log(MOST_ODDS)
    exponent = (found**2 - (found - whole) ** 2) / (2 * error**2)
    return exp(min(most, max(-most, exponent))), 1.0
