"""A pull request of a fork or of Dependabot waits for a maintainer, and the run that a maintainer starts counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.ci import result as results
from pushbench.reporting.comment import MARK
from tests.ci.double_reporting import Reported as Double
from tests.ci.events import HEAD
from tests.ci.github_double import FORK, RUN, pull, run
from tests.ci.job_results import files, make_result, zipped
from tests.ci.reported_runs import SLOW, artifact, dispatched, told
from tests.factories import make_record, measured


def test_a_pull_request_of_a_fork_is_found_by_what_github_says(tmp_path: Path) -> None:
    double = Double(run=run(head_repository=FORK), pulls=[pull(number=9, repository=FORK)])
    double.artifacts["results"] = artifact(tmp_path, pull_request=1)
    told(double)
    assert double.comments[0]["number"] == 9, "and not 1, as the artifact claims"


def test_a_fork_waits_for_a_maintainer_and_is_told_the_command() -> None:
    double = Double()
    double.of_fork()
    double.changes("servers/node-ws/src/client.js", "servers/mine/server.yml", "README.md")
    told(double)
    [check], [comment] = double.checks, double.comments
    assert (check["conclusion"], double.statuses[-1]["state"]) == ("action_required", "pending")
    assert comment["body"].startswith(f"{MARK}\n### Pushbench: Waiting for a maintainer. Nothing is wrong.\n")
    assert f"\ngh workflow run bench.yml -f pull_request=7 -f head={HEAD}\n" in comment["body"]
    assert f"\n/pushbench head={HEAD}\n" in comment["body"]
    assert "- What changed will be compared with the base: node-ws.\n" in comment["body"]
    assert "- What is new will be checked against the limits in `thresholds.yml`: mine.\n" in comment["body"]
    assert double.statuses[-1]["description"] == "Waiting for a maintainer. Nothing is wrong."


def test_a_dispatch_that_was_cancelled_has_no_verdict_that_outranks_others() -> None:
    double = Double(run=dispatched(display_title=f"bench pull request 7 at {HEAD}", conclusion="cancelled"))
    told(double)
    assert double.checks[0]["external_id"] == f"run:{RUN}:doubted"


@pytest.mark.parametrize("status", ["queued", "in_progress", "completed"])
def test_a_fork_with_nothing_to_measure_is_green_by_github_s_own_list(status: str) -> None:
    double = Double()
    double.of_fork(status=status, conclusion="failure")
    double.changes("README.md", "docs/method.md")
    told(double)
    assert double.required_passes()
    assert "there is nothing to measure" in double.comments[0]["body"]


def test_a_fork_that_waits_for_approval_is_not_red() -> None:
    double = Double(jobs=[])
    double.of_fork(conclusion="action_required")
    double.changes("servers/node-ws/src/client.js")
    told(double)
    assert (double.checks[0]["conclusion"], double.statuses[-1]["state"]) == ("action_required", "pending")
    assert "GitHub also waits for a maintainer to approve the workflows" in double.comments[0]["body"]
    double.run = run(conclusion="action_required")
    double.pulls = [pull()]
    told(double)
    assert double.statuses[-1]["state"] == "pending"
    assert "ERROR" not in double.comments[-1]["body"]


@pytest.mark.parametrize("why", ["author", "actor"])
def test_dependabot_waits_as_a_fork_does(tmp_path: Path, why: str) -> None:
    bot = {"login": "dependabot[bot]"}
    double = Double(artifacts={"results": artifact(tmp_path)})
    if why == "author":
        double.pulls[0]["user"] = bot
    else:
        double.run["actor"] = bot
    double.changes("servers/node-ws/package-lock.json")
    told(double)
    assert double.checks[0]["conclusion"] == "action_required"
    assert "comes from Dependabot" in double.comments[0]["body"]


def test_a_pull_request_with_too_many_files_to_list_waits() -> None:
    double = Double()
    double.of_fork()
    double.changes("README.md")
    double.pulls[0]["changed_files"] = 3000
    told(double)
    assert not double.required_passes()
    assert "is not clear from GitHub's list of files" in double.comments[0]["body"]


def test_the_verdict_of_a_dispatch_makes_the_pull_request_of_a_fork_green(tmp_path: Path) -> None:
    double = Double()
    double.of_fork()
    double.changes("servers/node-ws/src/client.js")
    told(double)
    assert not double.required_passes()
    double.run = dispatched(id=RUN, display_title=f"bench pull request 7 at {HEAD}", status="in_progress")
    told(double)
    assert (double.checks[-1]["status"], double.statuses[-1]["state"]) == ("in_progress", "pending")
    double.run |= {"status": "completed"}
    double.artifacts["results"] = artifact(tmp_path, pull_request=7)
    told(double)
    assert double.required_passes()
    assert double.comments[0]["body"].startswith(f"{MARK}\n### Pushbench: pass")


def test_a_dispatch_that_leaves_something_out_takes_no_verdict_away(tmp_path: Path) -> None:
    """It measured only a part, possibly with another harness. A regression that it found counts nevertheless."""
    double = Double(artifacts={"results": artifact(tmp_path / "own")})
    double.changes("servers/node-ws/src/client.js", "bench/pushbench/judging/verdict.py")
    told(double)
    assert double.required_passes()
    double.checks[0]["external_id"] = f"run:{RUN - 1}:pull_request"
    double.run = dispatched(display_title=f"bench pull request 7 at {HEAD}")
    partial: dict[str, Any] = {"pull_request": 7, "left_out": ["what measures"]}
    double.artifacts["results"] = artifact(tmp_path / "part", **partial)
    told(double)
    assert double.required_passes()
    slow = artifact(tmp_path / "slow", make_record([measured("node-ws", SLOW)]), **partial)
    double.artifacts["results"] = slow
    told(double)
    assert not double.required_passes()


def test_a_dispatch_that_had_nothing_to_do_for_a_new_server_is_not_green(tmp_path: Path) -> None:
    results.write_result(tmp_path, make_result(event="workflow_dispatch", pull_request=7, notes=["new: mine"]))
    double = Double(pulls=[pull(repository=FORK)], artifacts={"plan": zipped(files(tmp_path))})
    double.run = dispatched(display_title=f"bench pull request 7 at {HEAD}")
    double.changes("servers/mine/server.yml")
    told(double)
    assert not double.required_passes()
    assert "git push origin FETCH_HEAD:refs/heads/pull-request-7" in double.comments[0]["body"]
    assert double.checks[0]["external_id"] == f"run:{RUN}:doubted", "the run of that branch may replace it"
    double.changes("README.md")
    told(double)
    assert double.required_passes()


def test_a_run_that_a_maintainer_started_is_told_to_the_pull_request_it_names(tmp_path: Path) -> None:
    title = f"bench pull request 9 at {HEAD}"
    double = Double(run=dispatched(display_title=title), pulls=[pull(number=9, repository=FORK)])
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert (double.checks[0]["head_sha"], double.comments[0]["number"]) == (HEAD, 9)


@pytest.mark.parametrize(
    "title", ["bench on demand", f"bench pull request 9 at {HEAD}\nx", f"x bench pull request 9 at {HEAD}"]
)
def test_another_name_of_a_run_names_no_pull_request(tmp_path: Path, title: str) -> None:
    double = Double(run=dispatched(display_title=title), pulls=[pull(number=9)])
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert (double.checks[0]["head_sha"], double.comments) == ("d" * 40, [])


def test_the_title_of_a_pull_request_is_not_taken_for_a_maintainer_s_word(tmp_path: Path) -> None:
    double = Double(run=run(display_title=f"bench pull request 9 at {'e' * 40}"), pulls=[pull(number=9), pull(7)])
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert double.checks[0]["head_sha"] == HEAD
