"""A check follows its run from the queue to the end, and passes only with the newest verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.ci import result as results
from pushbench.ci.reporting import report
from tests.ci.double_reporting import Reported as Double
from tests.ci.events import HEAD
from tests.ci.github_double import FORK, RUN, job, pull, run
from tests.ci.job_results import files, make_result, zipped
from tests.ci.reported_runs import artifact, dispatched, told


def test_a_check_is_in_progress_from_the_first_event_on_with_its_place_in_the_queue(tmp_path: Path) -> None:
    double = Double(run=run(status="queued", conclusion=None))
    double.changes("servers/node-ws/src/client.js")
    before = {"status": "in_progress", "conclusion": None, "event": "push", "head_branch": "main", "head_sha": "e" * 40}
    double.others = [
        (run(id=1, created_at="2026-11-21T10:00:00Z", event="push"), []),
        (run(id=2, created_at="2026-11-21T10:30:00Z"), []),
        (run(id=3, created_at="2026-11-21T11:00:00Z", **before), []),
    ]
    told(double)
    [check] = double.checks
    assert (check["status"], check.get("conclusion")) == ("in_progress", None)
    assert check["output"]["title"].startswith("in progress: 1 run before it, about 31 minutes to go")
    assert "compared with the base: node-ws" in check["output"]["summary"]
    assert double.statuses[-1]["state"] == "pending"
    assert double.comments == []
    double.run |= {"status": "completed", "conclusion": "success"}
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert double.required_passes()


def test_a_run_that_is_started_again_takes_its_verdict_back(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path)})
    told(double)
    double.run |= {"status": "in_progress", "conclusion": None, "run_attempt": 2}
    told(double)
    assert not double.required_passes()
    assert [each["status"] for each in double.checks] == ["completed", "in_progress"]
    double.run |= {"status": "completed", "conclusion": "success"}
    told(double)
    assert double.required_passes()


def test_a_run_that_ends_refreshes_the_places_of_those_that_wait(tmp_path: Path) -> None:
    other = "9" * 40
    waiting = run(id=9000, status="queued", conclusion=None, created_at="2026-11-21T13:00:00Z", head_sha=other)
    double = Double(run=run(status="in_progress", conclusion=None), pulls=[pull(), pull(8, other)])
    double.others = [(waiting, []), (run(**{**waiting, "id": 9001, "head_repository": FORK}), [])]
    title = {"title": "in progress: 1 run before it", "summary": "", "annotations_count": 0}
    made = {"id": 0, "head_sha": other, "name": "Pushbench", "external_id": "run:9000:pull_request", "output": title}
    double.checks = [{**made, "html_url": "", "status": "in_progress", "app": {"slug": "github-actions"}}]
    double.run |= {"status": "completed", "conclusion": "success"}
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert double.checks[0]["output"]["title"] == "in progress: next in the queue"
    assert double.checks[0]["status"] == "in_progress"
    assert len(double.checks) == 2


@pytest.mark.parametrize("conclusion", ["startup_failure", "stale", "timed_out", "skipped", "neutral", "cancelled"])
def test_every_end_of_a_run_ends_its_check_and_none_but_success_is_green(tmp_path: Path, conclusion: str) -> None:
    double = Double(run=run(status="in_progress", conclusion=None))
    told(double)
    double.run |= {"status": "completed", "conclusion": conclusion}
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert (double.checks[0]["status"], double.required_passes()) == ("completed", False)


def test_an_older_run_does_not_replace_the_verdict_of_a_newer_one(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path)})
    told(double)
    double.checks[0]["external_id"] = f"run:{RUN + 1}:pull_request"
    double.run["conclusion"] = "cancelled"
    said = told(double)
    assert double.required_passes()
    assert any("left as it is" in line for line in said)


@pytest.mark.parametrize("passes", [True, False])
def test_a_merge_group_is_green_only_where_its_pull_request_is(tmp_path: Path, passes: bool) -> None:
    group = f"gh-readonly-queue/main/pr-7-{'b' * 40}"
    double = Double(artifacts={"results": artifact(tmp_path)} if passes else {})
    told(double)
    double.run = run(event="merge_group", head_branch=group, head_sha="f" * 40)
    told(double)
    assert double.required_passes("f" * 40) is passes


@pytest.mark.parametrize("branch", ["gh-readonly-queue/main/pr-99-" + "b" * 40, "gh-readonly-queue/x", None])
def test_a_merge_group_of_no_known_pull_request_is_not_green(branch: str | None) -> None:
    double = Double(run=run(event="merge_group", head_branch=branch))
    told(double)
    assert not double.required_passes()


def test_a_run_that_gave_way_stays_in_progress_until_another_goes_on_with_it(tmp_path: Path) -> None:
    first = run(event="push", head_branch="main", conclusion="failure")
    double = Double(run=first, jobs=[job("plan"), job("bench", "failure", "Bench")], pulls=[])
    steps = make_result("gave-way")
    said = steps.steps[0].model_copy(update={"said": "gave way to the run 5000 of pull request 7"})
    results.write_result(tmp_path, steps.model_copy(update={"steps": [said]}))
    double.artifacts["results"] = zipped(files(tmp_path))
    told(double)
    [check] = double.checks
    assert (check["status"], double.statuses[-1]["state"]) == ("in_progress", "pending")
    assert "gave way to the run 5000 of pull request 7" in check["output"]["summary"]
    double.others = [(run(id=99, event="push", head_branch="main"), [])]
    double.run = dispatched(display_title=f"bench continues 99 at {HEAD}")
    double.jobs, double.artifacts = [job("bench")], {"results": artifact(tmp_path / "continued")}
    told(double)
    assert double.required_passes()
    assert double.checks[-1]["external_id"] == f"run:{RUN}:push"


@pytest.mark.parametrize("title", [f"bench continues 98 at {HEAD}", f"bench continues 99 at {'e' * 40}"])
def test_a_run_that_goes_on_with_an_unknown_run_is_not_believed(tmp_path: Path, title: str) -> None:
    double = Double(run=dispatched(display_title=title), artifacts={"results": artifact(tmp_path)}, pulls=[])
    double.others = [(run(id=99, event="push", head_branch="main"), [])]
    told(double)
    assert [each["conclusion"] for each in double.checks] == ["action_required"]


def test_a_run_whose_last_job_tells_is_waited_for(tmp_path: Path) -> None:
    double = Double(run=dispatched(status="in_progress", conclusion=None))
    double.artifacts = {"results": artifact(tmp_path, sha="d" * 40)}
    double.jobs = [job("bench"), {**job("tell"), "conclusion": None}]

    def ends(_: float) -> None:
        double.run |= {"status": "completed", "conclusion": "success"}
        double.jobs[1]["conclusion"] = "success"

    with double.github() as github:
        drafted = report(github, RUN, "", print, patient=True, sleep=ends)
    assert drafted.conclusion == "success"
