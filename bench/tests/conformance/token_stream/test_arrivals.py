"""What the rules about pace and about Nagle's algorithm conclude from the times of characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pushbench.conformance.rule import Mismatch
from pushbench.conformance.token_stream.arrivals import Arrivals, come_one_by_one, come_when_due, do_not_drift
from pushbench.conformance.token_stream.nagle import waits_for_acknowledgements

DUE = [number / 50 for number in range(21)]
HELD = [0.04 - number % 10 * 0.004 for number in range(100)]
AT_ONCE = [0.0005] * 100
STALL = [max(at, 0.2) for at in DUE]
"""The machine did nothing for 200 ms."""


def passes(judge: Callable[[Arrivals], None], times: Sequence[float], asked: float = -0.01) -> bool:
    try:
        judge(Arrivals(50, asked, 0.0, times))
    except Mismatch:
        return False
    return True


@pytest.mark.parametrize(
    ("times", "when_due", "one_by_one", "no_drift"),
    [
        (DUE, True, True, True),
        (STALL, True, True, True),
        ([at - 0.03 for at in DUE], True, True, True),  # the head of the answer was late
        ([at - 0.09 for at in DUE], False, True, False),
        ([at + 0.09 for at in DUE], False, True, False),
        ([0.0] * 21, False, False, False),
        ([number // 5 * 0.1 + 0.08 for number in range(21)], True, False, True),
    ],
)
def test_characters_are_due_one_by_one(
    times: Sequence[float], when_due: bool, one_by_one: bool, no_drift: bool
) -> None:
    found = passes(come_when_due, times), passes(come_one_by_one, times), passes(do_not_drift, times)
    assert found == (when_due, one_by_one, no_drift)


@pytest.mark.parametrize(("stretched", "kept"), [(1.0, True), (1.005, True), (1.03, False), (0.97, False)])
def test_a_drift_is_seen_at_the_end_of_the_text(stretched: float, kept: bool) -> None:
    assert passes(do_not_drift, [number / 50 * stretched for number in range(200)]) is kept


def test_a_stream_without_events_is_a_mismatch() -> None:
    assert not passes(do_not_drift, [])


@pytest.mark.parametrize(
    ("delayed", "prompt", "nagle"),
    [
        (AT_ONCE, AT_ONCE, False),
        (HELD, AT_ONCE, True),
        (HELD, HELD, False),  # a server or a machine that is late for another reason
        (AT_ONCE, HELD, False),
        ([*HELD[:30], *AT_ONCE[:70]], AT_ONCE, False),
    ],
)
def test_only_delays_that_acknowledgements_cause_are_nagles_algorithm(
    delayed: Sequence[float], prompt: Sequence[float], nagle: bool
) -> None:
    assert waits_for_acknowledgements(delayed, prompt) is nagle
