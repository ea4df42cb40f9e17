"""Limits for a server from the results of a first run: headroom above them, as lines of a thresholds.yml. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pushbench.judging.proposing import quantity
from pushbench.judging.thresholds import Thresholds
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.units import format_quantity
from pushbench.records.record import Record, Trial

ROOM = {"cpu": 2.0, "latency": 3.0, "memory": 2.0}
"""times the result of the first run. Another machine may be half as fast, and percentiles differ by more than that"""


def thresholds_yml(record: Record, server: str, before: Thresholds) -> str | None:
    """Limits of `server` in the stages of `record`; None if no valid trial shows usual values.

    Existing limits, `before`, stay where they are stricter.
    """
    trials = [each for each in record.trials if each.server == server and each.validity.valid and not each.failure]
    if not trials:
        return None
    lines = list(_lines(record, trials, before))
    if not lines:
        return None
    body = "".join(f"        {line}\n" for line in lines)
    return f"""\
# Limits of this server: a run that breaks one fails. docs/thresholds.md explains the file.
# They leave room above what a first run measured; change them to what you promise.
version: 1
servers:
  {server}:
    {record.suite}:
      limits:
{body}"""


def _lines(record: Record, trials: list[Trial], before: Thresholds) -> Iterator[str]:
    metrics = metrics_of(record.words)
    day = record.created[:10]
    wanted = {
        f"cpu_seconds_per_{record.words.work.name}": ROOM["cpu"],
        record.words.headline: ROOM["latency"],
        "memory_bytes.peak": ROOM["memory"],
    }
    stages = [stage.name for stage in record.schedule.stages]
    for metric, room in wanted.items():
        values = [value for each in trials for stage in each.stages if (value := stage.metrics.get(metric)) is not None]
        if not values:
            continue
        worst, unit = max(values), metrics[metric].unit
        held = [limit.bound.value for limit in before.suite(record.suite).limits if limit.metric == metric]
        if held and worst * room >= min(held):
            continue
        reason = f"{room:g} times the {format_quantity(worst, unit)} of a first run on {day}"
        bound = quantity(worst * room, unit, up=True)
        yield f'{metric}: {{max: {bound}, stages: [{", ".join(stages)}], reason: "{reason}"}}'
