"""Which rounds of a record ran at the same time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pushbench.records.record import Trial


def most_rounds_at_once(trials: Sequence[Trial]) -> int:
    """The most rounds that had a trial in the middle of another one; 0 without trials.

    `started` counts whole seconds, so trials in turns may seem to overlap at their ends, but not in the middle.
    """
    spans = [(trial.round, datetime.fromisoformat(trial.started).timestamp(), trial.seconds) for trial in trials]
    middles = [began + seconds / 2 for _, began, seconds in spans]
    at_once = (len({of for of, began, seconds in spans if began <= middle < began + seconds}) for middle in middles)
    return max(at_once, default=0)
