"""The limits that apply to a trial while it runs, for live views. Verdicts do not use this module."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pushbench.judging.thresholds import Bound, Thresholds
from pushbench.metrics.definitions import metrics_of
from pushbench.records.record import Record

Limits = Mapping[str, Bound]
"""bounds, by the name of the metric"""


def limits_of(thresholds: Thresholds, record: Record, server: str, stage: str) -> Limits:
    """The limits in a stage, without limits on times if the profile has none."""
    metrics = metrics_of(record.words)
    found = thresholds.limits(record.suite, server, stage, datetime.now(UTC).date())
    return {each.metric: each.bound for each in found if record.judges_times or not metrics[each.metric].is_time}
