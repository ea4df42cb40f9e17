"""When a comparison stops, and which word each row gets, from its rounds in order. Pure, so it can be replayed.

The rounds are tested at several looks, which share one budget (Lan and DeMets, Biometrika 70, 1983, with their function
like Pocock's). A change is first suspected: among all metrics together, by Benjamini and Hochberg, and by at least the
margin. Then later rounds, which the suspicion did not use, have to confirm it. `same` is the opposite claim, and as
hard to make: two one-sided tests show that the effect is inside the margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import e, log
from typing import Literal, TypeVar

from pushbench.judging.comparison import Contrast, Pair, contrast
from pushbench.judging.thresholds import Regression
from pushbench.statistics import signed_ranks

Word = Literal["better", "same", "worse", "unknown"]

SUSPICION_ALPHA = 0.05
"""two-sided, over all looks and all metrics of a run: with the confirmation below far under 1 % of runs"""
CONFIRMATION_ALPHA = 0.10
"""one-sided, over all looks at fresh rounds"""
SAME_ALPHA = 0.10
"""over all looks, for one metric: so often may a change as large as the margin be called the same"""
FIRST_LOOK = 6
"""rounds: fewer cannot say anything at these levels"""
LOOK_EVERY = 2
CONFIRMING_ROUNDS = 5
"""at least: with fewer, all of one sign is no rarer than 1 in 16"""

Key = TypeVar("Key")


@dataclass(frozen=True)
class Gated:
    """One judged metric: its pairs, by round, and the size from which a change counts."""

    pairs: Sequence[Pair]
    regression: Regression

    def between(self, after: int, until: int) -> Contrast:
        """The pairs of the rounds `after` < round <= `until`."""
        chosen = [pair for pair in self.pairs if after < pair.round <= until]
        return contrast(chosen, self.regression)


@dataclass(frozen=True)
class Decision:
    """The word for a row, and the look that decided it; `unknown` means that more rounds may decide."""

    word: Word = "unknown"
    rounds: int = 0
    """at the look that decided"""
    suspected: Literal["better", "worse"] | None = None
    suspected_at: int = 0
    """rounds at the look that raised the suspicion; later ones are fresh"""


@dataclass
class _Budget:
    """A significance level that is spent over looks. A look that cannot find anything spends nothing."""

    total: float
    spent: float = 0.0

    def level(self, fraction: float, smallest_p: float) -> float:
        """The level that may be spent now, at the given `fraction` of the way to the last look."""
        available = self.total * log(1 + (e - 1) * min(fraction, 1.0)) - self.spent
        if available < smallest_p:
            return 0.0
        self.spent += available
        return available


def looks(most: int) -> list[int]:
    """The numbers of rounds after which to test, at most `most`, which is the last one; empty while that is unknown."""
    return [*range(FIRST_LOOK, most, LOOK_EVERY), most] if most else []


def decide(rows: Mapping[Key, Gated], *, rounds: int, most: int) -> dict[Key, Decision]:
    """The decision on each row after `rounds` of at most `most` rounds."""
    state = {row: _Course() for row in rows}
    suspicion = _Budget(SUSPICION_ALPHA)
    for now in looks(most):
        if now > rounds or not any(course.open for course in state.values()):
            break
        seen = {row: gated.between(0, now) for row, gated in rows.items()}
        _confirm(rows, state, now, most)
        _suspect(seen, state, suspicion, now, most)
        _find_same(seen, state, now, most)
    return {row: course.decision for row, course in state.items()}


@dataclass
class _Course:
    decision: Decision = field(default_factory=Decision)
    same: _Budget = field(default_factory=lambda: _Budget(SAME_ALPHA))
    confirmation: _Budget = field(default_factory=lambda: _Budget(CONFIRMATION_ALPHA))

    @property
    def open(self) -> bool:
        return self.decision.word == "unknown"


def _confirm(rows: Mapping[Key, Gated], state: Mapping[Key, _Course], now: int, most: int) -> None:
    for row, course in state.items():
        found = course.decision
        if not (course.open and found.suspected):
            continue
        fresh = rows[row].between(found.suspected_at, now)
        count = len(fresh.differences)
        if count < CONFIRMING_ROUNDS:
            continue
        fraction = (now - found.suspected_at) / (most - found.suspected_at)
        level = course.confirmation.level(fraction, signed_ranks.smallest_p(count))
        sign = 1.0 if found.suspected == "worse" else -1.0
        large = sign * signed_ranks.centre(fresh.differences) >= fresh.margin
        if large and signed_ranks.p_greater(sign * fresh.differences) <= level:
            course.decision = replace(found, word=found.suspected, rounds=now)


def _suspect(seen: Mapping[Key, Contrast], state: Mapping[Key, _Course], budget: _Budget, now: int, most: int) -> None:
    smallest = min((2 * signed_ranks.smallest_p(len(each.differences)) for each in seen.values()), default=1.0)
    level = budget.level(now / most, smallest * len(seen))
    p = {
        row: 2 * min(signed_ranks.p_greater(each.differences), signed_ranks.p_less(each.differences))
        for row, each in seen.items()
    }
    for row in _benjamini_hochberg(p, level):
        course, each = state[row], seen[row]
        if course.open and course.decision.suspected is None:
            estimate = signed_ranks.centre(each.differences)
            if abs(estimate) >= each.margin:
                direction: Literal["better", "worse"] = "worse" if estimate > 0 else "better"
                course.decision = Decision(suspected=direction, suspected_at=now)


def _find_same(seen: Mapping[Key, Contrast], state: Mapping[Key, _Course], now: int, most: int) -> None:
    for row, course in state.items():
        if not course.open:
            continue
        differences, margin = seen[row].differences, seen[row].margin
        level = course.same.level(now / most, signed_ranks.smallest_p(len(differences)))
        inside = max(signed_ranks.p_less(differences, margin), signed_ranks.p_greater(differences, -margin))
        if inside <= level:
            course.decision = Decision("same", rounds=now)


def _benjamini_hochberg(p: Mapping[Key, float], level: float) -> list[Key]:
    """The rows that are rejected at a false discovery rate of `level`."""
    ordered = sorted(p, key=lambda row: p[row])
    passing = [rank for rank, row in enumerate(ordered, 1) if p[row] <= level * rank / len(ordered)]
    return ordered[: max(passing, default=0)]
