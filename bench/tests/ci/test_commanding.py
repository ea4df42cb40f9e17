"""A line of a comment is a command in only one form, and starts its run only if that is safe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pushbench.catalog.servers import Server, read_catalog
from pushbench.ci.commanding import (
    LONGEST_LINE,
    TITLE,
    Answer,
    Command,
    Known,
    Pull,
    decide,
    parse,
    read_comment,
    refused,
    run_of,
    started,
)
from pushbench.foundation.errors import UserError
from tests.ci.events import HEAD, HOSTILE, OLD, environment, payload
from tests.support import make_project

OWN = Pull(7, True, HEAD, own=True)
FORK = Pull(7, True, HEAD, own=False)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    root = tmp_path_factory.mktemp("project")
    servers: Sequence[Server] = read_catalog(make_project(root, alpha="", beta="").servers)
    return Known(servers, ["quick", "full"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/pushbench", Command("measure")),
        ("/pushbench \t\r\nThank you!\n/pushbench help", Command("measure")),
        (
            "/pushbench servers=node-*,tier:tuned  profile=full rounds=3",
            Command("measure", {"servers": "node-*,tier:tuned", "profile": "full", "rounds": "3"}),
        ),
        (f"/pushbench head={HEAD}", Command("measure", {"head": HEAD})),
        (f"/pushbench accept head={HEAD}", Command("accept", {"head": HEAD})),
        ("/pushbench accept", Command("accept")),
        ("/pushbench help", Command("help")),
    ],
)
def test_a_command_is_the_first_line(body: str, expected: Command) -> None:
    assert parse(body) == expected


@pytest.mark.parametrize(
    "body", ["", "\n/pushbench", " /pushbench", "> /pushbench", "/pushbenchmark", "/Pushbench", "see /pushbench"]
)
def test_anything_else_is_no_command(body: str) -> None:
    assert parse(body) is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("start", 'There is no command "start"'),
        ("hepl", "Did you mean help?"),
        ("servres=node-ws", "Did you mean servers?"),
        ("accept servers=node-ws", "accept takes head"),
        ("help head=x", "help takes nothing else"),
        ("profile=full profile=quick", "profile is given twice"),
        ("servers=a help", '"help" is not understood'),
        ("servers=", 'servers is "'),
        ("servers=--out", 'servers is "'),
        ("servers=a;id", 'servers is "'),
        ("profile=../x", 'profile is "'),
        ("profile=$(id)", 'profile is "'),
        ("rounds=0", 'rounds is "'),
        ("rounds=1000", 'rounds is "'),
        ("rounds=٣", 'rounds is "'),
        ("head=0123456", "an abbreviated SHA can be forged"),
        (f"head={HEAD[:39]}", "all 40 digits"),
        (f"head={HEAD.upper()}", "all 40 digits"),
        (f"head={HEAD}0", "all 40 digits"),
        ("accept=true", '"accept" is not understood'),
        ("base=main", '"base" is not understood'),
        ("x" * LONGEST_LINE, f"more than {LONGEST_LINE} characters"),
        ("\u00a0head=x", '"head" is not understood'),
    ],
)
def test_a_wrong_command_is_answered_with_the_right_form(words: str, told: str) -> None:
    found = parse(f"/pushbench {words}")
    assert isinstance(found, Answer)
    assert told in found.sentence
    assert "/pushbench help" in found.examples


@pytest.mark.parametrize("word", [*HOSTILE.split(), "[x](https://evil.example)", "@acme/team", "`", "#1", "<!--"])
def test_hostile_words_are_shown_as_text(word: str) -> None:
    found = parse(f"/pushbench {word}=1")
    assert isinstance(found, Answer)
    shown = refused(99, found)
    assert not re.search(r"@\w|(?<!&)#\d|https://|(?<!\\)<script|(?<!\\)`id|(?<!\\)\[x", found.sentence)
    assert run_of(shown, "0" * 64) is None


@pytest.mark.parametrize(("command", "accept"), [(Command("measure"), {}), (Command("accept"), {"accept": "true"})])
def test_an_own_pull_request_needs_no_head(known: Known, command: Command, accept: dict[str, str]) -> None:
    assert decide(command, OWN, known) == {"pull_request": "7", "head": HEAD, **accept}


def test_what_is_said_reaches_the_run(known: Known) -> None:
    options = {"servers": "alpha", "profile": "full", "rounds": "3", "head": HEAD}
    assert decide(Command("measure", options), FORK, known) == {"pull_request": "7", **options}


@pytest.mark.parametrize("verb", ["measure", "accept"])
def test_of_a_fork_the_commit_has_to_be_named(known: Known, verb: Any) -> None:
    answer = decide(Command(verb), FORK, known)
    assert isinstance(answer, Answer)
    assert "read its commit first" in answer.sentence
    assert answer.examples[0].endswith(f"head={HEAD}")


@pytest.mark.parametrize("pull", [OWN, FORK])
def test_another_head_is_refused_with_the_present_one(known: Known, pull: Pull) -> None:
    answer = decide(Command("measure", {"profile": "full", "head": OLD}), pull, known)
    assert isinstance(answer, Answer)
    assert f"is at {HEAD}, not at {OLD}. Read that commit first" in answer.sentence
    assert list(answer.examples) == [f"/pushbench profile=full head={HEAD}"]


def test_a_closed_pull_request_is_not_measured(known: Known) -> None:
    answer = decide(Command("measure"), Pull(7, False, HEAD, own=True), known)
    assert isinstance(answer, Answer)
    assert "closed" in answer.sentence


@pytest.mark.parametrize(
    ("options", "told"), [({"servers": "alpah"}, "did you mean alpha"), ({"profile": "ful"}, "did you mean full")]
)
def test_names_that_nothing_has_are_told_at_once(known: Known, options: dict[str, str], told: str) -> None:
    answer = decide(Command("measure", options), OWN, known)
    assert isinstance(answer, Answer)
    assert told in answer.sentence


def test_the_reply_names_the_run_and_is_known_again() -> None:
    inputs = {"pull_request": "7", "head": HEAD, "servers": "node-ws", "rounds": "3"}
    reply = started(99, inputs, 4712, "https://github.com/acme/pushbench/actions/runs/4712", before=False)
    assert "### Pushbench: started" in reply
    assert "[Run 4712](https://github.com/acme/pushbench/actions/runs/4712)" in reply
    assert f"Pull request 7 at {HEAD}" in reply
    assert "servers: node-ws; rounds: 3" in reply
    [known_again] = [line for line in reply.splitlines() if "pushbench-run" in line]
    assert run_of(reply, known_again.split()[2]) == 4712
    assert run_of(reply, "0" * 64) is None


def test_the_title_is_that_of_the_workflow() -> None:
    text = (Path(__file__).parents[3] / ".github" / "workflows" / "bench.yml").read_text()
    assert f"format('{TITLE.format(number='{0}', head='{1}')}'," in text


def read(folder: Path, given: object, name: str = "issue_comment") -> Any:
    return read_comment(environment(folder, name, given))


def test_comments_of_bots_and_on_issues_are_ignored(tmp_path: Path) -> None:
    assert read(tmp_path, payload()).login == "octocat"
    assert read(tmp_path, payload(issue={"number": 7})) is None
    bot = {"id": 1, "body": "/pushbench", "user": {"login": "dependabot[bot]", "type": "Bot"}}
    assert read(tmp_path, payload(comment=bot)) is None
    assert read(tmp_path, payload(comment={**bot, "user": None})) is None


@pytest.mark.parametrize(
    "given",
    [
        payload(login="../x"),
        payload(login="a b"),
        payload(body="x" * 70_000),
        payload(issue={"number": "7; id", "pull_request": {"url": "x"}}),
        payload(repository={"default_branch": "--upload-pack=id"}),
        payload(repository=None),
        payload(comment={"id": 0, "body": "", "user": {"login": "a", "type": "User"}}),
        payload(action="edited"),
        [],
    ],
)
def test_events_of_comments_are_hostile_until_checked(tmp_path: Path, given: object) -> None:
    with pytest.raises(UserError, match=r"unexpected form|not the event of a new comment|not a JSON object"):
        read(tmp_path, given)


def test_other_events_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not the event of a new comment"):
        read(tmp_path, payload(), "pull_request")
