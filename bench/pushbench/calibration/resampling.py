"""Comparisons drawn from campaigns that ran to their end. Pure.

A draw takes one campaign and blocks of neighbouring rounds from it. So a disturbance of a minute appears in the drawn
comparison, and a difference between two builds or two sittings stays in all of its rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf

import numpy as np
from numpy.typing import NDArray

from pushbench.calibration.faults import TARGETS
from pushbench.judging.changes import Row, rows
from pushbench.judging.comparison import Pair
from pushbench.judging.sequential import Gated, Word, decide, rounds_until_over
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.records.record import Record, Trial

BLOCK_SECONDS = 60.0
"""of neighbouring rounds: longer than a burst of other work, and short enough for many in a campaign"""
RUN_SECONDS = 600.0
"""time limit of a comparison, which determines the number of rounds of a resampled one"""


@dataclass(frozen=True)
class Run:
    """One comparison of one server."""

    words: Mapping[Row, Word]
    rounds: int
    most_rounds: int


@dataclass(frozen=True)
class Campaign:
    """A campaign with one server, to draw from."""

    pairs: Mapping[Row, Mapping[int, Pair]]
    """by round"""
    regressions: Mapping[Row, Regression]
    round_seconds: float
    """of wall time for one of its rounds; several may have run at the same time"""

    @property
    def most_rounds(self) -> int:
        """The number of such rounds that fit into a comparison."""
        return int(RUN_SECONDS / self.round_seconds)

    @property
    def block(self) -> int:
        """The number of neighbouring rounds that are drawn together."""
        return max(1, round(BLOCK_SECONDS / self.round_seconds))

    @property
    def blocks(self) -> int:
        """The number of blocks of neighbouring rounds; a short campaign is one block."""
        last = max((max(pairs, default=0) for pairs in self.pairs.values()), default=0)
        return max(1, last - self.block + 1)

    def play(self, random: np.random.Generator, *, swapped: bool, factor: float) -> Run:
        """A comparison from randomly drawn blocks."""
        drawn: dict[Row, list[Pair]] = {row: [] for row in self.pairs}
        for first in range(1, self.most_rounds + 1, self.block):
            begin = 1 + int(random.integers(self.blocks))
            for number in range(first, min(first + self.block, self.most_rounds + 1)):
                for row, pairs in self.pairs.items():
                    if pair := pairs.get(begin + number - first):
                        drawn[row].append(_taken(pair, number, row, factor, swapped=swapped))
        played = {row: Gated(pairs, self.regressions[row]) for row, pairs in drawn.items()}
        rounds = rounds_until_over(played, self.most_rounds)
        words = {row: decision.word for row, decision in decide(played, rounds=rounds).items()}
        return Run(words, rounds, self.most_rounds)


@dataclass(frozen=True)
class Pool:
    """Campaigns with one server."""

    campaigns: Sequence[Campaign]

    def play(self, random: np.random.Generator, *, swap: bool, factor: float = 1.0) -> Run:
        """A comparison from blocks of one campaign, which is drawn in proportion to its blocks. If both arms are alike,
        chance selects the head, for all rounds.
        """
        weights = self._weights
        campaign = self.campaigns[int(random.choice(len(weights), p=weights / weights.sum()))]
        return campaign.play(random, swapped=swap and bool(random.integers(2)), factor=factor)

    @property
    def _weights(self) -> NDArray[np.float64]:
        return np.array([campaign.blocks for campaign in self.campaigns], dtype=float)

    @property
    def independent(self) -> float:
        """The equivalent number of campaigns of equal length (Kish 1965: the effective size of a sample)."""
        return float(self._weights.sum() ** 2 / (self._weights**2).sum())


def pooled(records: Sequence[Record], server: str, thresholds: Thresholds) -> Pool:
    """The rounds of one server in campaigns that ran to their end."""
    return Pool([_campaign(record, server, thresholds) for record in records])


def _campaign(record: Record, server: str, thresholds: Thresholds) -> Campaign:
    own = {row: gated for row, gated in rows(record, thresholds).items() if row.server == server}
    return Campaign(
        pairs={row: {pair.round: pair for pair in gated.pairs} for row, gated in own.items()},
        regressions={row: gated.regression for row, gated in own.items()},
        round_seconds=_round_seconds([trial for trial in record.trials if trial.server == server]),
    )


def _round_seconds(trials: Sequence[Trial]) -> float:
    """The average seconds of a round: the time in which any trial ran, over the number of rounds."""
    lasted = 0.0
    until = -inf
    for trial in sorted(trials, key=lambda trial: trial.started):
        begin = datetime.fromisoformat(trial.started).timestamp()
        lasted += max(0.0, begin + trial.seconds - max(begin, until))
        until = max(until, begin + trial.seconds)
    return lasted / len({trial.round for trial in trials})


def _taken(pair: Pair, number: int, row: Row, factor: float, *, swapped: bool) -> Pair:
    taken = replace(pair, round=number)
    if swapped:
        taken = Pair(number, pair.head, pair.base, pair.head_control, pair.base_control)
    return replace(taken, head=taken.head * factor) if TARGETS["burn"].fullmatch(row.metric) else taken
