"""The owner of a fork cannot turn the check green: no attack of a stranger passes what is required."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushbench.ci import result as results
from pushbench.ci.reporting import report
from pushbench.ci.sweeping import sweep
from tests.ci.double_reporting import Reported
from tests.ci.events import HEAD
from tests.ci.github_double import FORK, REPO, RUN, job, pull, run
from tests.ci.job_results import files, make_result, zipped
from tests.ci.reported_runs import SLOW, artifact
from tests.factories import make_record, measured

MAIN = "d" * 40


def forged(**changed: Any) -> Reported:
    """A pull request of a stranger that changes a server."""
    double = Reported()
    double.of_fork(**changed)
    double.changes("servers/node-ws/src/client.js", ".github/workflows/bench.yml")
    return double


def told(double: Reported) -> None:
    with double.github() as github:
        report(github, RUN, "", lambda _: None, folders=frozenset({"node-ws"}))


def dispatched(double: Reported, **changed: Any) -> None:
    named = f"bench pull request 7 at {HEAD}"
    given = {"event": "workflow_dispatch", "head_branch": "main", "head_sha": MAIN, "display_title": named}
    double.run = run(**{**given, "id": RUN, **changed})


def test_forged_results_are_not_read(tmp_path: Path) -> None:
    double = forged()
    double.artifacts = {"results": artifact(tmp_path), "plan": artifact(tmp_path)}
    told(double)
    assert not double.required_passes()
    assert double.checks[0]["conclusion"] == "action_required"


def test_a_forged_plan_without_steps_is_not_read(tmp_path: Path) -> None:
    results.write_result(tmp_path, make_result(notes=["only docs changed"]))
    double = forged()
    double.jobs = [job("plan"), job("bench", "skipped")]
    double.artifacts = {"plan": zipped(files(tmp_path))}
    told(double)
    assert not double.required_passes()
    assert "only docs changed" not in double.comments[0]["body"]


def test_a_forged_later_run_does_not_replace_the_verdict_of_a_maintainer_s(tmp_path: Path) -> None:
    double = forged()
    dispatched(double, conclusion="failure")
    double.jobs = [job("plan"), job("bench", "failure", "Bench")]
    record = make_record([measured("node-ws", SLOW)])
    double.artifacts = {"results": artifact(tmp_path / "slow", record, pull_request=7)}
    told(double)
    [check] = double.checks
    assert check["conclusion"] == "failure"
    double.checks[0]["external_id"] = f"run:{RUN - 1}:dispatch"  # earlier than the fork's run below
    comment = double.comments[0]["body"]
    double.run, double.jobs = run(head_repository=FORK), [job("plan"), job("bench")]
    double.artifacts = {"results": artifact(tmp_path / "forged")}
    told(double)
    assert not double.required_passes()
    assert (len(double.checks), double.checks[0]["conclusion"]) == (1, "failure")
    assert [each["body"] for each in double.comments] == [comment]
    double.changes("README.md")
    told(double)
    assert not double.required_passes()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_job_of_a_fork_that_is_named_as_the_check_lets_nothing_pass(when: str) -> None:
    double = forged()
    if when == "before":
        double.has_job("Pushbench")
        told(double)
    else:
        told(double)
        double.has_job("Pushbench")
    assert not double.required_passes()
    told(double)
    assert not double.required_passes()
    assert "Another check run of this commit is also called Pushbench" in double.comments[-1]["body"]


@pytest.mark.parametrize("event", ["pull_request", "push", "workflow_dispatch"])
def test_a_branch_of_a_fork_that_is_called_as_the_default_branch_is_not_it(tmp_path: Path, event: str) -> None:
    double = forged(event=event, head_branch="main", display_title=f"bench pull request 7 at {HEAD}")
    double.pulls[0]["head"]["ref"] = "main"
    double.artifacts = {"results": artifact(tmp_path)}
    told(double)
    assert not double.required_passes()


def test_a_branch_of_a_fork_that_is_called_as_a_merge_group_is_none(tmp_path: Path) -> None:
    double = Reported(artifacts={"results": artifact(tmp_path)})
    told(double)
    group = {"event": "merge_group", "head_branch": f"gh-readonly-queue/main/pr-7-{'b' * 40}"}
    double.run = run(**group, head_repository=FORK, head_sha="f" * 40)
    told(double)
    assert not double.required_passes("f" * 40)


def test_a_dispatch_on_another_branch_names_no_pull_request(tmp_path: Path) -> None:
    """The name of the run comes from that branch's workflow file."""
    double = forged()
    dispatched(double, head_branch="evil")
    double.artifacts = {"results": artifact(tmp_path)}
    told(double)
    assert not double.required_passes()
    assert [each["head_sha"] for each in double.checks] == [MAIN]
    assert not double.required_passes(MAIN)


def test_a_dispatch_names_a_pull_request_that_is_there(tmp_path: Path) -> None:
    double = forged()
    double.pulls = []
    dispatched(double)
    double.artifacts = {"results": artifact(tmp_path)}
    told(double)
    assert not double.required_passes()
    assert not double.required_passes(MAIN)


def test_another_base_that_hides_the_change_does_not_count() -> None:
    """Against a branch that already has the change, the same commit changes nothing."""
    double = forged()
    double.changes("README.md")
    double.pulls[0]["base"] = {"ref": "feature", "sha": "b" * 40, "repo": REPO}
    told(double)
    assert not double.required_passes()


def test_files_of_a_newer_head_do_not_count_for_this_commit() -> None:
    double = forged()
    moved = pull(sha="e" * 40, repository=FORK)
    double.pulls = [*double.pulls, moved]
    double.changes("README.md")
    answer = double.answer

    def moves(method: str, target: str, content: bytes) -> tuple[int, Any]:
        found = answer(method, target, content)
        if target.partition("?")[0].endswith("/files"):
            double.pulls = [{**each, "head": {**each["head"], "sha": "e" * 40}} for each in double.pulls]
        return found

    double.answer = moves  # type: ignore[method-assign]
    told(double)
    assert not double.required_passes()


def test_a_renamed_server_shows_both_its_names() -> None:
    double = forged()
    double.changes("docs/client.js", status="renamed", previous_filename="servers/node-ws/src/client.js")
    told(double)
    assert not double.required_passes()
    assert "compared with the base: node-ws" in double.comments[0]["body"]


def test_a_server_that_is_replaced_by_a_link_to_another_folder_is_not_gone() -> None:
    double = forged()
    double.files = [
        {"filename": "servers/node-ws/server.yml", "status": "removed"},
        {"filename": "servers/node-ws", "status": "added"},
        {"filename": "docs/node-ws/server.yml", "status": "added"},
    ]
    double.pulls[0]["changed_files"] = len(double.files)
    told(double)
    assert not double.required_passes()


@pytest.mark.parametrize("changed", [{"sha": "f" * 40}, {"pull_request": 8}, {"pull_request": None}])
def test_results_of_another_commit_or_pull_request_than_the_run_s_name_says_do_not_pass(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    """The name contains the inputs that a user typed. The measured commit and pull request must match them."""
    double = forged()
    dispatched(double)
    double.artifacts = {"results": artifact(tmp_path, **changed)}
    told(double)
    assert not double.required_passes()
    assert "another" in double.comments[0]["body"]


def test_a_workflow_of_another_file_with_the_name_of_ours_is_not_ours(tmp_path: Path) -> None:
    double = forged(path=".github/workflows/evil.yml")
    double.has_job("Pushbench")
    double.artifacts = {"results": artifact(tmp_path)}
    told(double)
    assert not double.required_passes()


def test_a_stranger_who_opens_a_pull_request_of_our_commit_takes_no_verdict_away(tmp_path: Path) -> None:
    double = Reported(artifacts={"results": artifact(tmp_path)})
    told(double)
    assert double.required_passes()
    double.checks[0]["external_id"] = f"run:{RUN - 1}:pull_request"
    double.of_fork()
    double.changes("servers/node-ws/src/client.js")
    told(double)
    assert double.required_passes()


def test_a_failed_write_leaves_nothing_green(tmp_path: Path) -> None:
    """The status is written before a check run that blocks, and after one that passes."""
    for permission in ("checks", "statuses"):
        double = Reported(artifacts={"results": artifact(tmp_path)})
        rights = {"actions": "read", "pull-requests": "write", "checks": "write", "statuses": "write"}
        double.permissions = {**rights, permission: "read"}
        with pytest.raises(Exception, match=f"permissions: {permission}: write"):
            told(double)
        if permission == "checks":
            assert not double.required_passes()


def swept(double: Reported) -> list[int]:
    with double.github() as github:
        return sweep(github, lambda _: None)


def test_a_fork_without_a_run_of_ours_gets_a_check_that_waits() -> None:
    """The fork deleted bench.yml, and has a job with the required name in another workflow."""
    double = forged()
    double.has_job("Pushbench")
    assert swept(double) == [7]
    assert not double.required_passes()
    double.has_job("Pushbench")
    assert not double.required_passes()
    assert f"/pushbench head={HEAD}" in double.checks[1]["output"]["summary"]
    assert swept(double) == []


def test_commits_with_a_status_and_those_of_our_own_branches_are_left_alone(tmp_path: Path) -> None:
    double = Reported(artifacts={"results": artifact(tmp_path)})
    assert swept(double) == []
    double.pulls.append(pull(8, "e" * 40, FORK))
    told(double)
    assert swept(double) == [8]
    assert double.required_passes()


def test_a_check_that_no_run_caused_is_replaced_by_every_run(tmp_path: Path) -> None:
    double = forged()
    assert swept(double) == [7]
    dispatched(double)
    double.artifacts = {"results": artifact(tmp_path, pull_request=7)}
    told(double)
    assert double.required_passes()
