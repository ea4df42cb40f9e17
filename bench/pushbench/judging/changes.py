"""From a record with two arms to the rows of a comparison: the judged metrics, and their pairs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pushbench.judging.asking import margins
from pushbench.judging.comparison import Pair
from pushbench.judging.sequential import Decision, Gated, decide
from pushbench.judging.thresholds import Thresholds
from pushbench.metrics import lateness
from pushbench.metrics.definitions import Metric, metrics_of
from pushbench.records.record import Record, Trial


class Row(NamedTuple):
    """One metric of one server in one stage, by its index."""

    server: str
    stage: int
    metric: str


Value = Callable[[Trial, int, Metric], float | None]
"""Returns the value of a metric in a stage of a trial, by the stage's index."""


def measured(trial: Trial, stage: int, metric: Metric) -> float | None:
    """The value that a comparison uses: without the warm-up of a runtime, if that is known."""
    return _warm(value_of(trial, stage, metric.name), trial, stage, metric)


def measured_without_lateness(trial: Trial, stage: int, metric: Metric) -> float | None:
    """Like `measured`, without the generator's own part of a latency."""
    return _warm(value_without_lateness(trial, stage, metric), trial, stage, metric)


def value_of(trial: Trial, stage: int, metric: str) -> float | None:
    """The value of a metric in a stage; None if the trial did not measure it."""
    return trial.stages[stage].metrics.get(metric) if stage < len(trial.stages) else None


def value_without_lateness(trial: Trial, stage: int, metric: Metric) -> float | None:
    """The measured value, without the generator's own part of a latency."""
    return lateness.value_without(trial.stages[stage].metrics, metric) if stage < len(trial.stages) else None


def rows(record: Record, thresholds: Thresholds, value: Value = measured) -> dict[Row, Gated]:
    """The rows for which `thresholds` has a margin, each with the pairs of its valid trials."""
    gated = {}
    for server in compared(record):
        trials = list(_valid_pairs(record, server))
        for stage in range(len(record.schedule.stages)):
            for regression in margins(record, thresholds, server, stage):
                if regression.of.added and not _measures(trials, stage, regression.of):
                    continue
                row = Row(server, stage, regression.metric)
                gated[row] = Gated(list(_pairs_of(trials, stage, regression.of, value)), regression)
    return gated


def pairs(record: Record, row: Row) -> list[Pair]:
    """The pairs of any metric, with or without a margin."""
    metric = metrics_of(record.words)[row.metric]
    return list(_pairs_of(list(_valid_pairs(record, row.server)), row.stage, metric, measured))


def decisions(record: Record, gated: Mapping[Row, Gated]) -> dict[Row, Decision]:
    """The decision on each row after the rounds so far."""
    return decide(gated, rounds=complete_rounds(record))


def count_pairs(record: Record, server: str) -> int:
    """How many rounds of a server count."""
    return sum(1 for _ in _valid_pairs(record, server))


def compared(record: Record) -> list[str]:
    """The servers that were measured in both arms."""
    arms = {(planned.server, planned.arm) for planned in record.plan}
    return sorted(server for server, arm in arms if arm == "base" and (server, "head") in arms)


def complete_rounds(record: Record) -> int:
    """The number of completed rounds."""
    done = {(trial.server, trial.arm, trial.round) for trial in record.trials}
    missing = [each.round for each in record.plan if (each.server, each.arm, each.round) not in done]
    return min(missing) - 1 if missing else max((planned.round for planned in record.plan), default=0)


def _valid_pairs(record: Record, server: str) -> Iterator[tuple[Trial, Trial]]:
    """The rounds that can be compared. A server that ended under load has failed: its measurements until then make no
    pair with those of a server that survived.
    """
    by_arm = {
        arm: {trial.round: trial for trial in record.trials if (trial.server, trial.arm) == (server, arm)}
        for arm in ("base", "head")
    }
    for round_ in sorted(by_arm["base"].keys() & by_arm["head"].keys()):
        base, head = by_arm["base"][round_], by_arm["head"][round_]
        if all(trial.validity.valid and not trial.died for trial in (base, head)):
            yield base, head


def _warm(value: float | None, trial: Trial, stage: int, metric: Metric) -> float | None:
    """A value without the warm-up of a runtime, if that is known."""
    warmup = value_of(trial, stage, metric.warmup) if metric.warmup else None
    return value if value is None or warmup is None else value - warmup


def _measures(trials: Sequence[tuple[Trial, Trial]], stage: int, metric: Metric) -> bool:
    """Whether any trial measured the metric: older trials lack newer metrics, and few receipts have no rare ones."""
    return any(measured(each, stage, metric) is not None for pair in trials for each in pair)


def _pairs_of(trials: Sequence[tuple[Trial, Trial]], stage: int, metric: Metric, value: Value) -> Iterator[Pair]:
    """The pairs of the rounds in which both arms measured the metric."""
    for base, head in trials:
        values = [value(trial, stage, metric) for trial in (base, head)]
        controls = [value_of(trial, stage, metric.control or "") for trial in (base, head)]
        if values[0] is not None and values[1] is not None:
            yield Pair(base.round, values[0], values[1], *controls)
