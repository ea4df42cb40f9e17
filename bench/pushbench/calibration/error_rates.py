"""How often the judge is right, over real comparisons with a known answer and over resampled ones. Pure.

Draws from one campaign (`resampling`) are not independent: intervals count campaigns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Literal

import numpy as np
from pydantic import Field, NonNegativeInt

from pushbench.calibration.bias import of_newest_ways
from pushbench.calibration.faults import ALIKE, TARGETS
from pushbench.calibration.rates import Rate, rate
from pushbench.calibration.resampling import Run, pooled
from pushbench.calibration.simulated import Simulated
from pushbench.calibration.simulated_history import SimulatedHistory
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.judging.changes import decisions, rows
from pushbench.judging.sequential import Word
from pushbench.judging.thresholds import Thresholds
from pushbench.records.record import Record, StageResult

How = Literal["real", "resampled", "resampled and scaled", "this site"]


class Case(Document):
    """Comparisons of one server with one injected fault."""

    server: str
    injected: str = Field(description="injected fault; `none` for a server against itself")
    how: How = Field(
        description="scaled: a server against itself, with the head's CPU per unit of work multiplied; this site: "
        "real comparisons whose records the site has"
    )
    arms: str | None = Field(
        None,
        description="for scaled comparisons, what the arms of the drawn campaigns differ by, in the notation of "
        "`injected`; null for others",
    )
    runs: NonNegativeInt
    campaigns: float | None = Field(
        None,
        description="number of independent campaigns behind the runs, weighted by their rounds; null if each run is a "
        "campaign of its own",
    )
    rounds: float = Field(description="median number of rounds that a run took")
    most_rounds: NonNegativeInt = Field(description="number of rounds that a run had time for")
    words: dict[Word, NonNegativeInt] = Field(
        description="number of runs by the worst word for the metrics that the fault changes"
    )
    failed: Rate = Field(description="runs in which any metric was called worse")


class Calibration(Document):
    """The judge's answers to comparisons with a known answer."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    environments: list[str] = Field(description="keys of the environments of the comparisons")
    thresholds_digest: str
    cases: list[Case]
    records: list[str] = Field(default=[], description="ids of the real comparisons")
    simulated: list[Simulated] = Field(default=[], description="simulated comparisons with noise of a known kind")
    histories: list[SimulatedHistory] = Field(
        default=[], description="simulated runs after histories with noise of a known kind"
    )


def calibrate(
    records: Sequence[Record], thresholds: Thresholds, *, runs: int, scaled: Sequence[float] = (), seed: int = 1
) -> Calibration:
    """Calibrate the judge. `runs` is the number to resample for each server and fault, `scaled` the factors for servers
    against themselves. Only campaigns that measured in the same way as their server's newest comparison are resampled.
    """
    of_calibration = [record for record in records if record.comparison and record.comparison.injected]
    newest = of_newest_ways(of_calibration)
    fixed = [record for record in newest if record.comparison and record.comparison.fixed]
    ended = _ended(of_calibration)
    random = np.random.default_rng(seed)
    return Calibration(
        environments=sorted({record.environment.key for record in of_calibration}),
        thresholds_digest=thresholds.digest,
        cases=[*_real(ended, thresholds), *_resampled(fixed, thresholds, runs, scaled, random)],
        records=sorted({record.id for record in ended}),
    )


def compact(record: Record) -> Record:
    """The part of a record for calibration, some kilobytes per trial: no histograms, no timelines, five digits."""

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


def known(record: Record, path: Path) -> Record:
    """The record, if it is a complete comparison with a known answer. Raises UserError."""
    if not (record.comparison and record.comparison.injected):
        raise UserError("not a comparison with a known answer", where=str(path), hint="`calibrate measure` makes them")
    if not record.complete or not record.trials:
        raise UserError("it was interrupted, so it has no answer", where=str(path))
    return record


def real_cases(records: Sequence[Record], thresholds: Thresholds) -> list[Case]:
    """The verdicts of comparisons that ended when everything was decided."""
    return list(_real(_ended(records), thresholds))


def _ended(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.comparison and not record.comparison.fixed]


def _real(records: Sequence[Record], thresholds: Thresholds) -> Iterator[Case]:
    found: dict[tuple[str, str], list[Run]] = {}
    for record in records:
        said = decisions(record, rows(record, thresholds))
        for server in record.servers:
            words = {row: decision.word for row, decision in said.items() if row.server == server}
            rounds = max(trial.round for trial in record.trials if trial.server == server)
            most = record.comparison.most_rounds if record.comparison else rounds
            found.setdefault((server, _injected(record)), []).append(Run(words, rounds, most))
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
        pool = pooled(own, server, thresholds)
        alike = injected in ALIKE
        played = [pool.play(random, swap=alike) for _ in range(runs)]
        yield _case(server, injected, "resampled", played, pool.independent)
        for factor in scaled if alike else ():
            played = [pool.play(random, swap=alike, factor=factor) for _ in range(runs)]
            burn = f"burn={factor - 1:.0%}"
            yield _case(server, burn, "resampled and scaled", played, pool.independent, arms=injected)


def _case(
    server: str,
    injected: str,
    how: How,
    runs: Sequence[Run],
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
    """The rate of real comparisons with one of these faults that called a row worse, over all servers."""
    known = [case for case in cases if case.how in ("real", "this site") and case.injected in injected]
    return rate(sum(case.failed.count for case in known), sum(case.runs for case in known))


def _worst(words: Sequence[Word]) -> Word:
    order: Sequence[Word] = ("worse", "unknown", "better", "same")
    return next((word for word in order if word in words), "unknown")


def _injected(record: Record) -> str:
    assert record.comparison
    assert record.comparison.injected
    return record.comparison.injected
