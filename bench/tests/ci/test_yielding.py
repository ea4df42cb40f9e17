"""The runs to which a night or a push gives way, and that trouble with GitHub ends no measurement."""

from __future__ import annotations

from typing import Any

import pytest

from pushbench.ci import yielding
from tests.ci.double_queue import other, queued
from tests.ci.github_double import FORK, RUN, Double, job

TITLE = f"bench pull request 7 at {'a' * 40}"
CONTINUES = f"bench continues 1 at {'a' * 40}"


def waiting(double: Double, said: list[str] | None = None) -> str | None:
    with double.github() as github:
        return yielding.Queue(github, RUN, "main", (said if said is not None else []).append)()


def on_main(event: str, title: str = "x", branch: str = "main") -> dict[str, Any]:
    return {"event": event, "head_branch": branch, "display_title": title}


@pytest.mark.parametrize("status", ["queued", "pending", "in_progress"])
def test_a_run_gives_way_to_a_pull_request_whose_job_waits_for_the_machine(status: str) -> None:
    double = Double(others=[other(9, job("plan"), queued(), status=status)], permissions={"actions": "read"})
    assert waiting(double) == "a pull request's run 9"


@pytest.mark.parametrize("title", ["bench on demand", TITLE])
def test_a_run_gives_way_to_what_a_person_or_a_comment_started(title: str) -> None:
    double = Double(others=[other(9, **on_main("workflow_dispatch", title))])
    assert waiting(double) == "a person's run 9"


@pytest.mark.parametrize(
    "changed",
    [
        on_main("push"),
        on_main("workflow_dispatch", "bench night"),
        on_main("workflow_dispatch", CONTINUES),
        on_main("workflow_dispatch", "bench on demand", branch="elsewhere"),
        {"head_repository": FORK},
        {"head_repository": None},
        {"event": "merge_group"},
        {"path": ".github/workflows/ci.yml"},
        {"status": "completed"},
        {"id": RUN},
    ],
)
def test_a_run_gives_way_to_nobody_else(changed: dict[str, Any]) -> None:
    found = other(9)
    found[0].update(changed)
    assert waiting(Double(others=[found])) is None


@pytest.mark.parametrize(
    "jobs",
    [
        [queued("plan", labels=["ubuntu-24.04"])],
        [queued(status="in_progress")],
        [queued(status="waiting")],
        [job("plan") | {"status": "completed", "labels": ["self-hosted", "pushbench"]}],
        [queued(labels=["self-hosted", "gpu"])],
        [queued(labels=[])],
    ],
)
def test_a_pull_request_that_does_not_wait_for_this_machine_is_no_reason(jobs: list[dict[str, Any]]) -> None:
    assert waiting(Double(others=[other(9, *jobs)])) is None


def test_trouble_with_github_is_told_once_and_ends_nothing() -> None:
    said: list[str] = []
    now = 0.0
    double = Double(others=[other(9)], permissions={"contents": "read"})
    with double.github() as github:
        queue = yielding.Queue(github, RUN, "main", said.append, clock=lambda: now)
        for _ in range(3):
            now += 100.0
            assert queue() is None
    [only] = said
    assert "so the measurement continues" in only
    assert "permissions: actions: read" in only


def test_github_is_asked_once_a_minute_and_a_slow_answer_is_not_waited_for() -> None:
    double = Double(others=[other(9)])
    now = 0.0
    with double.github() as github:
        queue = yielding.Queue(github, RUN, "main", lambda _: None, clock=lambda: now)
        assert queue()
        now = 59.0
        assert queue() is None
        now = 60.0
        assert queue()
    times = iter((0.0, 31.0))
    said: list[str] = []
    with double.github() as github:
        assert yielding.Queue(github, RUN, "main", said.append, clock=lambda: next(times))() is None
    assert "more than 30 s" in said[0]
