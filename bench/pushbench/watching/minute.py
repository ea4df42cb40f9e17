"""The last minute of a load, second by second, as `run --watch` draws it. It keeps numbers and draws nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pushbench.generator.events import Second, Started
from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample

Program = Literal["server", "services", "generator"]
Values = list[float | None]
"""one value for each second of the minute, the newest last; None if it is unknown"""

SECONDS = 60
SHORTEST = 0.5
"""seconds between two samples: a sample at the border of a window may directly follow one at a whole second"""


class Minute:
    """The counts of each second, and the CPU of each program in it. Samples may come from another thread."""

    def __init__(self, load: Started) -> None:
        self._load = load
        self._now = -1
        self._seconds: dict[int, Second] = {}
        self._cores: dict[Program, dict[int, float]] = {"server": {}, "services": {}, "generator": {}}
        self._sample: Sample | None = None

    def second(self, second: Second) -> None:
        """Add a second. Each of several generators reports the same second; the last report has the sum."""
        self._now = max(0, self._index(second.at))
        self._seconds[self._now] = second

    def sample(self, sample: Sample) -> None:
        before = self._sample
        if before and sample.at - before.at < SHORTEST:
            return
        self._sample = sample
        if before:
            for program, cores in self._cores.items():
                used = _cores(getattr(before, program), getattr(sample, program))
                if used is not None:
                    cores[self._index(sample.at)] = used

    def counts(self, of: Callable[[Second], float | None]) -> Values:
        found = [self._seconds.get(index) for index in self._shown]
        return [of(second) if second else None for second in found]

    def cores(self, program: Program) -> Values:
        known = self._cores[program]
        return [known.get(index) for index in self._shown]

    def measured(self) -> list[bool]:
        """Whether the middle of each second lies in a steady window."""
        middles = [self._load.at + index + 0.5 for index in self._shown]
        return [any(begin <= middle < end for begin, end in self._load.windows) for middle in middles]

    @property
    def _shown(self) -> range:
        return range(self._now - SECONDS + 1, self._now + 1)

    def _index(self, end: float) -> int:
        """The second that ends at about that time."""
        return round(end - self._load.at) - 1


def latest(values: Values) -> float | None:
    """The newest known value."""
    return next((value for value in reversed(values) if value is not None), None)


def _cores(before: Usage | None, after: Usage | None) -> float | None:
    """CPUs used; None if the program was not there, or was restarted in between."""
    if before is None or after is None or after.cpu_seconds < before.cpu_seconds:
        return None
    return (after.cpu_seconds - before.cpu_seconds) / (after.at - before.at)
