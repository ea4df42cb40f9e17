"""When a comparison stops, and which word each row gets, from its rounds in order. Pure, so it can be replayed.

Every claim is a bet that stays fair however often one looks (`statistics.evidence`), so a clear change ends a
comparison after few rounds, and no number of rounds has to be planned. A change is `worse` or `better` if its evidence
is convincing even for a run with many rows, and the change is more likely beyond the margin than not. `same` is the
opposite claim: there is evidence that the effect is smaller than the margin in both directions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Literal, TypeVar

from pushbench.judging.comparison import FEWEST_PAIRS, Contrast, Pair, contrast
from pushbench.judging.thresholds import Regression
from pushbench.statistics import signed_ranks
from pushbench.statistics.evidence import evidence

Word = Literal["better", "same", "worse", "unknown"]

CHANGE_ALPHA = 0.01
"""over all looks and all rows of a run together: how often a run without a change may have a row that is worse"""
BEYOND = 3.0
"""odds that the change is larger than the margin: a change as large as the margin, or a bias, is not called worse"""
SUSPICION_ALPHA = 0.05
"""over all looks, for one row: at this level a change is named, though it is not decided yet"""
SAME_ALPHA = 0.10
"""over all looks, for one row: how often a change as large as the margin may be called the same"""
STEADY_ERRORS = 1.0
"""how far inside the margin the mean of a row that is the same must be, in standard errors"""
ENOUGH_ROUNDS = 14
"""rounds that decide a change of a tenth, with the noise of docs/calibration.md"""
EVERY_ROUND_UNTIL = 16
"""from then on, a look after every second round: a look takes time, and one more round decides little"""

Key = TypeVar("Key")


@dataclass(frozen=True)
class Gated:
    """One judged metric: its pairs, by round, and the size from which a change counts."""

    pairs: Sequence[Pair]
    regression: Regression

    def until(self, round_: int) -> Contrast:
        """The pairs of the first rounds."""
        return contrast([pair for pair in self.pairs if pair.round <= round_], self.regression)


@dataclass(frozen=True)
class Decision:
    """The word for a row, and the look that decided it; `unknown` means that more rounds may decide."""

    word: Word = "unknown"
    rounds: int = 0
    """at the look that decided"""
    suspected: Literal["better", "worse"] | None = None
    """what the evidence suggests for this row alone, while it is too weak for one row of many"""


def looks(rounds: int) -> list[int]:
    """The numbers of rounds after which there is a look, at most `rounds`."""
    return [now for now in range(FEWEST_PAIRS, rounds + 1) if now <= EVERY_ROUND_UNTIL or now % 2 == 0]


def is_over(words: Collection[Word], rounds: int) -> bool:
    """Whether a comparison whose rows have these words ends: each row is decided, or one is worse and the others had
    enough rounds for a change of a tenth.
    """
    return "unknown" not in words or ("worse" in words and rounds >= ENOUGH_ROUNDS)


def rounds_until_over(rows: Mapping[Key, Gated], most: int, among: int | None = None) -> int:
    """The first look at which a comparison with these rows is over; `most` if there is none. The run has `among`
    rows in all, or no others.
    """
    words: dict[Key, Word] = dict.fromkeys(rows, "unknown")
    for now in looks(most):
        for row, gated in rows.items():
            seen = gated.until(now)
            found = claim(seen, among or len(rows)).word
            words[row] = found if found != "unknown" else _standing(words[row], seen)
        if is_over(words.values(), now):
            return now
    return most


def decide(rows: Mapping[Key, Gated], *, rounds: int, among: int | None = None) -> dict[Key, Decision]:
    """The decision on each row after `rounds`. The run has `among` rows in all, or no others."""
    return {row: _decide(gated, rounds, among or len(rows)) for row, gated in rows.items()}


def claim(seen: Contrast, rows: int) -> Decision:
    """What the rounds seen show about one row out of `rows`; the decision does not include their number."""
    if len(seen.differences) < FEWEST_PAIRS:
        return Decision()
    estimate = signed_ranks.centre(seen.differences)
    if abs(estimate) < seen.margin:
        return Decision("same") if _is_inside(seen) else Decision()
    word: Literal["better", "worse"] = "worse" if estimate > 0 else "better"
    toward = seen.differences if estimate > 0 else -seen.differences
    change = evidence(toward, seen.bias, seen.least_noise).above
    if change >= needed(rows) and evidence(toward, seen.margin, seen.least_noise).above >= log(BEYOND):
        return Decision(word, suspected=word)
    return Decision(suspected=word if change >= -log(SUSPICION_ALPHA) else None)


def needed(rows: int) -> float:
    """The logarithm of the evidence that is convincing for a change in one row out of `rows`."""
    return log(rows / CHANGE_ALPHA)


def _decide(gated: Gated, rounds: int, rows: int) -> Decision:
    """The last claim that a look made, as long as the estimate does not contradict it."""
    suspected = None
    for now in reversed(looks(rounds)):
        found = claim(gated.until(now), rows)
        suspected = suspected or found.suspected
        if found.word != "unknown":
            word = _standing(found.word, gated.until(rounds))
            return Decision(word, now if word != "unknown" else 0, suspected)
    return Decision(suspected=suspected)


def _standing(word: Word, seen: Contrast) -> Word:
    """A word from earlier rounds; `unknown` if the estimate of all rounds contradicts it."""
    if word == "unknown":
        return word
    estimate = signed_ranks.centre(seen.differences)
    now: Word = "worse" if estimate > 0 else "better"
    if abs(estimate) < seen.margin:
        now = "same" if _is_steady(seen) else "unknown"
    return word if word == now else "unknown"


def _is_inside(seen: Contrast) -> bool:
    """Whether there is evidence against a change as large as the margin, in both directions."""
    enough = -log(SAME_ALPHA)
    smaller = evidence(seen.differences, seen.margin, seen.least_noise).below >= enough
    larger = smaller and evidence(seen.differences, -seen.margin, seen.least_noise).above >= enough
    return larger and _is_steady(seen)


def _is_steady(seen: Contrast) -> bool:
    """Whether the mean is inside the margin, too: a change in some rounds moves it, but hardly moves the centre."""
    error = float(seen.differences.std(ddof=1)) / sqrt(len(seen.differences))
    return abs(float(seen.differences.mean())) + STEADY_ERRORS * error < seen.margin
