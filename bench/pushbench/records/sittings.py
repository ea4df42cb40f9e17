"""The parts in which a run was measured: one, unless the run was resumed. Derived from the times of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pushbench.records.record import Record, Trial

LONGEST_GAP = timedelta(minutes=3)
"""between two trials of one part: the next server has a minute to start, and the one before 30 s to end. To give way
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
    """The parts in order; empty if the record has no trials or invalid times, since its author is untrusted."""
    try:
        times = [_times(trial) for trial in sorted(record.trials, key=lambda trial: trial.order)]
    except (ValueError, OverflowError):
        return []
    found: list[Sitting] = []
    for begin, end in times:
        if found and begin - found[-1].end <= LONGEST_GAP:
            found[-1] = Sitting(found[-1].begin, max(end, found[-1].end))
        else:
            found.append(Sitting(begin, end))
    return found


def _times(trial: Trial) -> tuple[datetime, datetime]:
    begin = datetime.fromisoformat(trial.started).astimezone(UTC)
    return begin, begin + timedelta(seconds=trial.seconds)


def note(record: Record) -> str | None:
    """A sentence for a run of several parts; None for other runs, and for comparisons, which are never resumed."""
    parts = [] if record.comparison else sittings(record)
    if len(parts) < 2:
        return None
    *others, last = map(str, parts)
    return f"measured in {len(parts)} parts, {', '.join(others)} and {last} UTC"
