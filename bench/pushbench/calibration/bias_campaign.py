"""Comparisons of servers with builds of the same code, in sequence; each counts as soon as it has ended."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import mean
from typing import NamedTuple

from pushbench.calibration.error_rates import compact
from pushbench.calibration.faults import APART
from pushbench.foundation.errors import UserError
from pushbench.judging.changes import count_pairs
from pushbench.judging.comparison import FEWEST_PAIRS
from pushbench.metrics.units import format_elapsed
from pushbench.records.record import Record, Schedule

EXPECTED_SECONDS = 150.0
"""of a comparison, before the first has ended: eight rounds, and two builds"""


class Wanted(NamedTuple):
    """One comparison: a server, and the change without a meaning in one of its builds."""

    server: str
    change: str


@dataclass(frozen=True)
class BiasRequest:
    """The requested comparisons, the number of each, and the time limit."""

    wanted: Sequence[Wanted]
    times: int = 1
    all_seconds: float = inf
    """for this invocation; it stops before a comparison that would take longer"""


Compare = Callable[[Wanted], Record]
Keep = Callable[[Record], None]


def missing(wanted: Sequence[Wanted], kept: Mapping[Wanted, int], times: int) -> list[Wanted]:
    """The missing comparisons, in order: the rarest first, so that an interruption leaves no server out."""
    rounds = range(times)
    return [each for number in rounds for each in wanted if kept.get(each, 0) <= number]


def of_schedules(records: Sequence[Record], schedules: Mapping[str, Schedule]) -> list[Record]:
    """The comparisons with the schedule of their suite in `schedules`: a new schedule is not pooled with others."""
    return [record for record in records if record.schedule == schedules.get(record.suite)]


def count(records: Sequence[Record]) -> Counter[Wanted]:
    """The number of stored comparisons of each kind, without those with too few rounds."""
    found: Counter[Wanted] = Counter()
    for record in records:
        change = record.comparison.injected if record.comparison else None
        if change in APART and record.complete:
            found.update(Wanted(server, change) for server in record.servers if is_enough(record, server))
    return found


def is_enough(record: Record, server: str) -> bool:
    """Whether enough rounds of a server count for the judge to decide anything."""
    return count_pairs(record, server) >= FEWEST_PAIRS


def play(
    request: BiasRequest, kept: Sequence[Record], compare: Compare, keep: Keep, note: Callable[[str], None]
) -> int:
    """Run the missing comparisons, and store each as soon as it has ended. Returns the number still missing.

    A comparison that the machine disturbed is not stored, and one that cannot be built here is left out. The next
    invocation runs them again.
    """
    left = missing(request.wanted, count(kept), request.times)
    took: list[float] = []
    failed = 0
    for number, each in enumerate(left):
        expected = mean(took) if took else EXPECTED_SECONDS
        if sum(took) + expected > request.all_seconds:
            return len(left) - number + failed
        rest = format_elapsed(expected * (len(left) - number))
        note(f"{number + 1} of {len(left)}: {each.server}, {each.change}; about {rest} left")
        began = time.monotonic()
        try:
            record = compare(each)
        except UserError as error:
            failed += 1
            note(f"{each.server}, {each.change}: left out: {error}")
            continue
        took.append(time.monotonic() - began)
        if is_enough(record, each.server):
            keep(compact(record))
        else:
            failed += 1
            note(f"{each.server}, {each.change}: not kept: fewer than {FEWEST_PAIRS} rounds count")
    return failed
