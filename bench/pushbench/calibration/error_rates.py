"""How often the judge is right: counted over real comparisons with a known answer, and over resampled ones. Pure.

Resampling draws a complete campaign and then blocks of neighbouring rounds of it alone. So a disturbance of minutes
appears in the resampled comparison, and what two builds or two sittings differ by stays in all of its rounds. Draws
from one campaign are not independent: intervals count campaigns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from pathlib import Path
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from pushbench.calibration.faults import ALIKE
from pushbench.calibration.rates import Rate, rate
from pushbench.calibration.simulated import Simulated
from pushbench.calibration.simulated_history import SimulatedHistory
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.judging.changes import Row, decisions, rows
from pushbench.judging.comparison import Pair
from pushbench.judging.sequential import Gated, Word, decide, rounds_until_decided
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.records.record import Record, StageResult, Trial

BLOCK_SECONDS = 60.0
"""of neighbouring rounds: longer than a burst of other work, shorter than a campaign has many of"""
RUN_SECONDS = 600.0
"""what a comparison may take, which says how many rounds a resampled one has"""

TARGETS: Mapping[str, re.Pattern[str]] = {
    "burn": re.compile(r"cpu_seconds_per_\w+"),
    "delay": re.compile(r"(?!connect|lateness)\w+_seconds\.(p50|p95)"),
    "loss": re.compile(r"loss_ratio"),
    "leak": re.compile(r"memory_bytes\.peak"),
}
"""the metrics in which a fault has to be noticed, any of them"""


How = Literal["real", "resampled", "resampled and scaled", "this site"]


class Case(Document):
    """Comparisons of one server with one injected fault."""

    server: str
    injected: str = Field(description="the fault; `none` for a server against itself")
    how: How = Field(
        description="scaled: a server against itself, the head's CPU per unit of work multiplied; this site: real ones "
        "that the site has the records of"
    )
    arms: str | None = Field(
        None, description="of scaled ones: what the arms of the drawn campaigns differ by, as `injected` names it"
    )
    runs: NonNegativeInt
    campaigns: float | None = Field(
        None, description="independent ones behind the runs, weighed by their rounds; null where each run is one"
    )
    rounds: float = Field(description="median of those that a run took")
    most_rounds: NonNegativeInt = Field(description="that a run had time for")
    words: dict[Word, NonNegativeInt] = Field(description="runs by the worst word of what the fault changes")
    failed: Rate = Field(description="runs in which any metric was called worse")


class Calibration(Document):
    """The judge's answers to comparisons whose answer is known."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    environments: list[str] = Field(description="keys of those that the comparisons ran in")
    thresholds_digest: str
    cases: list[Case]
    records: list[str] = Field(default=[], description="ids of the real comparisons")
    simulated: list[Simulated] = Field(default=[], description="comparisons with noise of a known kind")
    histories: list[SimulatedHistory] = Field(default=[], description="runs after histories with noise of a known kind")


def calibrate(
    records: Sequence[Record], thresholds: Thresholds, *, runs: int, scaled: Sequence[float] = (), seed: int = 1
) -> Calibration:
    """Calibrate the judge. `runs` is the number to resample for each server and fault, `scaled` the factors for servers
    against themselves.
    """
    of_calibration = [record for record in records if record.comparison and record.comparison.injected]
    fixed = [record for record in of_calibration if record.comparison and record.comparison.fixed]
    ended = _ended(of_calibration)
    random = np.random.default_rng(seed)
    return Calibration(
        environments=sorted({record.environment.key for record in of_calibration}),
        thresholds_digest=thresholds.digest,
        cases=[*_real(ended, thresholds), *_resampled(fixed, thresholds, runs, scaled, random)],
        records=sorted({record.id for record in ended}),
    )


def compact(record: Record) -> Record:
    """The part of a record for calibrating, some kilobytes per trial: no histograms, no timelines, five digits."""

    def small(stage: StageResult) -> StageResult:
        metrics = {name: None if value is None else float(f"{value:.5g}") for name, value in stage.metrics.items()}
        return stage.model_copy(update={"metrics": metrics, "histograms": {}})

    trials = [
        trial.model_copy(
            update={
                "stages": [small(stage) for stage in trial.stages],
                "timeline": None,
                "resources": None,
                "errors": [],
            }
        )
        for trial in record.trials
    ]
    return record.model_copy(update={"trials": trials})


@dataclass(frozen=True)
class _Run:
    """One comparison of one server."""

    words: Mapping[Row, Word]
    rounds: int
    most_rounds: int


def known(record: Record, path: Path) -> Record:
    """The record, if it is a whole comparison whose answer is known. Raises UserError."""
    if not (record.comparison and record.comparison.injected):
        raise UserError("no comparison whose answer is known", where=str(path), hint="`calibrate measure` makes them")
    if not record.complete or not record.trials:
        raise UserError("it was interrupted, so it has no answer", where=str(path))
    return record


def real_cases(records: Sequence[Record], thresholds: Thresholds) -> list[Case]:
    """What was said in comparisons that ended when everything was decided."""
    return list(_real(_ended(records), thresholds))


def _ended(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.comparison and not record.comparison.fixed]


def _real(records: Sequence[Record], thresholds: Thresholds) -> Iterator[Case]:
    found: dict[tuple[str, str], list[_Run]] = {}
    for record in records:
        said = decisions(record, rows(record, thresholds))
        for server in record.servers:
            words = {row: decision.word for row, decision in said.items() if row.server == server}
            rounds = max(trial.round for trial in record.trials if trial.server == server)
            most = record.comparison.most_rounds if record.comparison else rounds
            found.setdefault((server, _injected(record)), []).append(_Run(words, rounds, most))
    for (server, injected), runs in sorted(found.items()):
        yield _case(server, injected, "real", runs)


def _resampled(
    records: Sequence[Record],
    thresholds: Thresholds,
    runs: int,
    scaled: Sequence[float],
    random: np.random.Generator,
) -> Iterator[Case]:
    campaigns: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        for server in record.servers:
            campaigns.setdefault((server, _injected(record)), []).append(record)
    for (server, injected), own in sorted(campaigns.items()):
        pool = _pool(own, server, thresholds)
        alike = injected in ALIKE
        played = [pool.play(random, swap=alike) for _ in range(runs)]
        yield _case(server, injected, "resampled", played, pool.independent)
        for factor in scaled if alike else ():
            played = [pool.play(random, swap=alike, factor=factor) for _ in range(runs)]
            burn = f"burn={factor - 1:.0%}"
            yield _case(server, burn, "resampled and scaled", played, pool.independent, arms=injected)


@dataclass(frozen=True)
class _Campaign:
    """A campaign with one server, to draw from."""

    pairs: Mapping[Row, Mapping[int, Pair]]
    """by round"""
    regressions: Mapping[Row, Regression]
    round_seconds: float
    """of the clock, for one of its rounds; several may have run at the same time"""

    @property
    def most_rounds(self) -> int:
        """How many of such rounds a comparison has time for."""
        return int(RUN_SECONDS / self.round_seconds)

    @property
    def block(self) -> int:
        """How many neighbouring rounds are drawn together."""
        return max(1, round(BLOCK_SECONDS / self.round_seconds))

    @property
    def blocks(self) -> int:
        """How many blocks of neighbouring rounds there are; a short campaign is one."""
        last = max((max(pairs, default=0) for pairs in self.pairs.values()), default=0)
        return max(1, last - self.block + 1)

    def play(self, random: np.random.Generator, *, swapped: bool, factor: float) -> _Run:
        """A comparison of randomly drawn blocks."""
        drawn: dict[Row, list[Pair]] = {row: [] for row in self.pairs}
        for first in range(1, self.most_rounds + 1, self.block):
            begin = 1 + int(random.integers(self.blocks))
            for number in range(first, min(first + self.block, self.most_rounds + 1)):
                for row, pairs in self.pairs.items():
                    if pair := pairs.get(begin + number - first):
                        drawn[row].append(_taken(pair, number, row, factor, swapped=swapped))
        played = {row: Gated(pairs, self.regressions[row]) for row, pairs in drawn.items()}
        rounds = rounds_until_decided(played, self.most_rounds)
        words = {row: decision.word for row, decision in decide(played, rounds=rounds).items()}
        return _Run(words, rounds, self.most_rounds)


@dataclass(frozen=True)
class _Pool:
    """Campaigns with one server."""

    campaigns: Sequence[_Campaign]

    def play(self, random: np.random.Generator, *, swap: bool, factor: float = 1.0) -> _Run:
        """A comparison of blocks of one campaign, which is drawn as often as its rounds deserve. If both arms are
        alike, chance decides which one is the head, for all rounds.
        """
        weights = self._weights
        campaign = self.campaigns[int(random.choice(len(weights), p=weights / weights.sum()))]
        return campaign.play(random, swapped=swap and bool(random.integers(2)), factor=factor)

    @property
    def _weights(self) -> NDArray[np.float64]:
        return np.array([campaign.blocks for campaign in self.campaigns], dtype=float)

    @property
    def independent(self) -> float:
        """How many campaigns of equal length would say as much (Kish 1965: the effective size of a sample)."""
        return float(self._weights.sum() ** 2 / (self._weights**2).sum())


def _pool(records: Sequence[Record], server: str, thresholds: Thresholds) -> _Pool:
    return _Pool([_campaign(record, server, thresholds) for record in records])


def _campaign(record: Record, server: str, thresholds: Thresholds) -> _Campaign:
    own = {row: gated for row, gated in rows(record, thresholds).items() if row.server == server}
    return _Campaign(
        pairs={row: {pair.round: pair for pair in gated.pairs} for row, gated in own.items()},
        regressions={row: gated.regression for row, gated in own.items()},
        round_seconds=_round_seconds([trial for trial in record.trials if trial.server == server]),
    )


def _round_seconds(trials: Sequence[Trial]) -> float:
    """What a round takes on average: the time in which any of the trials ran, over the number of rounds."""
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


def _case(
    server: str,
    injected: str,
    how: How,
    runs: Sequence[_Run],
    campaigns: float | None = None,
    *,
    arms: str | None = None,
) -> Case:
    targets = TARGETS.get(injected.partition("=")[0])
    worst = Counter(
        _worst([word for row, word in run.words.items() if targets is None or targets.fullmatch(row.metric)])
        for run in runs
    )
    return Case(
        server=server,
        injected=injected,
        how=how,
        arms=arms,
        runs=len(runs),
        campaigns=None if campaigns is None else round(campaigns, 2),
        rounds=median(run.rounds for run in runs),
        most_rounds=round(median(run.most_rounds for run in runs)),
        words=dict(worst),
        failed=rate(sum("worse" in run.words.values() for run in runs), len(runs), campaigns),
    )


def of_real(cases: Sequence[Case], injected: Collection[str]) -> Rate:
    """How many real comparisons with one of these faults had a row that was called worse, over all servers."""
    known = [case for case in cases if case.how in ("real", "this site") and case.injected in injected]
    return rate(sum(case.failed.count for case in known), sum(case.runs for case in known))


def _worst(words: Sequence[Word]) -> Word:
    order: Sequence[Word] = ("worse", "unknown", "better", "same")
    return next((word for word in order if word in words), "unknown")


def _injected(record: Record) -> str:
    assert record.comparison
    assert record.comparison.injected
    return record.comparison.injected
