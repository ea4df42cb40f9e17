"""Which limits and margins of thresholds.yml apply to a record and to one of its stages. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.judging.thresholds import Regression, Thresholds
from pushbench.metrics.definitions import Metric
from pushbench.records.record import Record, Trial


def can_ask(record: Record, stage: int, metric: Metric) -> bool:
    """Whether a stage can be judged by the metric: its method defines it, and the stage could produce a value."""
    happens = not metric.name.startswith("connect_seconds.") or _connects(record, stage)
    killed = not metric.of_outage or record.schedule.stages[stage].outage is not None
    return asks(record, metric) and _has(record, metric) and happens and killed


def asks(record: Record, metric: Metric) -> bool:
    """Whether the record judges the metric: a profile that lasts seconds judges no times, and a server elsewhere is not
    metered."""
    return (record.judges_times or not metric.is_time) and not (record.environment.remote and metric.metered)


def was_killed(trials: Sequence[Trial], stage: int, metric: Metric) -> bool:
    """Whether a metric of outages can have a value; it cannot if the server lacks the target of the kill."""
    return not metric.of_outage or any(trial.stages[stage].outage for trial in trials if stage < len(trial.stages))


def margins(record: Record, thresholds: Thresholds, server: str, stage: int) -> list[Regression]:
    """The margins that apply to a server in a stage."""
    return [each for each in thresholds.margins(record.suite, server) if can_ask(record, stage, each.of)]


def unknown_to_method(record: Record, thresholds: Thresholds) -> list[Metric]:
    """The metrics in limits and margins that the record's method does not define, metrics of outages aside."""
    suite = thresholds.suite(record.suite)
    metrics = [*(each.of for each in suite.limits), *(each.of for each in suite.regressions)]
    return [metric for metric in dict.fromkeys(metrics) if not _has(record, metric) and not metric.of_outage]


def _has(record: Record, metric: Metric) -> bool:
    return metric.since <= record.environment.method_number


def _connects(record: Record, stage: int) -> bool:
    """Whether clients are due to connect: in the first stage, in a larger one, in one with other parameters."""
    if stage == 0:
        return True
    before, own = record.schedule.stages[stage - 1 : stage + 1]
    return own.clients > before.clients or own.parameters != before.parameters
