"""How many rounds of a record ran at the same time, according to the starts of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pushbench.records.overlap import most_rounds_at_once
from pushbench.records.record import Trial
from pushbench.reporting.notes import origin
from tests.comparisons import arms, compared

BEGAN = datetime(2026, 11, 27, 12, tzinfo=UTC)


def begun(after: Sequence[float], seconds: float) -> list[Trial]:
    """A round at each of these times, with both arms."""
    when = {number: BEGAN + timedelta(seconds=each) for number, each in enumerate(after, 1)}
    return [
        trial.model_copy(update={"started": when[trial.round].isoformat(timespec="seconds"), "seconds": seconds})
        for trial in arms("node-ws", rounds=len(after))
    ]


def test_rounds_that_run_at_the_same_time_are_counted() -> None:
    assert most_rounds_at_once(begun([0, 19, 19, 19, 39, 39], 19.2)) == 3
    assert most_rounds_at_once(begun([0, 0, 19.2], 19.2)) == 2


def test_rounds_in_turns_do_not_overlap_though_starts_are_whole_seconds() -> None:
    assert most_rounds_at_once(begun([0, 19.9, 39.8], 19.9)) == 1
    assert most_rounds_at_once([]) == 0


def test_other_servers_on_other_machines_are_no_rounds_at_the_same_time() -> None:
    elsewhere = [trial.model_copy(update={"server": "go", "round": 1 + trial.round}) for trial in begun([0, 20], 19.2)]
    assert most_rounds_at_once([*begun([0, 20], 19.2), *elsewhere]) == 1


def test_reports_say_how_many_rounds_ran_at_the_same_time() -> None:
    assert origin(compared(begun([0, 19, 19, 19], 19.2))).endswith("4 rounds, up to 3 at the same time")
    assert origin(compared(begun([0, 20], 19.2))).endswith("2 rounds")
