"""The order of the tests: early ones first, in half of the workers, and slow ones before quick ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def dealt(early: Sequence[Item], slow: Sequence[Item], quick: Sequence[Item], workers: int) -> list[Item]:
    """All tests, ordered so that half of the workers begin with the early ones, and all end with quick ones.

    The early tests keep a CPU busy, and most slow tests wait, so the other workers begin with slow ones. pytest-xdist
    (`--dist worksteal`) gives each worker an equal, contiguous part of the list. A worker without tests left takes
    some from the end of another worker's part: with quick tests there, all workers end at nearly the same time.
    """
    ordered: list[Item] = []
    longer, shorter = list(slow), list(quick)
    busy = max(1, workers // 2)
    for worker in range(workers):
        left = workers - worker
        first = early[worker::busy] if worker < busy else []
        rest = max(0, (len(early) + len(slow) + len(quick) - len(ordered)) // left - len(first))
        share = min(len(longer) // left, rest)
        ordered += [*first, *longer[:share], *shorter[: rest - share]]
        del longer[:share], shorter[: rest - share]
    return [*ordered, *longer, *shorter]
