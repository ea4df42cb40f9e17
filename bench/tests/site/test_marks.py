"""The marks of a trend, and their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from pushbench.records.runs import Head, Runs
from pushbench.records.tools import tools_of
from pushbench.records.vocabulary import ORIGINAL
from pushbench.site.combining import Combination
from pushbench.site.layout import Data
from pushbench.site.marks import MOST, marks, stretches
from pushbench.site.releases import Release
from tests.factories import ENVIRONMENT, make_record, make_trial

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MACHINES = {
    "new": ENVIRONMENT.model_dump(),
    "old": ENVIRONMENT.model_dump() | {"kernel": "6.1", "cpu_model": "Xeon \x1b[31m" + "x" * 300},
}


def moment(hour: float) -> str:
    return (BEGIN + timedelta(hours=hour)).isoformat()


def seconds(hour: float) -> int:
    return int((BEGIN + timedelta(hours=hour)).timestamp())


def sha(hour: float) -> str:
    return f"{int(hour * 10):040x}"


def release(name: str, hour: float, commit: str = "f" * 40) -> Release:
    return Release(name=name, commit=commit, date=moment(hour))


def combination(environment: str, hours: Sequence[int]) -> Combination:
    heads = [Head(f"r{hour:05}", moment(hour), sha(hour), "", {}, 1) for hour in hours]
    return Combination(environment, "whiteboard", "full", {}, Runs(heads, {}, np.empty((0, 0))), ORIGINAL)


def found(
    hours: Sequence[int] = range(20),
    releases: Sequence[Release] = (),
    others: Mapping[str, Sequence[int]] | None = None,
    tools: Mapping[str, Data] | None = None,
) -> list[Data]:
    own = combination("new", hours)
    alike = [own, *(combination(name, when) for name, when in (others or {}).items())]
    result = marks(own, alike, releases, MACHINES, tools or {})
    assert result["left_out"] == 0
    return list(result["marks"])


def test_a_release_is_at_the_run_of_its_commit_or_else_at_the_first_one_after_it() -> None:
    releases = [release("v1.0.0", 3, sha(5)), release("v1.1.0", 7.5), release("v1.2.0", 9)]
    assert [(each["name"], each["at"], each["exact"]) for each in found(releases=releases)] == [
        ("v1.0.0", 5, True),
        ("v1.1.0", 8, False),
        ("v1.2.0", 9, False),
    ]


def test_releases_before_the_first_run_and_after_the_last_one_are_not_on_the_axis() -> None:
    assert found(releases=[release("v0.9.0", -1), release("v2.0.0", 19.5)]) == []
    [late] = found(releases=[release("v2.0.0", 99, sha(3))])
    assert late["at"] == 3


def test_a_release_in_a_pause_is_at_the_run_that_ends_it() -> None:
    hours = [*range(5), *range(50, 55)]
    assert [each["at"] for each in found(hours, [release("v1.0.0", 10), release("v1.1.0", 20)])] == [5, 5]


def test_a_run_whose_clock_was_wrong_hides_no_release() -> None:
    own = combination("new", range(10))
    heads = list(own.runs.heads)
    heads[6] = Head(heads[6].record, moment(-500), None, "", {}, 1)
    own = Combination("new", "whiteboard", "full", {}, Runs(heads, {}, np.empty((0, 0))), ORIGINAL)
    result = marks(own, [own], [release("v1.0.0", 4.5), release("v1.1.0", 7.5)], MACHINES, {})
    assert [each["at"] for each in result["marks"]] == [5, 8]


def test_another_environment_is_named_where_it_ended_and_where_it_began() -> None:
    before, after = range(6), range(30, 36)
    first, last = found(range(10, 20), others={"old": before, "newer": after})
    assert first == {
        "kind": "environment",
        "at": 0,
        "where": "before",
        "environment": "old",
        "combination": combination("old", before).id,
        "from": seconds(0),
        "to": seconds(5),
        "runs": 6,
        "changed": [
            ["CPU", f"Xeon {'x' * 92}...", "AMD EPYC 7763 64-Core Processor"],
            ["kernel", "6.1", "6.18"],
        ],
    }
    assert (last["at"], last["where"], last["from"], last["changed"]) == (9, "after", seconds(30), None)


def test_another_method_and_other_generators_are_another_environment_on_the_same_machine() -> None:
    before = {name: fact for name, fact in MACHINES["new"].items() if name not in ("method", "generators")}
    machines = {"new": MACHINES["new"] | {"generators": 3}, "old": before}
    own, other = combination("new", range(10, 20)), combination("old", range(6))
    [mark] = marks(own, [own, other], [], machines, {})["marks"]
    assert mark["changed"] == [["generators", "1", "3"], ["method", "1", "2"]]


def test_runs_elsewhere_in_between_are_a_mark_at_the_first_run_after_them() -> None:
    [mark] = found([*range(10), *range(20, 30)], others={"old": range(10, 20)})
    assert (mark["at"], mark["where"], mark["runs"]) == (10, "before", 10)


def test_what_is_measured_elsewhere_later_does_not_change_a_mark() -> None:
    assert found(range(9), others={"old": range(9, 20)}) == found(range(9), others={"old": range(9, 30)})


def test_machines_that_take_turns_are_no_change() -> None:
    assert found(range(0, 2000, 2), others={"old": range(1, 2000, 2)}) == []
    assert found(range(20, 2000, 2), others={"old": [*range(20), *range(21, 2000, 2)]}) == []


def test_a_new_environment_is_marked_at_its_first_run() -> None:
    [mark] = found([20], others={"old": range(20)})
    assert (mark["at"], mark["where"]) == (0, "before")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("AAAAABBBBB", [("A", 0, 4), ("B", 5, 9)]),
        ("AAAAABAAAAA", [("A", 0, 10)]),
        ("AAAAABBBBBAAAAA", [("A", 0, 4), ("B", 5, 9), ("A", 10, 14)]),
        ("AAAAAB", [("A", 0, 4), ("B", 5, 5)]),
        ("AAABCAAA", [("B", 3, 3), ("C", 4, 4)]),
        ("AAAAABABAB", [("A", 0, 4)]),
        ("ABCD", [("A", 0, 0), ("B", 1, 1), ("C", 2, 2), ("D", 3, 3)]),
        ("AA..A..BB", [("A", 0, 4), ("B", 7, 8)]),
        ("ABABAB", []),
        ("....", []),
    ],
)
def test_what_comes_and_goes_is_no_stretch(values: str, expected: list[tuple[str, int, int]]) -> None:
    known = [None if each == "." else each for each in values]
    assert [(each.value, each.begin, each.last) for each in stretches(known)] == expected


def test_another_harness_and_another_schedule_are_marked_where_they_were_first_used() -> None:
    plain = make_record([make_trial("node-ws")])
    newer = plain.model_copy(
        update={
            "harness": plain.harness.model_copy(update={"k6": "v9.0.0"}),
            "schedule": plain.schedule.model_copy(update={"warmup_seconds": 99.0}),
        }
    )
    tools = {
        f"r{hour:05}": tools_of(plain if hour < 8 else newer).model_dump() for hour in range(20) if hour not in (6, 7)
    }
    [mark] = found(tools=tools)
    assert mark == {
        "kind": "harness",
        "at": 8,
        "changed": [
            ["k6", plain.harness.k6, "v9.0.0"],
            ["schedule", "8 s of warm-up, stages of 6 s", "99 s of warm-up, stages of 6 s"],
        ],
        "last": seconds(5),
    }


def test_what_a_server_reports_is_a_mark_of_that_server_and_inert() -> None:
    trials = [make_trial("node-ws"), make_trial("go")]
    reported = trials[0].reported
    assert reported
    other = reported.model_copy(update={"runtime": "Node.js\n99 \x1b[31m" + "9" * 300})
    newer = make_record([trials[0].model_copy(update={"reported": other}), trials[1]])
    tools = {f"r{hour:05}": tools_of(make_record(trials) if hour < 8 else newer).model_dump() for hour in range(20)}
    [mark] = found(tools=tools)
    [[name, before, after]] = mark.pop("changed")
    assert mark == {"kind": "versions", "server": "node-ws", "at": 8}
    assert (name, before) == ("runtime", reported.runtime)
    assert after.startswith("Node.js 99 99")
    assert len(after) == 100


def test_of_very_many_marks_the_newest_are_kept_and_it_is_said() -> None:
    releases = [release(f"1.0.{hour}", hour) for hour in range(5000)]
    own = combination("new", range(5000))
    result = marks(own, [own], releases, MACHINES, {})
    assert [each["name"] for each in result["marks"]] == [f"1.0.{hour}" for hour in range(5000 - MOST, 5000)]
    assert result["left_out"] == 5000 - MOST
