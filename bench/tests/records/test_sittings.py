"""A run that was measured in several parts is recognised by the times of its trials."""

from __future__ import annotations

import pytest

from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.judging.verdict import judge
from pushbench.records.record import Finding, Record
from pushbench.records.sittings import note
from tests.factories import make_record, make_trial


def measured_at(*times: str, seconds: float = 540.0) -> Record:
    trials = [
        make_trial(f"s{order}", order=order, started=f"2026-11-{time}:00+00:00", seconds=seconds)
        for order, time in enumerate(times)
    ]
    return make_record(trials)


def test_a_run_of_one_part_has_nothing_to_say() -> None:
    assert note(measured_at("21T02:30", "21T02:40", "21T02:51")) is None
    assert note(make_record([])) is None


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (("21T02:30", "21T02:40", "21T04:52"), "measured in 2 parts, 02:30-02:49 and 04:52-05:01 UTC"),
        (
            ("21T02:30", "21T03:00", "21T03:30", "21T03:40"),
            "measured in 3 parts, 02:30-02:39, 03:00-03:09 and 03:30-03:49 UTC",
        ),
        (("21T23:00", "21T23:55", "22T00:05"), "measured in 2 parts, 23:00-23:09 and 23:55-00:14 (next day) UTC"),
    ],
)
def test_a_run_that_was_resumed_says_when_its_parts_were(times: tuple[str, ...], said: str) -> None:
    record = measured_at(*times)
    assert note(record) == said
    assert said in judge(record, NO_THRESHOLDS).notes


@pytest.mark.parametrize(
    ("times", "repeated"),
    [
        (("21T02:30", "21T03:10", "21T02:50", "21T03:00"), {1}),
        (("21T02:30", "21T03:10", "21T03:20", "21T03:00"), {1, 2}),
        (("21T03:00", "21T02:40", "21T03:10"), {0, 2}),
        (("21T02:30", "21T02:50", "21T03:00"), {1, 2}),
    ],
)
def test_a_trial_that_was_measured_again_after_all_others_is_no_other_part(
    times: tuple[str, ...], repeated: set[int]
) -> None:
    record = measured_at(*times)
    again = [Finding(code="steal", message="the hypervisor took 2 % of the CPU time")]
    trials = [
        trial.model_copy(update={"repeated": again if trial.order in repeated else []}) for trial in record.trials
    ]
    assert note(record.model_copy(update={"trials": trials})) is None


def test_a_resumed_run_with_such_a_trial_still_has_two_parts() -> None:
    record = measured_at("21T02:30", "21T05:02", "21T02:50", "21T04:52")
    again = [Finding(code="steal", message="the hypervisor took 2 % of the CPU time")]
    trials = [trial.model_copy(update={"repeated": again if trial.order == 1 else []}) for trial in record.trials]
    said = note(record.model_copy(update={"trials": trials}))
    assert said == "measured in 2 parts, 02:30-02:59 and 04:52-05:11 UTC"


@pytest.mark.parametrize("changed", [{"started": "soon"}, {"seconds": float("inf")}, {"seconds": float("nan")}])
def test_times_that_are_none_are_passed_over(changed: dict[str, object]) -> None:
    record = measured_at("21T02:30", "21T04:52")
    odd = record.trials[1].model_copy(update=changed)
    assert note(record.model_copy(update={"trials": [record.trials[0], odd]})) is None


def test_a_comparison_is_never_resumed_so_its_pauses_are_nothing_to_tell() -> None:
    record = measured_at("21T02:30", "21T04:52")
    compared = record.model_copy(update={"comparison": object()})
    assert note(compared) is None
