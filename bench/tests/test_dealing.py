from __future__ import annotations

import pytest

from tests.dealing import dealt


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(("early", "slow", "quick"), [(0, 0, 0), (1, 0, 0), (3, 0, 2), (5, 9, 50), (14, 900, 3851)])
def test_half_of_the_workers_begin_with_the_early_tests_and_all_end_with_quick_ones(
    early: int, slow: int, quick: int, workers: int
) -> None:
    kinds = {"early": early, "slow": slow, "quick": quick}
    tests = {kind: [f"{kind} {n}" for n in range(count)] for kind, count in kinds.items()}
    ordered = dealt(tests["early"], tests["slow"], tests["quick"], workers)
    assert sorted(ordered) == sorted(test for of_kind in tests.values() for test in of_kind)
    shares = []
    for worker in range(workers):  # as pytest-xdist distributes them
        part, ordered = ordered[: (size := len(ordered) // (workers - worker))], ordered[size:]
        found = [test.split()[0] for test in part]
        shares.append({kind: found.count(kind) for kind in kinds})
        if quick >= early * workers:
            assert found == [kind for kind in kinds for _ in range(shares[-1][kind])]
    if quick >= early * workers:
        busy = [share["early"] for share in shares[: max(1, workers // 2)]]
        assert max(busy) - min(busy) <= 1
        assert sum(busy) == early
        assert max(share["slow"] for share in shares) - min(share["slow"] for share in shares) <= 1
