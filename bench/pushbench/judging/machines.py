"""Whether the machines of a run are alike, judged by their measurements of the same server, the control. Pure.

Two metrics are compared, in the largest stage: the CPU for a unit of work, which has the least noise, and the suite's
headline. `statistics/strays` is the rule; a difference within the suite's margin does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pushbench.judging.changes import value_of
from pushbench.judging.thresholds import Thresholds
from pushbench.metrics.definitions import Metric, cost, in_sentence, metrics_of
from pushbench.records.record import Record, Trial
from pushbench.records.stages import headline
from pushbench.statistics import strays

MARGIN = 0.15
"""margin of a metric for which the suite has none"""
NOT_MEASURED = "the control was not measured on it, so nothing says that it is like the others"


def apart(controls: Mapping[str, Sequence[Record]], thresholds: Thresholds) -> dict[str, str]:
    """Why machines differ from the others, by their names; machines that are alike are left out. A machine may have
    several records of the control, or none."""
    starts = {name: [trial for record in records for trial in _valid(record)] for name, records in controls.items()}
    reasons = {name: [NOT_MEASURED] for name, trials in starts.items() if len(trials) < strays.LEAST}
    records = [record for name in starts if name not in reasons for record in controls[name]]
    if records:
        asked = _asked(records)
        for metric in asked:
            for name, said in _differences(metric, starts, records[0], thresholds, len(asked)):
                reasons.setdefault(name, []).append(said)
    return {name: "; ".join(said) for name, said in sorted(reasons.items())} if len(controls) > 1 else {}


def _valid(record: Record) -> list[Trial]:
    return [trial for trial in record.trials if trial.validity.valid]


def _asked(records: Sequence[Record]) -> list[Metric]:
    """The metrics; times only if the profile judges times."""
    known, words = metrics_of(records[0].words), records[0].words
    timed = all(record.judges_times for record in records)
    return [known[name] for name in (cost(words), *([words.headline] if timed else []))]


def _differences(
    metric: Metric, starts: Mapping[str, Sequence[Trial]], record: Record, thresholds: Thresholds, tests: int
) -> Iterator[tuple[str, str]]:
    """Each machine that stands out by the metric, and a sentence about it."""
    stage = headline(record.schedule.stages)
    found = {name: [value_of(trial, stage, metric.name) for trial in trials] for name, trials in starts.items()}
    known = {name: [value for value in values if value is not None and value > 0] for name, values in found.items()}
    groups = {name: values for name, values in known.items() if len(values) >= strays.LEAST}
    own = (each.margin for each in thresholds.suite(record.suite).regressions if each.metric == metric.name)
    for name in strays.strays(groups, next(own, MARGIN), tests=tests):
        share = strays.difference(groups, name) * 100
        server = ", ".join(record.servers)
        yield (
            name,
            (
                f"{in_sentence(metric.title)} of the control {server} is {abs(share):.0f} % "
                f"{'higher' if share > 0 else 'lower'} there than on the other machines, more than the noise"
            ),
        )
