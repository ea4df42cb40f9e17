"""Whether a server has refused a load that is still played, as far as the generator's seconds show it.

That ends a sweep early, because what follows a refused load does not count. The answers come from the load report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pushbench.generator.events import Exceeded, Second, Started
from pushbench.generator.load import LatencyLimit
from pushbench.machine.sampling import Sample
from pushbench.records.capacity import AskedLimit
from pushbench.records.record import Schedule
from pushbench.records.vocabulary import Vocabulary
from pushbench.watching.progress import LoadWatch

ARRIVED = 0.97
"""of what became owed in some seconds: with less, the server falls behind if latencies grow as well"""
SHARES = {"p50": 0.5, "p95": 0.05, "p99": 0.01, "p999": 0.001, "max": 0.0}
"""of the latencies that a limit permits to exceed it, by the metric's point"""
GROWN = 1.5
"""factor on the p95 of the first of these seconds"""


@dataclass(frozen=True)
class Watched:
    """A limit of the suite for a latency."""

    limit: LatencyLimit
    share: float
    """of the latencies that may exceed it"""


def watched(limits: Sequence[AskedLimit], words: Vocabulary) -> list[Watched]:
    """The limits that the generator's seconds show: those of latencies of the suite's load."""
    found = []
    for each in limits:
        name, _, point = each.metric.partition("_seconds.")
        latency = words.exchange.latencies.get(name)
        if latency and each.side == "max" and point in SHARES:
            found.append(Watched(LatencyLimit(latency=latency.until, us=round(each.value * 1e6)), SHARES[point]))
    return found


class Overload:
    """Watches a load, and passes on what it sees. `found` becomes true after the window of a refused load, if others
    follow it."""

    def __init__(self, watch: LoadWatch, schedule: Schedule, limits: Sequence[Watched]) -> None:
        self._watch, self._schedule, self._limits = watch, schedule, limits
        self._windows: Sequence[tuple[float, float]] = ()
        self._seconds: list[Second] = []
        self._looked = 0
        self.found = False

    @property
    def limits(self) -> list[LatencyLimit]:
        """What the generator has to count the exceeding of."""
        return [each.limit for each in self._limits]

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
        """Whether these seconds broke a limit. The window counts by due time, and begins and ends within a second.
        So these may break a limit that the window keeps, and then the sweep ends without need."""
        counts = zip(*(each.exceeded for each in seconds), strict=True)
        found = zip(self._limits, map(Exceeded.total, counts), strict=True)
        return any(exceeded.late > limit.share * exceeded.of for limit, exceeded in found)


def _falls_behind(seconds: Sequence[Second]) -> bool:
    """Whether a queue grows in these seconds."""
    owed, received = sum(each.owed for each in seconds), sum(each.received for each in seconds)
    p95s = _p95s(seconds)
    return received < ARRIVED * owed and bool(p95s) and p95s[-1] > GROWN * p95s[0]


def _p95s(seconds: Sequence[Second]) -> list[float]:
    return [each.headline_p95 for each in seconds if each.headline_p95 is not None]
