"""A stage with a pace that a declared protocol does not request gets a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.catalog.suites import find_suite
from pushbench.measuring.following import not_followed

SCENARIOS = Path(__file__).parents[3] / "k6" / "scenarios"


@pytest.mark.parametrize(
    ("suite", "given", "stages"),
    [
        ("token-stream", {}, {"paced-500-closed": 50}),
        (
            "token-stream",
            {"tokens_per_second": "20"},
            {"closed-10": 20, "open-50": 20, "open-200": 20, "paced-500-closed": 50},
        ),
        ("whiteboard", {}, {}),
    ],
)
def test_a_pace_that_nobody_asks_for_is_told(suite: str, given: dict[str, str], stages: dict[str, int]) -> None:
    load = find_suite(SCENARIOS, suite).load("quick", given)
    names = [stage.name for stage in load.schedule.stages]
    found = {names[each.stage or 0]: each.message for each in not_followed(load)}
    assert found == {
        name: f"tokens_per_second is {pace}, which a declared protocol does not ask for: the pace is the server's own"
        for name, pace in stages.items()
    }
