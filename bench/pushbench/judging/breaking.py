"""Whether the head breaks a limit so often that a comparison need not go on. Pure."""

from __future__ import annotations

from datetime import datetime

from pushbench.foundation.text import counted
from pushbench.judging.asking import asks
from pushbench.judging.changes import value_of, value_without_lateness
from pushbench.judging.thresholds import Thresholds
from pushbench.records.record import Record

BREAKING_ROUNDS = 3
"""in which the head breaks a limit: the first, and two fresh ones that confirm it"""


def keeps_breaking(record: Record, thresholds: Thresholds, server: str) -> str:
    """A sentence on the limit that the head of a server broke in several valid trials; empty without one. What may be
    the generator's own lateness does not count.
    """
    day = datetime.fromisoformat(record.created).date()
    trials = [each for each in record.trials if (each.server, each.arm) == (server, "head") and each.validity.valid]
    for index, stage in enumerate(record.schedule.stages):
        for limit in thresholds.limits(record.suite, server, stage.name, day):
            if not asks(record, limit.of):
                continue
            measured = [
                (value_of(each, index, limit.metric), value_without_lateness(each, index, limit.of)) for each in trials
            ]
            broken = sum(
                not limit.bound.allows(value) and not limit.bound.allows(value if without is None else without)
                for value, without in measured
                if value is not None
            )
            if broken >= BREAKING_ROUNDS:
                return f"it broke the limit on {limit.of.in_sentence} in {counted(broken, 'round')}"
    return ""
