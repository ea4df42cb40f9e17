"""The order of the tests: early ones first, in half of the workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def dealt(early: Sequence[Item], others: Sequence[Item], workers: int) -> list[Item]:
    """All tests, so ordered that half of the workers begin with the early ones.

    The early tests keep a CPU busy, and most others wait, so the other workers begin with those. pytest-xdist (`--dist
    worksteal`) gives each worker an equal, contiguous part of the list. Workers that have nothing left take from the
    end of another one's part.
    """
    ordered: list[Item] = []
    remaining = list(others)
    busy = max(1, workers // 2)
    for worker in range(workers):
        first = early[worker::busy] if worker < busy else []
        total = len(early) + len(others) - len(ordered)
        rest = max(0, total // (workers - worker) - len(first))
        ordered += [*first, *remaining[:rest]]
        del remaining[:rest]
    return ordered + remaining
