"""Whether a server has refused a load that is still played, as far as the generator's seconds show it.

That ends a sweep early, because what follows a refused load does not count. The answers come from the load report.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from pushbench.generator.load import Second, Started
from pushbench.machine.sampling import Sample
from pushbench.measuring.progress import LoadWatch
from pushbench.records.record import Schedule

ARRIVED = 0.97
"""of what became owed in some seconds: with less, the server falls behind if latencies grow as well"""
GROWN = 1.5
"""factor on the p95 of the first of these seconds"""


class Overload:
    """Watches a load, and passes on what it sees. `found` becomes true after the window of a refused load, if others
    follow it."""

    def __init__(self, watch: LoadWatch, schedule: Schedule, p95_most: float | None) -> None:
        self._watch, self._schedule, self._p95_most = watch, schedule, p95_most
        self._windows: Sequence[tuple[float, float]] = ()
        self._seconds: list[Second] = []
        self._looked = 0
        self.found = False

    def started(self, load: Started) -> None:
        self._windows = load.windows[:-1]  # nothing follows the last one, and its generators end by themselves
        self._watch.started(load)

    def sample(self, sample: Sample) -> None:
        self._watch.sample(sample)

    def second(self, second: Second) -> None:
        self._watch.second(second)
        self._seconds.append(second)
        settled = second.at - self._schedule.drain_seconds  # what is sent until then has arrived, or never will
        while self._looked < len(self._windows) and self._windows[self._looked][1] <= settled:
            self.found = self.found or self._refused(self._looked)
            self._looked += 1

    def _refused(self, stage: int) -> bool:
        begin, end = self._windows[stage]
        since = [each for each in self._seconds if begin + 1 <= each.at]
        seconds = [each for each in since if each.at <= end]
        if not seconds:
            return False
        clients_lost = seconds[-1].clients < self._schedule.stages[stage].clients
        behind = _falls_behind(seconds) and _falls_behind(since)  # what only stalled for a moment has caught up since
        return clients_lost or self._is_late(seconds) or behind

    def _is_late(self, seconds: Sequence[Second]) -> bool:
        """Whether most seconds were too late. Then the p95 of the window is too late in nearly all cases; in the others
        the sweep ends without need."""
        p95s = _p95s(seconds)
        return self._p95_most is not None and bool(p95s) and median(p95s) > self._p95_most


def _falls_behind(seconds: Sequence[Second]) -> bool:
    """Whether a queue grows in these seconds."""
    owed, received = sum(each.owed for each in seconds), sum(each.received for each in seconds)
    p95s = _p95s(seconds)
    return received < ARRIVED * owed and bool(p95s) and p95s[-1] > GROWN * p95s[0]


def _p95s(seconds: Sequence[Second]) -> list[float]:
    return [each.headline_p95 for each in seconds if each.headline_p95 is not None]
