"""Five minutes are enough for three starts of a server that warms up. It is simulated; sweeps take the suite's time."""

from __future__ import annotations

import math
import random

import pytest

from pushbench.capacity.asked import Answer, Ask, Sweep
from pushbench.capacity.finding import FIRST_START, _base_load
from pushbench.capacity.hinting import hint_of
from pushbench.capacity.ramping import sweep_seconds
from pushbench.capacity.searching import Plan
from pushbench.catalog.suites import find_suite
from tests.bare_checkouts import CHECKOUT
from tests.capacity.simulated_searches import Search, search

SECONDS = 300.0
PAIRS = 100
STARTS_DIFFER, PROBES_DIFFER = 0.08, 0.02
"""standard deviations of the capacity, as shares"""
COLD = 5.0
"""factor on the use of CPU in the first probe of a start"""
COMPILED_MOST = 0.6
FAST_MOST = 0.6
"""share of the CPU: beyond it, clients that connect fast are late"""

SUITE = find_suite(CHECKOUT.scenarios, "whiteboard")


class Warming:
    """A fresh start of a server on a virtual machine: each probe warms it up. Its capacity varies a little."""

    def __init__(self, warm: float, drawn: random.Random) -> None:
        self._warm, self._drawn = warm, drawn
        self._probes = 0

    def capacity(self) -> float:
        return self._warm / self._factor

    def compiled(self) -> float:
        return COMPILED_MOST * (1 - 1 / self._factor)

    def answer(self, ask: Ask) -> Answer:
        now = self.capacity() * math.exp(self._drawn.gauss(0, PROBES_DIFFER))
        self._probes += 1
        if ask.load > now:
            return "broken"
        return "carried" if ask.slow or ask.load <= FAST_MOST * now else "connecting"

    @property
    def _factor(self) -> float:
        return 1 + (COLD - 1) * math.exp(-self._probes)


def three_starts(capacity: float, drawn: random.Random) -> list[Search]:
    """The searches of three starts that share the time."""
    asked = SUITE.spec.capacity
    assert asked
    base = _base_load(SUITE, asked)

    def takes(sweep: Sweep) -> float:
        return sweep_seconds(base, asked, sweep)

    left = SECONDS
    found: list[Search] = []
    for share in (FIRST_START, 1 / 2, 1):
        one = Warming(capacity * math.exp(drawn.gauss(0, STARTS_DIFFER)), drawn)
        plan = Plan(asked.first, asked.step, asked.most, hint_of([each.ended for each in found]))
        done = search(one.answer, plan, seconds=left * share, capacity=one.capacity, compiled=one.compiled, takes=takes)
        left -= sum(map(takes, done.sweeps))
        found.append(done)
    return found


@pytest.mark.slow
def test_most_pairs_of_searches_end_with_numbers_that_agree() -> None:
    drawn = random.Random(1)
    numbers = agree = 0
    for _ in range(PAIRS):
        capacity = math.exp(drawn.uniform(math.log(2000), math.log(10_000)))
        both = []
        for _ in range(2):
            found = three_starts(capacity, drawn)
            numbers += sum(each.found.end == "limit" for each in found) >= 2
            both.append(sorted(each.found.carried for each in found)[1])
        agree += max(both) <= 1.15 * min(both)
    assert numbers >= 0.95 * 2 * PAIRS
    assert agree >= 0.85 * PAIRS
