"""An event is checked before any part of it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.ci.event import LARGEST_EVENT, read_event
from pushbench.foundation.errors import UserError
from tests.ci.events import HEAD, HOSTILE, OLD, pull_request, push, read


@pytest.mark.parametrize(
    "inputs",
    [
        {"servers": HOSTILE},
        {"servers": "--out=x"},
        {"servers": "a,$(id)"},
        {"suite": "-h"},
        {"profile": "../x"},
        {"rounds": "-1"},
        {"rounds": "٣"},
        {"pull_request": "7٣"},
        {"accept": "maybe"},
        {"base": "--upload-pack=id"},
        {"base": "main\nx"},
        {"head": "main", "pull_request": "7"},
        {"pull_request": "7; id"},
        {"servers": ["a"]},
        {"night": "yes"},
        {"continue": "1; id"},
        {"continue": "\u0661\u0662"},
        {"first": "-1"},
        {"accept": "yes"},
        {"accept": True},
    ],
)
def test_inputs_are_hostile_until_checked(tmp_path: Path, inputs: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="the event has an unexpected form: inputs"):
        read(tmp_path, "workflow_dispatch", {"inputs": inputs})


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("pull_request", pull_request(head={"sha": "HEAD", "repo": {"full_name": "a/b"}})),
        ("pull_request", pull_request(head={"sha": f"{HEAD}\n", "repo": {"full_name": "a/b"}})),
        ("pull_request", pull_request(base={"sha": "--output=x"})),
        ("pull_request", pull_request(head={"sha": HEAD, "repo": {"full_name": "a/../b c"}})),
        ("pull_request", pull_request(number="7; id")),
        ("pull_request", pull_request(number=0)),
        ("pull_request", {"pull_request": "x"}),
        ("pull_request", {}),
        ("push", push(before="x")),
        ("pull_request_target", pull_request()),
        ("schedule", {"schedule": "17 2 * * *"}),
        ("issue_comment", {}),
        ("push", []),
        ("push", "{"),
        ("push", " " * (LARGEST_EVENT + 1)),
    ],
)
def test_events_are_hostile_until_checked(tmp_path: Path, name: str, payload: object) -> None:
    with pytest.raises(UserError, match=r"the event has an unexpected form|not a JSON object"):
        read(tmp_path, name, payload)


def test_a_fork_that_is_gone_is_a_fork(tmp_path: Path) -> None:
    event = read(tmp_path, "pull_request", pull_request(head={"sha": HEAD, "repo": None}))
    assert event.untrusted


def test_outside_of_actions_the_error_says_what_to_do_instead() -> None:
    with pytest.raises(UserError, match="compare --base main"):
        read_event({})


def test_what_is_checked_out_is_the_head_and_not_the_merge(tmp_path: Path) -> None:
    assert read(tmp_path, "pull_request", pull_request()).sha == HEAD
    event = read(tmp_path, "push", push())
    assert (event.sha, event.before) == ("d" * 40, OLD)
    assert read(tmp_path, "push", push(before="0" * 40)).before is None
