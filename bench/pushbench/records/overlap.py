"""Which rounds of a record ran at the same time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pushbench.records.record import Trial


def most_rounds_at_once(trials: Sequence[Trial]) -> int:
    """The most rounds of one server that had a trial in the middle of another one; 0 without trials.

    Machines that share a run play other servers meanwhile. `started` counts whole seconds, so consecutive trials may
    seem to overlap at their ends, but not in the middle.
    """
    return max((len(_beside(each, trials)) for each in trials), default=0)


def _beside(trial: Trial, trials: Sequence[Trial]) -> set[int]:
    """The rounds of its server that had a trial in the middle of this one."""
    middle = _began(trial) + trial.seconds / 2
    own = (each for each in trials if each.server == trial.server)
    return {each.round for each in own if _began(each) <= middle < _began(each) + each.seconds}


def _began(trial: Trial) -> float:
    return datetime.fromisoformat(trial.started).timestamp()
