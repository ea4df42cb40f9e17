"""The lines that a comment proposes for an intended regression, and when it proposes none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.ci.headlines import headline
from pushbench.ci.intending import Promises, with_intended
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import judge
from pushbench.records.record import OneSided, Record
from pushbench.reporting.comment import Intended, Message, Part, comment
from pushbench.reporting.summary import summarize
from tests.ci.job_results import make_plan
from tests.ci.measured_changes import WITH_FASTAPI, accepting
from tests.comparisons import THRESHOLDS, arms, compared
from tests.factories import failed, invalid, make_record, make_thresholds, measured

SLOW = {"delivery_seconds.p95": 0.9}


def intended(record: Record, thresholds: Thresholds = THRESHOLDS, text: str | None = None, **of_plan: Any) -> Part:
    part = Part(record, summarize(record, judge(record, thresholds)))
    return with_intended(part, make_plan(**{"pull_request": 7, **of_plan}), Promises(text))


def only(part: Part) -> Intended:
    [found] = part.intended
    return found


def test_what_got_worse_gets_the_whole_path_and_the_place() -> None:
    part = only(intended(compared(arms("fastapi", cpu=0.15)), text=WITH_FASTAPI))
    assert part.lines[:4] == ["servers:", "  fastapi:", "    whiteboard:", "      accepted:"]
    assert part.lines[4].startswith("        cpu_seconds_per_delivery: {change: ")
    assert "put the rest below `servers: fastapi: whiteboard:`, line 8 of thresholds.yml." in part.how
    assert "maintainer" not in part.how


def test_a_broken_limit_of_a_pull_request_gets_an_exception(tmp_path: Path) -> None:
    record = make_record([measured("node-ws", SLOW)])
    part = only(intended(record, make_thresholds(tmp_path), "version: 1\n"))
    assert part.lines[-1].startswith("        delivery_seconds.p95: {max: 1.1s, stages: [1000], reason: ")
    assert part.how.startswith("The lines go at the end of thresholds.yml. ")


def test_of_a_fork_it_is_said_who_confirms_it_and_how(tmp_path: Path) -> None:
    part = only(intended(compared(arms("node-ws", cpu=0.15)), untrusted=True))
    assert "a maintainer confirms it with `/pushbench accept head=<sha>`" in part.how
    limits = only(intended(make_record([measured("node-ws", SLOW)]), make_thresholds(tmp_path), untrusted=True))
    assert "`limits` takes effect when a maintainer merges it into the default branch" in limits.how
    assert "/pushbench accept" not in limits.how, "which reads nothing but what is below accepted"


@pytest.mark.parametrize(
    "record",
    [
        compared(arms("node-ws")),
        compared(arms("node-ws", noise=0.15)),
        compared([invalid(trial, stage=0) for trial in arms("node-ws", rounds=6)]),
        compared([], one_sided=[OneSided(server="node-ws", reason="build: no", failed="head")]),
        compared([*arms("node-ws", cpu=0.15), failed("node-ws", 21)]),
        compared(arms("node-ws", cpu=0.15), accepting=[accepting(confirmed=False)]),
        compared(arms("node-ws", cpu=0.15), injected="cpu"),
    ],
    ids=["pass", "undecided", "invalid", "broken", "worse and broken", "waits for a maintainer", "control"],
)
def test_nothing_is_proposed_where_no_line_would_help(record: Record) -> None:
    assert intended(record).intended == ()


def test_nothing_is_proposed_for_a_push() -> None:
    assert intended(compared(arms("node-ws", cpu=0.15)), pull_request=None).intended == ()


@pytest.mark.parametrize("created", ["9999-12-31T10:15:00+00:00", "2026-02-31T10:15:00+00:00"])
def test_a_day_that_has_no_ninety_days_after_it_is_no_crash(created: str) -> None:
    record = compared(arms("node-ws", cpu=0.15))
    part = Part(record, summarize(record, judge(record, THRESHOLDS)))
    forged = Part(record.model_copy(update={"created": created}), part.summary)
    assert with_intended(forged, make_plan(pull_request=7), Promises()).intended == ()


def test_a_value_without_digits_is_no_crash(tmp_path: Path) -> None:
    record = make_record([measured("node-ws", SLOW)])
    verdict = judge(record, make_thresholds(tmp_path))
    limits = [each.model_copy(update={"value": 5e-324}) for each in verdict.limits]
    forged = verdict.model_copy(update={"limits": limits})
    summary = summarize(record, verdict).model_copy(update={"verdict": forged})
    assert with_intended(Part(record, summary), make_plan(pull_request=7), Promises()).intended == ()


@pytest.mark.parametrize(
    ("promises", "file"),
    [({}, "thresholds.yml"), ({"node-ws": "bench/chat/thresholds.yml"}, "bench/chat/thresholds.yml")],
)
def test_a_line_that_accepts_too_little_is_replaced(promises: dict[str, str], file: str) -> None:
    record = compared(arms("node-ws", cpu=0.15), accepting=[accepting(change=0.12)])
    part = only(intended(record, promises=promises))
    assert part.how.startswith(f"It replaces what accepts too little: {file}:30.")


@pytest.mark.slow
def test_many_lines_are_folded_and_few_are_not() -> None:
    names = [f"node-{'x' * number}" for number in range(1, 7)]
    many = intended(compared([trial for name in names for trial in arms(name, cpu=0.15)]))
    screen, _, folded = comment(Message("fail", [many])).partition("<details>")
    assert "cpu_seconds_per_delivery: {" not in screen
    assert "<summary>If this is intended: what to add to thresholds.yml" in folded
    assert folded.count("cpu_seconds_per_delivery: {change: ") == 6


@pytest.mark.parametrize("name", ["x: {}\n```\n</details> @team", "a\u202eb", "x" * 101, ""])
def test_a_name_that_no_server_has_is_not_put_into_lines_to_copy(name: str) -> None:
    assert intended(compared(arms(name, cpu=0.15))).intended == ()
    assert intended(compared(arms("node-ws", cpu=0.15)).model_copy(update={"suite": name})).intended == ()


def test_the_first_line_names_what_went_wrong_with_which_servers(tmp_path: Path) -> None:
    worse = judge(compared([*arms("node-ws", cpu=0.15), *arms("fastapi", cpu=0.2), *arms("go")]), THRESHOLDS)
    assert headline("fail", [worse]) == "FAIL, fastapi and node-ws got worse"
    thresholds = make_thresholds(tmp_path)
    mixed = judge(make_record([measured("node-ws", SLOW), failed("fastapi")]), thresholds)
    assert headline("fail", [mixed]) == "FAIL, node-ws broke a limit; fastapi does not work"
    flood = judge(make_record([failed(name) for name in ("a", "b", "c", "d")]), thresholds)
    assert headline("fail", [flood]) == "FAIL, 4 servers do not work"
    accepted = judge(compared(arms("node-ws", cpu=0.15), accepting=[accepting()]), THRESHOLDS)
    assert headline("pass", [accepted]) == "pass, what got worse is accepted, and nothing else did"
    assert headline("error", [], "an image could not be built") == "ERROR, an image could not be built"


def test_a_server_with_its_own_file_gets_the_lines_there() -> None:
    """Lines in its own file take precedence; lines in the checkout's file would have no effect."""
    record = compared([*arms("node-ws", cpu=0.15), *arms("fastapi", cpu=0.15)])
    part = Part(record, summarize(record, judge(record, THRESHOLDS)))
    plan = make_plan(pull_request=7, promises={"fastapi": "servers/fastapi/thresholds.yml"})
    found = with_intended(part, plan, Promises("version: 1\n", {"fastapi": WITH_FASTAPI})).intended
    assert {each.file: each.lines[1] for each in found} == {
        "thresholds.yml": "  node-ws:",
        "servers/fastapi/thresholds.yml": "  fastapi:",
    }
    how = {each.file: each.how for each in found}
    assert "at the end of thresholds.yml" in how["thresholds.yml"]
    where = "put the rest below `servers: fastapi: whiteboard:`, line 8 of servers/fastapi/thresholds.yml."
    assert where in how["servers/fastapi/thresholds.yml"]
    assert not any("A new file" in each for each in how.values())


def test_a_server_of_another_repository_gets_them_in_its_own_file() -> None:
    """The plan has no pull request, because that belongs to another repository."""
    record = compared(arms("node-ws", cpu=0.15))
    part = Part(record, summarize(record, judge(record, THRESHOLDS)))
    plan = make_plan(event="workflow_call", base="b" * 40, promises={"node-ws": "bench/chat/thresholds.yml"})
    found = only(with_intended(part, plan, Promises("version: 1\n")))
    assert found.file == "bench/chat/thresholds.yml"
    assert found.how.startswith("The lines go to bench/chat/thresholds.yml. A new file begins with `version: 1`.")
    assert with_intended(part, plan.model_copy(update={"base": None}), Promises()).intended == ()
