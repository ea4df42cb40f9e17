"""A finished run is told to the pull request and the commit that it was of, whatever its artifact says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pushbench.ci import result as results
from pushbench.ci.reporting import fetch_results, report
from pushbench.ci.result import Outcome
from pushbench.comment import MARK
from pushbench.errors import UserError
from pushbench.record import Record
from pushbench.verdict import judge
from tests.ci.double_reporting import Reported as Double
from tests.ci.events import HEAD, HOSTILE
from tests.ci.github_double import BOT, FORK, RUN, job, pull, run
from tests.ci.test_result import files, make_result, zipped
from tests.factories import failed, make_record, make_thresholds, make_trial, measured

SLOW = {"delivery_seconds.p95": 0.9}


def artifact(folder: Path, record: Record | None = None, **changed: object) -> bytes:
    """Of a job that measured one record, as it was judged."""
    folder.mkdir(exist_ok=True)
    record = record or make_record([make_trial("node-ws")])
    verdict = judge(record, make_thresholds(folder))
    results.write_result(folder, make_result(verdict.outcome, measured=1, **changed))
    results.write_measured(folder, 1, record, verdict)
    return zipped(files(folder))


def dispatched(**changed: object) -> dict[str, object]:
    """A run that somebody with write access started on the default branch."""
    return run(**{"event": "workflow_dispatch", "head_branch": "main", "head_sha": "d" * 40, **changed})


def told(double: Double, site: str = "") -> list[str]:
    said: list[str] = []
    with double.github(said.append) as github:
        report(github, RUN, site, said.append, folders=frozenset({"node-ws", "fastapi"}))
    for check in double.checks:  # the one that counts, and the status of the same name, always agree
        [*_, newest] = [each for each in double.checks if each["head_sha"] == check["head_sha"]]
        [*_, status] = [each for each in double.statuses if each["sha"] == check["head_sha"]]
        assert (status["state"] == "success") == (newest.get("conclusion") == "success")
        assert (status["state"] == "pending") >= (newest["status"] == "in_progress")
    return said


def test_a_pass_is_a_green_check_and_a_comment(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path), "plan": b""})
    told(double, site="https://acme.github.io/pushbench")
    [check], [comment] = double.checks, double.comments
    assert (check["name"], check["head_sha"], check["conclusion"]) == ("Pushbench", HEAD, "success")
    assert comment["number"] == 7
    assert comment["body"].startswith(f"{MARK}\n### Pushbench: pass, every limit is kept\n")
    assert f"measured {HEAD[:12]}" in comment["body"]
    assert f"[Run and record](https://github.com/acme/pushbench/actions/runs/{RUN})" in comment["body"]
    assert "[Site](https://acme.github.io/pushbench)" in comment["body"]
    assert MARK not in check["output"]["summary"]


def test_a_server_that_failed_is_annotated_at_its_server_yml(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path, make_record([measured("node-ws", SLOW)]))})
    double.run["conclusion"] = "failure"
    double.jobs = [job("plan"), job("bench", "failure", "Bench")]
    told(double)
    [check] = double.checks
    assert check["conclusion"] == "failure"
    [annotation] = check["output"]["annotations"]
    assert annotation["path"] == "servers/node-ws/server.yml"
    assert "delivery p95 900 ms at 1,000 clients, limit 500 ms" in annotation["message"]
    assert "was cancelled" not in double.comments[0]["body"]


def test_the_next_push_updates_the_comment_and_a_person_s_is_left_alone(tmp_path: Path) -> None:
    person = {"id": 90, "html_url": "x", "user": {"login": "mallory"}, "body": f"{MARK}\nmine"}
    double = Double(artifacts={"results": artifact(tmp_path)}, comments=[person])
    told(double)
    told(double)
    assert [each["user"] for each in double.comments] == [{"login": "mallory"}, BOT]
    assert double.comments[0]["body"] == f"{MARK}\nmine"
    assert len(double.checks) == 1


@pytest.mark.parametrize(
    ("jobs", "conclusion", "expected", "said"),
    [
        ([job("plan"), job("bench", "cancelled")], "cancelled", "cancelled", "The job `bench` was cancelled"),
        ([job("plan"), job("bench", "timed_out")], "failure", "failure", "The job `bench` ran out of time"),
        (
            [job("plan", "failure", "Plan"), job("bench", "skipped")],
            "failure",
            "failure",
            "The job `plan` failed in the step `Plan`: what is to be measured could not be planned.",
        ),
        (
            [job("images", "failure", "Build and push")],
            "failure",
            "failure",
            "The job `images` failed in the step `Build and push`",
        ),
        ([], "startup_failure", "failure", "The run ended with startup failure."),
    ],
)
def test_a_job_without_results_is_red_with_the_reason(
    jobs: list[dict[str, object]], conclusion: str, expected: str, said: str
) -> None:
    double = Double(run=run(conclusion=conclusion), jobs=jobs)
    told(double)
    assert double.checks[0]["conclusion"] == expected
    assert said in double.comments[0]["body"]
    assert f"\n### Pushbench: {double.checks[0]['output']['title']}\n" in double.comments[0]["body"]


def test_a_run_that_left_nothing_and_says_nothing_is_no_pass() -> None:
    double = Double()
    told(double)
    assert double.checks[0]["conclusion"] == "failure"
    assert "The run ended and left no results" in double.comments[0]["body"]


def test_results_that_claim_a_pass_of_a_job_that_failed_are_not_believed(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path)})
    double.jobs = [job("plan"), job("bench", "failure", "Keep the results")]
    told(double)
    assert double.checks[0]["conclusion"] == "failure"
    assert "Pushbench: ERROR" in double.comments[0]["body"]


def test_a_step_that_did_not_end_is_named(tmp_path: Path) -> None:
    results.write_result(tmp_path, make_result("unfinished"))
    double = Double(run=run(conclusion="cancelled"), jobs=[job("bench", "cancelled")])
    double.artifacts["results"] = zipped(files(tmp_path))
    told(double)
    assert double.checks[0]["conclusion"] == "cancelled"
    assert "Not finished: `./pushbench run`" in double.comments[0]["body"]


@pytest.mark.parametrize(
    ("outcome", "conclusion"),
    [("inconclusive", "action_required"), ("invalid", "action_required"), ("error", "failure")],
)
def test_what_is_not_decided_is_not_green(tmp_path: Path, outcome: Outcome, conclusion: str) -> None:
    results.write_result(tmp_path, make_result(outcome))
    double = Double(artifacts={"results": zipped(files(tmp_path))})
    told(double)
    assert double.checks[0]["conclusion"] == conclusion


def test_a_run_with_nothing_to_measure_is_green_and_says_so(tmp_path: Path) -> None:
    results.write_result(tmp_path, make_result(notes=["only docs changed"]))
    double = Double(artifacts={"plan": zipped(files(tmp_path))})
    double.jobs = [job("plan"), job("bench", "skipped")]
    told(double)
    assert double.checks[0]["conclusion"] == "success"
    assert "Only docs changed." in double.comments[0]["body"]


def test_a_head_that_moved_meanwhile_gets_its_check_and_the_pull_request_no_comment(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path)}, pulls=[pull(sha="f" * 40)])
    said = told(double)
    assert double.checks[0]["head_sha"] == HEAD
    assert double.comments == []
    assert any("no comment: the commit is the head of no open pull request now" in line for line in said)


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
    assert "- What is new will be held against the limits in `thresholds.yml`: mine.\n" in comment["body"]
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
    assert "is of Dependabot" in double.comments[0]["body"]


def test_a_pull_request_with_too_many_files_to_list_waits() -> None:
    double = Double()
    double.of_fork()
    double.changes("README.md")
    double.pulls[0]["changed_files"] = 3000
    told(double)
    assert not double.required_passes()
    assert "cannot be told from GitHub's list of files" in double.comments[0]["body"]


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
    """It measured a part, with another harness perhaps. A regression that it found counts all the same."""
    double = Double(artifacts={"results": artifact(tmp_path / "own")})
    double.changes("servers/node-ws/src/client.js", "bench/pushbench/verdict.py")
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


def test_a_run_that_failed_without_a_failed_job_is_no_pass(tmp_path: Path) -> None:
    double = Double(run=run(conclusion="failure"), artifacts={"results": artifact(tmp_path)})
    told(double)
    assert not double.required_passes()
    assert "The run ended with failure." in double.comments[0]["body"]


def test_deleted_artifacts_end_the_check_with_a_sentence() -> None:
    double = Double()
    told(double)
    assert double.checks[0]["conclusion"] == "failure"
    assert "The run ended and left no results" in double.comments[0]["body"]


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


def test_results_of_another_schema_are_named_neutrally(tmp_path: Path) -> None:
    artifact(tmp_path)
    content = files(tmp_path)
    record = json.loads(content["1.record.json"])
    del record["harness"]
    content["1.record.json"] = json.dumps(record).encode()
    double = Double(artifacts={"results": zipped(content)})
    told(double)
    assert double.checks[0]["conclusion"] == "action_required"
    assert "### Pushbench: not read, the results have another schema" in double.comments[0]["body"]
    assert "cannot be used" not in double.comments[0]["body"]


def test_a_field_that_a_pull_request_adds_does_not_hinder_its_verdict(tmp_path: Path) -> None:
    artifact(tmp_path)
    content = files(tmp_path)
    content["1.record.json"] = json.dumps({**json.loads(content["1.record.json"]), "added": [1]}).encode()
    double = Double(artifacts={"results": zipped(content)})
    told(double)
    assert double.required_passes()


def test_what_cannot_be_rendered_is_red_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of some number")

    monkeypatch.setattr("pushbench.ci.reporting.draft", broken)
    double = Double(artifacts={"results": artifact(tmp_path)})
    told(double)
    assert double.checks[0]["conclusion"] == "failure"
    assert "The results of the run cannot be shown: ZeroDivisionError: of some number" in double.comments[0]["body"]


def test_a_broken_build_names_the_step_the_cause_and_the_log() -> None:
    double = Double(run=run(conclusion="failure"))
    double.jobs = [
        job("plan"),
        {**job("images", "failure", "Build and push"), "html_url": "https://github.com/x/job/1"},
    ]
    told(double)
    body = double.comments[0]["body"]
    assert "The job `images` failed in the step `Build and push`: an image could not be built" in body
    assert "[Log of images](https://github.com/x/job/1)" in body
    assert f"gh run rerun {RUN}" in body


def test_a_missing_image_is_named_by_what_the_job_said() -> None:
    double = Double(run=run(conclusion="failure"))
    double.jobs = [job("plan"), job("bench", "failure", "Fetch the images")]
    double.errors = {len("bench"): ["Process completed with exit code 2.", "no image of node-ws: not in the registry"]}
    told(double)
    body = double.comments[0]["body"]
    assert "- The job `bench` says: no image of node-ws: not in the registry\n" in body
    assert "exit code" not in body


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


def test_a_push_has_a_check_and_no_comment(tmp_path: Path) -> None:
    double = Double(run=run(event="push", head_branch="main"), artifacts={"results": artifact(tmp_path)})
    told(double)
    assert (len(double.checks), double.comments) == (1, [])


def test_the_run_of_another_workflow_is_refused() -> None:
    double = Double(run=dispatched(path=".github/workflows/evil.yml"))
    with double.github() as github, pytest.raises(UserError, match="not of"):
        report(github, RUN, "", lambda _: None)


@pytest.mark.parametrize(
    "content", [b"x" * 50_000_000, zipped({"../../result.json": b"{}"}), zipped({"result.json": b"[]"}), b"PK"]
)
def test_a_hostile_artifact_is_red_with_a_sentence(content: bytes) -> None:
    double = Double(artifacts={"results": content})
    told(double)
    assert double.checks[0]["conclusion"] == "failure"
    assert "The results of the run cannot be used:" in double.comments[0]["body"]


def test_hostile_words_of_an_artifact_do_nothing(tmp_path: Path) -> None:
    record = make_record([failed(HOSTILE, message=HOSTILE, log=HOSTILE)])
    double = Double(artifacts={"results": artifact(tmp_path, record, notes=[HOSTILE])})
    told(double)
    body, check = double.comments[0]["body"], double.checks[0]
    html = MarkdownIt("commonmark").enable("table").render(body)
    assert "<script" not in html
    assert "@team" not in re.sub(r"(?s)<pre>.*?</pre>", "", html)
    assert "\n::" not in body
    for annotation in check["output"]["annotations"]:
        assert annotation["path"].startswith("servers/")
        assert "\n" not in annotation["message"]


def test_what_cannot_be_read_is_told_apart_from_what_is_not_there(tmp_path: Path) -> None:
    double = Double(artifacts={"other": b""})
    with double.github() as github:
        assert fetch_results(github, github.run(RUN)) == (None, "")
    double.artifacts = {"results": b""}
    with double.github() as github:
        assert fetch_results(github, github.run(RUN))[1]
