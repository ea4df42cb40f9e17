"""A capacity is `worse` only if all fresh starts agree; a lower bound and a disturbed machine prove nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.judging.accepting import newly_accepted
from pushbench.judging.judged_capacity import CapacityVerdict, JudgedCapacity, against_base, against_history
from pushbench.judging.thresholds import Thresholds
from pushbench.records.capacity_history import CapacityEntry, KeptCapacity
from pushbench.reporting.judged_capacities import render_capacity_verdict, sentence
from tests.factories import make_thresholds
from tests.records.capacity_entries import entry, kept

BOUND: dict[str, Any] = {"at_least": True, "end": "generator", "reason": "the generator ended here"}
WORSE = kept(4000, 4100, 4300)
SCATTER = (5200, 5300, 5150, 5250, 5100, 5350)


@pytest.fixture
def thresholds(tmp_path: Path) -> Thresholds:
    return make_thresholds(tmp_path)


def history(values: Sequence[int] = SCATTER) -> list[CapacityEntry]:
    return [entry(day, kept(value - 100, value, value + 100)) for day, value in enumerate(values, 1)]


def only(verdict: CapacityVerdict) -> JudgedCapacity:
    (found,) = verdict.servers
    return found


@pytest.mark.parametrize(
    ("now", "word", "outcome"),
    [
        (kept(), "same", "pass"),
        (kept(4500, 4600, 4700), "same", "pass"),  # 12 % less, below the margin
        (kept(4000, 4100, 5000), "worse", "fail"),  # all refused a load that every start of the base carried
        (kept(4000, 4100, 5001), "unknown", "inconclusive"),  # one start may carry as much as the base
        (kept(5400, 6200, 6300), "better", "pass"),
        (kept(5399, 6200, 6300), "unknown", "inconclusive"),
        (kept(4000, 4100, 4300, starts=[4000, 4100]), "unknown", "inconclusive"),
    ],
)
def test_a_change_counts_where_no_start_of_one_side_reaches_the_other(
    now: KeptCapacity, word: str, outcome: str, thresholds: Thresholds
) -> None:
    found = only(against_base(entry(21, now), entry(20), thresholds))
    assert (found.word, found.outcome) == (word, outcome)


@pytest.mark.parametrize("carried", [4000, 5200, 5400, 5600])
def test_a_lower_bound_is_no_number_and_never_worse(carried: int, thresholds: Thresholds) -> None:
    bound = kept(carried - 50, carried, carried + 50, **BOUND)
    found = only(against_base(entry(21, bound), entry(20), thresholds))
    assert (found.word, found.change) == ("unknown", None)
    assert found.reason == f"a lower bound only, at least {carried:,}: the generator ended here"
    assert only(against_history(entry(21, bound), history(), thresholds)).word == "unknown"


def test_a_lower_bound_far_above_is_better_whatever_the_number_is(thresholds: Thresholds) -> None:
    bound = kept(9000, 9940, 10_000, **BOUND)
    found = only(against_base(entry(21, bound), entry(20), thresholds))
    assert (found.word, found.outcome, found.change) == ("better", "pass", None)


def test_nothing_is_worse_than_a_lower_bound(thresholds: Thresholds) -> None:
    found = only(against_base(entry(21, WORSE), entry(20, kept(**BOUND)), thresholds))
    assert (found.word, found.before) == ("unknown", None)
    assert found.reason == "the base has a lower bound only, at least 5,200: the generator ended here"
    bounds = [entry(day, kept(**BOUND)) for day in range(1, 10)]
    found = only(against_history(entry(21, WORSE), bounds, thresholds))
    assert found.word == "unknown"
    assert found.reason == "the history has 0 capacities of its level, and 9 without a number, and 5 are needed"


def test_a_machine_that_was_disturbed_says_nothing(thresholds: Thresholds) -> None:
    disturbed = kept(1000, 1100, 1200, at_least=True, end="disturbed", reason="the machine was disturbed here: steal")
    for found in (
        only(against_base(entry(21, disturbed), entry(20), thresholds)),
        only(against_history(entry(21, disturbed), history(), thresholds)),
    ):
        assert (found.word, found.outcome) == ("unknown", "inconclusive")
        assert found.reason == "the machine was disturbed here: steal"


def test_a_server_that_fails_or_carries_nothing_fails_whatever_it_did_before(thresholds: Thresholds) -> None:
    dead = kept(carried=None, low=None, high=None, end=None, starts=[], failure="failed to start: it is dead")
    nothing = kept(0, 0, 10, starts=[0, 0, 0])
    for now, said in ((dead, "failed to start: it is dead"), (nothing, "no load was carried: delivery p95 812 ms")):
        found = only(against_history(entry(21, now), [], thresholds))
        assert found.outcome == "fail"
        assert found.reason.startswith(said)
    gone = against_history(entry(21, dead), [], thresholds)
    assert sentence(only(gone), gone) == "node-ws: no capacity was found: failed to start: it is dead"


@pytest.mark.parametrize(
    ("now", "word"),
    [
        (kept(5000, 5200, 5400), "same"),
        (kept(4000, 4100, 4300), "worse"),
        (kept(4000, 4100, 5000), "unknown"),
        (kept(6000, 6300, 6500), "better"),
    ],
)
def test_against_the_history_the_starts_have_to_leave_its_band(
    now: KeptCapacity, word: str, thresholds: Thresholds
) -> None:
    found = only(against_history(entry(21, now), history(), thresholds))
    assert found.word == word
    assert found.before is not None
    assert (round(found.before.carried), found.before.searches) == (5225, 6)


def test_a_history_is_of_the_time_before_of_one_environment_and_asked_in_one_way(thresholds: Thresholds) -> None:
    others = [
        *(each.model_copy(update={"environment": "ba9876543210"}) for each in history()),
        *(each.model_copy(update={"asked": "0"}) for each in history()),
        *(entry(day) for day in range(22, 29)),
    ]
    found = only(against_history(entry(21, WORSE), others, thresholds))
    assert found.before is None
    assert found.reason.endswith("the history has 0 capacities of its level, and 5 are needed; 6 were asked otherwise")
    own = entry(21, WORSE)
    assert only(against_history(own, [own, *history()], thresholds)).word == "worse"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"environment": "ba9876543210"}, "is from the environment ba9876543210, and .* from 0123456789ab"),
        ({"suite": "posts"}, "is from the suite posts, and .* from whiteboard"),
        ({"asked": "0"}, "was searched under other conditions"),
        ({"record": entry(21).record}, "is compared with itself"),
    ],
)
def test_a_base_that_cannot_be_compared_is_refused(changed: dict[str, str], said: str, thresholds: Thresholds) -> None:
    with pytest.raises(UserError, match=said):
        against_base(entry(21), entry(20).model_copy(update=changed), thresholds)


def test_a_base_without_the_server_or_with_few_starts_says_so(thresholds: Thresholds) -> None:
    without = entry(20, servers={"fastapi": kept()})
    assert only(against_base(entry(21), without, thresholds)).reason == "the base has no capacity of it"
    few = entry(20, kept(starts=[5000]))
    said = "the base has 1 start that counts, and 3 are needed"
    assert only(against_base(entry(21), few, thresholds)).reason == said


def test_the_worst_server_decides(thresholds: Thresholds) -> None:
    unknown = kept(starts=[5000])
    base = entry(20, servers=dict.fromkeys(("a", "b", "c"), kept()))
    for servers, outcome, codes in (
        ({"a": kept(), "b": kept()}, "pass", (0, 0)),
        ({"a": kept(), "b": unknown}, "inconclusive", (3, 0)),
        ({"a": WORSE, "b": unknown}, "fail", (1, 1)),
    ):
        found = against_base(entry(21, servers=servers), base, thresholds)
        assert found.outcome == outcome
        assert (found.exit_code(), found.exit_code(allow_inconclusive=True)) == codes


@pytest.mark.parametrize(("margin", "word"), [("20%", "worse"), ("22%", "same")])
def test_the_margin_is_that_of_the_suite(margin: str, word: str, tmp_path: Path) -> None:
    text = f"version: 1\nsuites:\n  whiteboard:\n    regressions:\n      capacity: {{margin: {margin}}}\n"
    found = against_base(entry(21, WORSE), entry(20), make_thresholds(tmp_path, text))
    assert (only(found).word, round(found.margin * 100)) == (word, int(margin[:-1]))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{margin: 4%}", "expected a margin from 5% to below 100%, found 4%"),
        ("{margin: 100%}", "expected a margin from 5% to below 100%"),
        ("{margin: 15%, floor: 100}", "a capacity has a margin and nothing else"),
        ("{margin: 15%, better: lower}", "a capacity has a margin and nothing else"),
    ],
)
def test_a_margin_that_says_nothing_is_refused_with_its_line(line: str, said: str, tmp_path: Path) -> None:
    text = f"version: 1\nsuites:\n  whiteboard:\n    regressions:\n      capacity: {line}\n"
    with pytest.raises(UserError, match=said) as refused:
        make_thresholds(tmp_path, text)
    assert str(refused.value).startswith(f"{tmp_path / 'thresholds.yml'}:5")


def test_runs_are_not_held_against_the_margin_of_capacities(tmp_path: Path) -> None:
    text = "version: 1\nsuites:\n  whiteboard:\n    regressions:\n      capacity: {margin: 20%}\n"
    assert make_thresholds(tmp_path, text).suite("whiteboard").regressions == ()


ACCEPTED = """\
version: 1
servers:
  node-ws:
    whiteboard:
      accepted:
        capacity: {line}
"""


@pytest.mark.parametrize(
    ("line", "word", "reason"),
    [
        ("{level: 4000, reason: it checks more, until: 2026-12-31}", "accepted", "it checks more"),
        ("{level: 4100, reason: it checks more, until: 2026-12-31}", "accepted", "it checks more"),
        ("{level: 4101, reason: it checks more, until: 2026-12-31}", "worse", "accepted down to 4,101, found 4,100"),
        (
            "{level: 4000, reason: it checks more, until: 2026-11-20}",
            "worse",
            "thresholds.yml:6 accepts 4,000, and does not hold on 2026-11-21",
        ),
        (
            "{level: 4000, reason: it checks more, until: 2027-06-30}",
            "worse",
            "thresholds.yml:6 accepts 4,000, and does not hold on 2026-11-21",
        ),
    ],
)
def test_a_line_accepts_a_capacity_down_to_its_level_while_it_holds(
    line: str, word: str, reason: str, tmp_path: Path
) -> None:
    thresholds = make_thresholds(tmp_path, ACCEPTED.replace("{line}", line))
    found = against_base(entry(21, WORSE), entry(20), thresholds)
    assert (only(found).word, only(found).reason) == (word, reason)
    assert found.outcome == ("pass" if word == "accepted" else "fail")
    assert only(against_base(entry(21), entry(20), thresholds)).word == "same"
    assert thresholds.suite("whiteboard").accepted == (), "no comparison knows of it"


@pytest.mark.parametrize("line", ["change: 20%", "level: 4000, stages: [1000]"])
def test_a_capacity_is_accepted_by_its_level_alone(line: str, tmp_path: Path) -> None:
    text = ACCEPTED.replace("{line}", f"{{{line}, reason: it checks more, until: 2026-12-31}}")
    with pytest.raises(UserError, match="a capacity is accepted by its level alone; such as level: 4000"):
        make_thresholds(tmp_path, text)


def test_a_line_about_a_capacity_asks_for_no_comparison() -> None:
    text = ACCEPTED.replace("{line}", "{level: 4000, reason: it checks more, until: 2026-12-31}")
    assert newly_accepted("version: 1\n", text) == frozenset()
    assert newly_accepted("version: 1\n", text.replace("capacity:", "loss_ratio:")) == {"node-ws"}


def test_people_see_the_numbers_of_both_sides(thresholds: Thresholds) -> None:
    verdict = against_base(entry(21, WORSE), entry(20), thresholds)
    assert render_capacity_verdict(verdict) == (
        "whiteboard: capacity in clients, record 20261121T101500Z-1a2b3c\n"
        "against the base 20261120T101500Z-1a2b3c: fail\n"
        "\n"
        "node-ws: worse, 4,100 [4,000 to 4,300] clients\n"
        "  before  5,200 [5,000 to 5,400]\n"
        "  change  -21.2%, margin 15%\n"
    )
    said = "node-ws: capacity 4,100 [4,000 to 4,300] clients, was 5,200 [5,000 to 5,400]: -21%, margin 15%: worse"
    assert sentence(only(verdict), verdict) == said
    few = against_history(entry(21), [], thresholds)
    because = "because the history has 0 capacities of its level, and 5 are needed"
    assert f"node-ws: unknown, 5,200 [5,000 to 5,400] clients\n  {because}\n" in render_capacity_verdict(few)
