"""What a reader sees first of a combination: one row per server, changes, invalid servers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, log, sqrt

import numpy as np

from pushbench.judging.levels import standing
from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.metrics.definitions import cost
from pushbench.records.runs import PRESENT, Runs, day_of, first_since
from pushbench.records.vocabulary import Vocabulary
from pushbench.reporting.summary import falls_short
from pushbench.site.combining import Combination
from pushbench.site.events import Event
from pushbench.site.layout import Data
from pushbench.site.series import Stage, ranking_stage
from pushbench.statistics.ties import alike
from pushbench.statistics.trend import RECENT, Band, band

THROUGHPUT = "throughput_per_second"
SPARKLINE_RUNS = 60
INVALID_RUNS = 20
"""newest runs that are searched for invalid servers"""
EVENTS = 60


def overview(
    combination: Combination,
    stages: Sequence[Stage],
    thresholds: Thresholds,
    events: Sequence[Event],
    newest: Data,
    *,
    outcome: Callable[[str, str], str | None],
) -> Data:
    """`newest` is the newest run's row, with the reasons of its verdict; `outcome` returns a server's outcome."""
    runs, words = combination.runs, combination.words
    stage = ranking_stage(stages)
    judge = Judge(combination, thresholds, stages)
    return {
        "stage": stage.name if stage else None,
        "metrics": shown(words),
        "sparkline": cost(words),
        "rows": [_row(runs, words, server, stage.name, judge, outcome=outcome) for server in runs.servers if stage],
        "events": [event.data() for event in events[:EVENTS]],
        "invalid": _invalid(runs),
        "newest": newest,
    }


def shown(words: Vocabulary) -> list[str]:
    """The metrics of the overview."""
    latencies = [f"{words.headline_latency}_seconds.{point}" for point in ("p50", "p95", "p99")]
    costs = [cost(words), f"services_{cost(words)}", "memory_bytes.peak"]
    return [THROUGHPUT, *latencies, "loss_ratio", *costs]


@dataclass(frozen=True)
class Judge:
    """The words for the newest values against the earlier runs, as in `pushbench judge --history`."""

    combination: Combination
    thresholds: Thresholds
    stages: Sequence[Stage]

    @cached_property
    def margins(self) -> dict[str, Regression]:
        return self._margins("")

    def _margins(self, server: str) -> dict[str, Regression]:
        return {each.metric: each for each in self.thresholds.margins(self.combination.suite, server)}

    def word(self, run: int, server: str, stage: str, metric: str, value: float) -> str:
        runs = self.combination.runs
        known = [each for each in runs.measured(server, stage, metric) if each < run]
        day = day_of(runs.heads[run])
        line = self.thresholds.accepted(self.combination.suite, server, stage, metric, day)
        begin = first_since(runs, known, line.begin) if line and line.begin else 0
        rows = len(runs.servers) * len(self.stages) * sum(not each.of.added for each in self.margins.values())
        past = runs.column(server, stage, metric)[: len(known)]
        return standing(past, value, self._margins(server)[metric], rows, begin=begin).word


def _row(
    runs: Runs,
    words: Vocabulary,
    server: str,
    stage: str,
    judge: Judge,
    *,
    outcome: Callable[[str, str], str | None],
) -> Data:
    having = runs.having(server)
    head = runs.heads[having[-1]]
    values = {metric: _value(runs, having[-1], server, stage, metric) for metric in shown(words)}
    bands = {metric: _band(runs, having[-1], server, stage, metric) for metric in {*judge.margins, *values}}
    return {
        "server": server,
        "run": head.record,
        "created": head.created,
        "runs": len(having),
        "valid": bool(runs.values[having[-1], runs.columns[server, *PRESENT]]),
        "outcome": outcome(head.record, server),
        "values": values,
        "chance": _chance(runs, having[-1], server),
        "due": _due(runs, having[-1], server, stage),
        "words": {
            metric: judge.word(having[-1], server, stage, metric, value)
            for metric, value in values.items()
            if metric in judge.margins and value is not None
        },
        "noise": {
            metric: _half_width(around) for metric, around in sorted(bands.items()) if around and around.level > 0
        },
        "trend": [_value(runs, run, server, stage, cost(words)) for run in having[-SPARKLINE_RUNS:]],
    }


def _chance(runs: Runs, run: int, server: str) -> float | None:
    """How far chance alone may move a latency of this run, as the logarithm of a ratio: the rule of rankings."""
    starts = runs.values[run, runs.columns[server, *PRESENT]]
    return float(f"{log(alike(int(starts), int(starts))) / sqrt(2):.4g}") if starts > 0 else None


def _band(runs: Runs, run: int, server: str, stage: str, metric: str) -> Band | None:
    """The band of the runs before `run`."""
    column = runs.columns.get((server, stage, metric))
    values = runs.values[max(0, run - RECENT) : run, column] if column is not None else np.empty(0)
    return band(values[~np.isnan(values)].tolist())


def _half_width(around: Band) -> float:
    """Half the width of the band, relative to its level."""
    return float(f"{(around.high - around.low) / 2 / around.level:.4g}")


def _value(runs: Runs, run: int, server: str, stage: str, metric: str) -> float | None:
    column = runs.columns.get((server, stage, metric))
    value = float("nan") if column is None else float(runs.values[run, column])
    return value if isfinite(value) else None


def _due(runs: Runs, run: int, server: str, stage: str) -> float | None:
    """The units of work per second that were due, if noticeably fewer arrived."""
    throughput, offered = (_value(runs, run, server, stage, metric) for metric in (THROUGHPUT, "offered_per_second"))
    return offered if falls_short(throughput, offered) else None


def _invalid(runs: Runs) -> list[Data]:
    first = max(0, len(runs.heads) - INVALID_RUNS)
    valid = {server: runs.values[:, runs.columns[server, *PRESENT]] for server in runs.servers}
    return [
        {"run": runs.heads[run].record, "created": runs.heads[run].created, "servers": found}
        for run in reversed(range(first, len(runs.heads)))
        if (found := [server for server, trials in valid.items() if trials[run] == 0])
    ]
