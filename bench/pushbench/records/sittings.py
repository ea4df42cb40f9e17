"""The parts in which a run was measured: one, unless the run was resumed. Derived from the times of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pushbench.records.record import Record, Trial

LONGEST_GAP = timedelta(minutes=3)
"""between two trials of one part: the next server has a minute to start, and the one before 30 s to end. Giving way
takes longer: a job ends, another one is measured, and a third one sets itself up"""


@dataclass(frozen=True)
class Sitting:
    begin: datetime
    end: datetime

    def __str__(self) -> str:
        """The times in UTC, with the day only if it differs from the record's."""
        same_day = self.begin.date() == self.end.date()
        return f"{self.begin:%H:%M}-{self.end:{'%H:%M' if same_day else '%H:%M (next day)'}}"


def sittings(record: Record) -> Sequence[Sitting]:
    """The parts in order; empty if the record has no trials, or invalid times: its author is untrusted."""
    try:
        times = sorted(((_times(trial), trial) for trial in record.trials), key=lambda each: each[0])
        found: list[Sitting] = []
        last: Trial | None = None
        for (begin, end), trial in times:
            if last and begin - found[-1].end <= LONGEST_GAP + _left_out(record.trials, last, trial):
                found[-1] = Sitting(found[-1].begin, max(end, found[-1].end))
            else:
                found.append(Sitting(begin, end))
            last = trial
    except (ValueError, OverflowError):
        return []
    return found


def _times(trial: Trial) -> tuple[datetime, datetime]:
    begin = datetime.fromisoformat(trial.started).astimezone(UTC)
    return begin, begin + timedelta(seconds=trial.seconds)


def _left_out(trials: Sequence[Trial], before: Trial, after: Trial) -> timedelta:
    """How long the trials took that ran between these two, and were measured again after all others."""
    between = (
        trial.seconds
        for trial in trials
        if trial.repeated
        and not before.repeated
        and before.order < trial.order
        and (after.repeated or trial.order < after.order)
    )
    return timedelta(seconds=sum(between))


def note(record: Record) -> str | None:
    """A sentence for a run of several parts; None for other runs, and for comparisons, which are never resumed."""
    parts = [] if record.comparison else sittings(record)
    if len(parts) < 2:
        return None
    *others, last = map(str, parts)
    return f"measured in {len(parts)} parts, {', '.join(others)} and {last} UTC"
