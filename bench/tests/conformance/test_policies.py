"""The conclusions of the rules about Nagle's algorithm and logs from their measurements."""

from __future__ import annotations

import pytest

from pushbench.conformance.acknowledgements import are_waited_for
from pushbench.conformance.bounds import too_much

AT_ONCE, HELD = [0.0004] * 20, [0.042] * 20
OFTEN_LATE = [0.0004] * 10 + [0.03] * 10


@pytest.mark.parametrize(
    ("delayed", "prompt", "nagle"),
    [
        (AT_ONCE, AT_ONCE, False),
        (HELD, AT_ONCE, True),
        ([*HELD[:15], *AT_ONCE[:5]], [*AT_ONCE[:15], *HELD[:5]], True),
        (OFTEN_LATE, OFTEN_LATE, False),  # a busy machine
        (HELD, HELD, False),  # a server that sends every 40 ms for another reason
        (AT_ONCE, HELD, False),
    ],
)
def test_only_delays_that_acknowledgements_cause_are_nagles_algorithm(
    delayed: list[float], prompt: list[float], nagle: bool
) -> None:
    assert are_waited_for(delayed, prompt) is nagle


@pytest.mark.parametrize(
    ("before", "after", "printed"),
    [
        (700, 700, None),
        (700, 700 + 4096, None),
        (700, 700 + 4097, "4,097 bytes"),
        (900_000, 30_000, "so much that the oldest part was dropped"),
    ],
)
def test_output_is_too_much_above_a_bound_or_when_its_oldest_part_was_dropped(
    before: int, after: int, printed: str | None
) -> None:
    assert too_much(before, after) == printed
