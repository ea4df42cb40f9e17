from __future__ import annotations

import pytest

from tests.dealing import dealt


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(("early", "others"), [(0, 0), (1, 0), (3, 2), (5, 50), (14, 3851)])
def test_half_of_the_workers_begin_with_the_early_tests(early: int, others: int, workers: int) -> None:
    first, then = [f"early {n}" for n in range(early)], [f"other {n}" for n in range(others)]
    ordered = dealt(first, then, workers)
    assert sorted(ordered) == sorted(first + then)
    shares = []
    for worker in range(workers):  # as pytest-xdist deals them out
        part, ordered = ordered[: (size := len(ordered) // (workers - worker))], ordered[size:]
        mine = [test for test in part if test in first]
        assert part[: len(mine)] == mine
        shares.append(len(mine))
    if others >= early * workers:
        busy = shares[: max(1, workers // 2)]
        assert max(busy) - min(busy) <= 1
        assert sum(busy) == early
