"""The repository starts its own workflows, once each."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from pushbench.ci.github import GitHub
from pushbench.ci.github_changes import home
from pushbench.ci.github_connection import GitHubError
from pushbench.ci.github_dispatch import dispatch, wait_completed
from tests.ci.double_queue import other
from tests.ci.events import REPOSITORY
from tests.ci.github_double import RUN, Double, run


def test_a_run_is_started_by_the_file_of_its_workflow_and_named() -> None:
    double = Double(permissions={"actions": "write"}, default_branch="trunk")
    with double.github() as github:
        started = dispatch(github, "bench.yml", home(github).default_branch, {"servers": "node-ws"})
    assert double.dispatched == [("bench.yml", {"servers": "node-ws"})]
    assert started.html_url.endswith(f"/actions/runs/{started.workflow_run_id}")


@pytest.mark.parametrize(
    ("workflow", "ref", "inputs", "said"),
    [
        ("bench.yml", "main", {"servres": "x"}, "Unexpected inputs provided"),
        ("ci.yml", "main", {}, "does not have 'workflow_dispatch' trigger"),
        ("bench.yml", "gone", {}, "No ref found for: gone"),
        ("none.yml", "main", {}, "404"),
    ],
)
def test_what_github_does_not_start_is_told(workflow: str, ref: str, inputs: dict[str, str], said: str) -> None:
    double = Double()
    with double.github() as github, pytest.raises(GitHubError, match=said):
        dispatch(github, workflow, ref, inputs)
    assert double.dispatched == []


def test_a_job_that_may_only_read_starts_nothing_and_is_told_the_permission() -> None:
    double = Double(permissions={"actions": "read"})
    with double.github() as github, pytest.raises(GitHubError, match="permissions: actions: write"):
        dispatch(github, "bench.yml", "main", {})


@pytest.mark.parametrize(("repeatable", "requests"), [(False, 1), (True, 2)])
def test_a_run_whose_start_was_not_answered_is_not_started_twice(repeatable: bool, requests: int) -> None:
    double = Double(others=[other(9000, event="workflow_dispatch")])
    posts = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal posts
        status, content = double.answer(request.method, str(request.url.raw_path, "ascii"), request.content)
        if request.method == "POST":
            posts += 1
            if posts == 1:
                return httpx.Response(502)
        return httpx.Response(status, json=content)

    def quiet(_: Any) -> None:
        pass

    transport = httpx.MockTransport(answer)
    with GitHub(REPOSITORY, "ghs_token", note=quiet, transport=transport, sleep=quiet) as github:
        dispatch(github, "bench.yml", "main", {}, repeatable=repeatable)
    assert posts == requests


@pytest.mark.parametrize(("after", "status"), [(3, "completed"), (99, "in_progress")])
def test_a_run_is_waited_for_but_not_for_ever(after: int, status: str) -> None:
    double = Double(run=run(status="in_progress", conclusion=None))
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == after:
            double.run |= {"status": "completed", "conclusion": "success"}

    with double.github() as github:
        assert wait_completed(github, RUN, sleep=sleep).status == status
    assert sum(naps) <= 180
