"""A suite is a file; its profiles become the schedule and parameters of a load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pushbench.catalog.suites import Suite, declaring_suite, find_suite, read_suites
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.records.record import Outage
from tests.support import add_server, make_project

SUITE = """
title: Board
description: Clients on boards.
protocols: [board-json]
words: {work: {name: delivery, plural: Deliveries}, headline: delivery_seconds.p95,
  exchanges: {message: {plural: Messages, latencies: {delivery: {title: Delivery, until: each}}}}}
parameters: {size: 10, pattern: steady, share: 0.5, echo: true}
minimum: {size: 1}
profiles:
  quick: {stages: [10, 20], warmup_seconds: 1, ramp_seconds: 2, settle_seconds: 3, steady_seconds: 4, drain_seconds: 5}
  full:
    stages:
      - 10
      - {clients: 20, name: large-20, parameters: {size: 20}}
      - {clients: 40, name: large-40, parameters: {size: 20}}
      - {clients: 40, parameters: {size: 10}}
    warmup_seconds: 1
    ramp_seconds: 2
    settle_seconds: 3
    steady_seconds: 4
    drain_seconds: 5
  classroom:
    stages: [100]
    warmup_seconds: 1
    ramp_seconds: 1
    settle_seconds: 1
    steady_seconds: 1
    drain_seconds: 1
    parameters: {size: 100}
"""


def suite(tmp_path: Path) -> Suite:
    (tmp_path / "board.yml").write_text(SUITE)
    return find_suite(tmp_path, "board")


def test_a_profile_resolves_to_stages(tmp_path: Path) -> None:
    load = suite(tmp_path).load("quick", {})
    assert [stage.clients for stage in load.schedule.stages] == [10, 20]
    assert {stage.steady_seconds for stage in load.schedule.stages} == {4}
    assert (load.schedule.warmup_seconds, load.schedule.drain_seconds) == (1, 5)
    assert load.scenario == tmp_path / "board.js"


def test_parameters_come_from_suite_profile_and_command_line_the_last_winning(tmp_path: Path) -> None:
    board = suite(tmp_path)
    assert board.load("quick", {}).parameters == {"size": 10, "pattern": "steady", "share": 0.5, "echo": True}
    assert board.load("classroom", {}).parameters["size"] == 100
    given = {"size": "7", "pattern": "sparse", "share": "1", "echo": "false"}
    assert board.load("classroom", given).parameters == {"size": 7, "pattern": "sparse", "share": 1.0, "echo": False}


@pytest.mark.parametrize(
    ("profile", "given", "told"),
    [
        ("qiuck", {}, "unknown profile of board 'qiuck'; did you mean quick? known: quick, full, classroom"),
        ("quick", {"sice": "1"}, "unknown parameter of board 'sice'; did you mean size?"),
        ("quick", {"size": "many"}, "parameter size: expected a whole number, found 'many'"),
        ("quick", {"share": "x"}, "parameter share: expected a number, found 'x'"),
        ("quick", {"echo": "maybe"}, "parameter echo: expected true or false, found 'maybe'"),
    ],
)
def test_what_a_suite_does_not_have_is_told(tmp_path: Path, profile: str, given: dict[str, str], told: str) -> None:
    with pytest.raises(UserError) as raised:
        suite(tmp_path).load(profile, given)
    assert str(raised.value).startswith(told)


def test_a_stage_may_have_a_name_and_parameters_of_its_own(tmp_path: Path) -> None:
    stages = suite(tmp_path).load("full", {}).schedule.stages
    assert [(stage.name, stage.clients, stage.parameters) for stage in stages] == [
        ("10", 10, {}),
        ("large-20", 20, {"size": 20}),
        ("large-40", 40, {"size": 20}),
        ("40", 40, {}),
    ]
    assert suite(tmp_path).stages == ["10", "20", "large-20", "large-40", "40", "100"]


def test_the_ramp_of_a_stage_that_changes_parameters_begins_with_the_drain(tmp_path: Path) -> None:
    stages = suite(tmp_path).load("full", {}).schedule.stages
    assert [stage.ramp_seconds for stage in stages] == [2, 7, 2, 7]


def test_a_parameter_that_is_given_leaves_a_stage_its_own(tmp_path: Path) -> None:
    board = suite(tmp_path)
    other = board.load("full", {"size": "5"})
    assert other.parameters["size"] == 5
    assert [stage.parameters for stage in other.schedule.stages] == [{}, {"size": 20}, {"size": 20}, {"size": 10}]
    same = board.load("full", {"size": "20"}).schedule.stages
    assert [stage.parameters for stage in same] == [{}, {}, {}, {"size": 10}]
    assert [stage.ramp_seconds for stage in same] == [2, 2, 2, 7]


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("{clients: 5, parameters: {sice: 3}}", "stage 5: unknown parameter of board 'sice'; did you mean size?"),
        ("{clients: 5, parameters: {size: big}}", "stage 5: parameter size: expected a whole number, found 'big'"),
        ("{clients: 5, parameters: {size: 0}}", "stage 5: parameter size: expected at least 1, found 0"),
    ],
)
def test_a_stage_cannot_have_parameters_that_the_suite_has_not(tmp_path: Path, stage: str, told: str) -> None:
    (tmp_path / "board.yml").write_text(SUITE.replace("stages: [100]", f"stages: [{stage}]"))
    with pytest.raises(UserError) as raised:
        find_suite(tmp_path, "board").load("classroom", {})
    assert str(raised.value).startswith(f"{tmp_path / 'board.yml'}: {told}")


@pytest.mark.parametrize(
    ("stages", "line", "told"),
    [
        ("[100, {clients: 100}]", 22, "2 stages have the name 100"),
        ("[many]", 23, "expected a number of clients, or a mapping of name, clients and parameters"),
        ("[true]", 23, "expected a number of clients, or a mapping of name, clients and parameters"),
        ("[0]", 23, "greater than 0"),
        ("[{name: x}]", 23, "clients: missing"),
        ("[{clients: 5, name: 6}]", 23, "name: expected a string"),
        ("[{clients: 5, name: '6'}]", 23, "should match pattern"),
        ("[{clients: 5, size: 6}]", 23, "unknown key"),
    ],
)
def test_a_mistake_in_the_stages_is_told_with_its_line(tmp_path: Path, stages: str, line: int, told: str) -> None:
    (tmp_path / "board.yml").write_text(SUITE.replace("stages: [100]", f"stages: {stages}"))
    with pytest.raises(UserError) as raised:
        find_suite(tmp_path, "board")
    assert str(raised.value).startswith(f"{tmp_path / 'board.yml'}:{line}: ")
    assert told in str(raised.value)


def test_an_unknown_suite_is_told_with_the_nearest(tmp_path: Path) -> None:
    suite(tmp_path)
    with pytest.raises(UserError, match=r"unknown suite 'bord'; did you mean board\? known: board"):
        find_suite(tmp_path, "bord")


def test_a_server_with_a_protocol_that_no_client_speaks_is_told(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path / "checkout"), "x")
    with pytest.raises(UserError, match=r"server\.yml: unknown protocol of board 'tiny-json'; known: board-json"):
        suite(tmp_path).check(server)


def test_the_suites_of_this_checkout_can_be_read() -> None:
    assert "whiteboard" in {each.id for each in read_suites(Project.current().scenarios)}


def test_the_whiteboard_is_compared_between_what_two_runtimes_do_once() -> None:
    """V8 drops compiled code 8 s after its start, up to three times; the JVM's second compiler begins at 22 s."""
    schedule = find_suite(Project.current().scenarios, "whiteboard").load("compare", {}).schedule
    [stage] = schedule.stages
    begins = schedule.warmup_seconds + stage.ramp_seconds + stage.settle_seconds
    assert begins >= 11
    assert begins + stage.steady_seconds <= 20


CLOSED = "[{clients: 5, closed: true}, {clients: 5, name: slow-closed, closed: true, parameters: {size: 3}}, 5]"


def test_a_closed_stage_says_so_in_its_name_and_gets_clients_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "board.yml").write_text(SUITE.replace("stages: [100]", f"stages: {CLOSED}"))
    stages = find_suite(tmp_path, "board").load("classroom", {}).schedule.stages
    assert [(stage.name, stage.closed) for stage in stages] == [
        ("closed-5", True),
        ("slow-closed", True),
        ("5", False),
    ]
    assert [stage.ramp_seconds for stage in stages] == [1, 2, 2]


def test_a_closed_stage_whose_name_does_not_say_so_is_refused(tmp_path: Path) -> None:
    stages = "[{clients: 5, name: slow, closed: true}]"
    (tmp_path / "board.yml").write_text(SUITE.replace("stages: [100]", f"stages: {stages}"))
    with pytest.raises(UserError, match="the name of a closed stage says so, such as slow-closed"):
        find_suite(tmp_path, "board")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("headline: delivery_seconds.p95", "headline: delivry_seconds.p95"), "headline: expected LATENCY_seconds"),
        (("latencies: {delivery: {", "latencies: {connect: {"), "headline: expected"),
        (("title: Delivery", "title: <b>"), "should match pattern"),
        (("until: each", "until: ever"), "own"),
    ],
)
def test_words_that_cannot_be_used_are_refused(tmp_path: Path, wrong: tuple[str, str], told: str) -> None:
    (tmp_path / "board.yml").write_text(SUITE.replace(*wrong))
    with pytest.raises(UserError, match=told):
        find_suite(tmp_path, "board")


OUTAGE = "{clients: 5, name: killed, outage: {kill: server, at_seconds: 2, within_seconds: 4}}"


def outage_suite(steady: str = "6", words: str = "recovers: true, ", old: str = "", new: str = "") -> str:
    text = SUITE.replace("stages: [100]", f"stages: [{OUTAGE}]").replace("words: {", f"words: {{{words}")
    return re.sub(r"steady_seconds: \d+", f"steady_seconds: {steady}", text).replace(old, new)


def test_a_stage_says_what_is_killed_in_it(tmp_path: Path) -> None:
    (tmp_path / "board.yml").write_text(outage_suite())
    [stage] = find_suite(tmp_path, "board").load("classroom", {}).schedule.stages
    assert stage.outage == Outage(kill="server", at_seconds=2, down_seconds=0, within_seconds=4)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"steady": "5"}, "the outage of stage killed ends after 6 s, .* within the steady window of 5 s"),
        (
            {"old": "within_seconds: 4", "new": "within_seconds: 4, down_seconds: 4"},
            "4 s of them down: .* and down_seconds below within_seconds",
        ),
        ({"old": "at_seconds: 2", "new": "at_seconds: 0"}, "greater than or equal to 1"),
        ({"old": "kill: server", "new": "kill: cable"}, "server.*worker.*service"),
        ({"words": ""}, "a stage has an outage, but `words` lacks `recovers: true`"),
    ],
)
def test_an_outage_that_cannot_be_played_or_told_is_refused(tmp_path: Path, wrong: dict[str, str], told: str) -> None:
    (tmp_path / "board.yml").write_text(outage_suite(**wrong))
    with pytest.raises(UserError, match=told):
        find_suite(tmp_path, "board")


def offering(text: str) -> str:
    return SUITE.replace(
        "minimum:", f"declared_protocols: websocket\nchoices: {{pattern: [steady, fast]}}\n{text}\nminimum:"
    )


def test_a_suite_says_what_its_clients_send_before_they_do(tmp_path: Path) -> None:
    text = "offered: {by: pattern, messages_per_second: {steady: 1, fast: 4}, group: size}"
    (tmp_path / "board.yml").write_text(offering(text))
    found = declaring_suite(tmp_path, "websocket")
    assert found.spec.offered
    assert found.spec.offered.deliveries_per_second(30, {"pattern": "fast", "size": 10}) == 1200
    assert found.spec.offered.deliveries_per_second(5, {"pattern": "steady", "size": 10}) == 25
    assert declaring_suite(tmp_path, "websocket", "board").id == "board"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("offered: {by: pace, messages_per_second: {steady: 1}, group: size}", "offered: pace is not a parameter"),
        ("offered: {by: pattern, messages_per_second: {steady: 1, fast: 1}, group: seats}", "seats is not a parameter"),
        (
            "offered: {by: pattern, messages_per_second: {steady: 1}, group: size}",
            "a rate for each of the choices of pat",
        ),
    ],
)
def test_what_clients_send_is_known_for_every_choice(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "board.yml").write_text(offering(text))
    with pytest.raises(UserError, match=told):
        find_suite(tmp_path, "board")


def test_a_protocol_is_declared_for_one_suite(tmp_path: Path) -> None:
    (tmp_path / "board.yml").write_text(SUITE)
    with pytest.raises(UserError, match="the protocol does not determine the suite"):
        declaring_suite(tmp_path, "websocket")
    with pytest.raises(UserError, match="the suite board has no declared protocols"):
        declaring_suite(tmp_path, "websocket", "board")
