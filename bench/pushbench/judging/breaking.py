"""Limits in a comparison: whether the base breaks a limit like the head, and whether more rounds are useful. Pure."""

from __future__ import annotations

from datetime import datetime

from pushbench.foundation.text import counted
from pushbench.judging.asking import asks
from pushbench.judging.changes import value_of, value_without_lateness
from pushbench.judging.thresholds import Limit, Thresholds
from pushbench.records.record import Record, Trial

BREAKING_ROUNDS = 3
"""rounds in which the head breaks a limit: the first, and two fresh ones that confirm it"""


def breaks(trial: Trial, stage: int, limit: Limit) -> bool:
    """Whether a trial breaks a limit, and would break it without the possible lateness of the generator."""
    value = value_of(trial, stage, limit.metric)
    if value is None or limit.bound.allows(value):
        return False
    without = value_without_lateness(trial, stage, limit.of)
    return without is None or not limit.bound.allows(without)


def is_shared(record: Record, thresholds: Thresholds, server: str, stage: int, limit: Limit) -> bool:
    """Whether the base also breaks a limit in most of the rounds in which the head does. Then it is no fault of the
    head. A metric without a margin has no row to show that the head breaks it by more, so its limit is never shared.
    """
    if limit.metric not in {each.metric for each in thresholds.margins(record.suite, server)}:
        return False
    broken = {each.round for each in _valid(record, server, "head") if breaks(each, stage, limit)}
    before = {each.round for each in _valid(record, server, "base") if breaks(each, stage, limit)}
    return 2 * len(before & broken) > len(broken)


def keeps_breaking(record: Record, thresholds: Thresholds, server: str) -> str:
    """A sentence on the limit that the head of a server broke in several valid trials; empty without one. A limit that
    the base breaks as well does not count.
    """
    day = datetime.fromisoformat(record.created).date()
    trials = _valid(record, server, "head")
    for index, stage in enumerate(record.schedule.stages):
        for limit in thresholds.limits(record.suite, server, stage.name, day):
            broken = sum(breaks(each, index, limit) for each in trials)
            if broken < BREAKING_ROUNDS or not asks(record, limit.of):
                continue
            if not is_shared(record, thresholds, server, index, limit):
                return f"it broke the limit on {limit.of.in_sentence} in {counted(broken, 'round')}"
    return ""


def _valid(record: Record, server: str, arm: str) -> list[Trial]:
    return [each for each in record.trials if (each.server, each.arm) == (server, arm) and each.validity.valid]
