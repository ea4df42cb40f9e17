"""A finished run is told to the pull request and the commit that it was of, whatever its artifact says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pushbench.ci import result as results
from pushbench.ci.reporting import fetch_results, report
from pushbench.ci.result import Outcome
from pushbench.comment import MARK
from pushbench.errors import UserError
from pushbench.record import Record
from pushbench.verdict import judge
from tests.ci.events import HEAD, HOSTILE
from tests.ci.github_double import BOT, FORK, RUN, Double, job, pull, run
from tests.ci.test_result import files, make_result, zipped
from tests.factories import failed, make_record, make_thresholds, make_trial, measured

SLOW = {"delivery_seconds.p95": 0.9}


def artifact(folder: Path, record: Record | None = None, **changed: object) -> bytes:
    """Of a job that measured one record, as it was judged."""
    record = record or make_record([make_trial("node-ws")])
    verdict = judge(record, make_thresholds(folder))
    results.write_result(folder, make_result(verdict.outcome, measured=1, **changed))
    results.write_measured(folder, 1, record, verdict)
    return zipped(files(folder))


def told(double: Double, site: str = "") -> list[str]:
    said: list[str] = []
    with double.github(said.append) as github:
        report(github, RUN, site, said.append)
    return said


def test_a_pass_is_a_green_check_and_a_comment(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path), "plan": b""})
    told(double, site="https://acme.github.io/pushbench")
    [check], [comment] = double.checks, double.comments
    assert (check["name"], check["head_sha"], check["conclusion"]) == ("Pushbench", HEAD, "success")
    assert comment["number"] == 7
    assert comment["body"].startswith(f"{MARK}\n### Pushbench: pass\n")
    assert f"measured {HEAD[:12]}" in comment["body"]
    assert f"[Run and record](https://github.com/acme/pushbench/actions/runs/{RUN})" in comment["body"]
    assert "[Site](https://acme.github.io/pushbench)" in comment["body"]
    assert MARK not in check["output"]["summary"]


def test_a_server_that_failed_is_annotated_at_its_server_yml(tmp_path: Path) -> None:
    double = Double(artifacts={"results": artifact(tmp_path, make_record([measured("node-ws", SLOW)]))})
    double.run["conclusion"] = "failure"
    double.jobs = [job("plan"), job("bench", "failure", "Bench"), job("gate", "failure", "Gate")]
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
        ([job("plan"), job("bench", "cancelled")], "cancelled", "cancelled", "the job bench was cancelled"),
        ([job("plan"), job("bench", "timed_out")], "failure", "failure", "the job bench ran out of time"),
        (
            [job("plan", "failure", "Plan"), job("bench", "skipped")],
            "failure",
            "failure",
            "the job plan failed at: Plan",
        ),
        (
            [job("images", "failure", "Build and push")],
            "failure",
            "failure",
            "the job images failed at: Build and push",
        ),
        ([], "startup_failure", "failure", "the run ended with startup"),
    ],
)
def test_a_job_without_results_is_red_with_the_reason(
    jobs: list[dict[str, object]], conclusion: str, expected: str, said: str
) -> None:
    double = Double(run=run(conclusion=conclusion), jobs=jobs)
    told(double)
    assert double.checks[0]["conclusion"] == expected
    assert said in double.comments[0]["body"].replace("\\_", "_")
    assert said.partition(" ")[0] in double.checks[0]["output"]["title"]


def test_a_run_that_left_nothing_and_says_nothing_is_no_pass() -> None:
    double = Double()
    told(double)
    assert double.checks[0]["conclusion"] == "failure"
    assert "the run left no results" in double.comments[0]["body"]


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
    assert "not finished: ./pushbench run" in double.comments[0]["body"]


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
    double.jobs = [job("plan"), job("bench", "skipped"), job("gate")]
    told(double)
    assert double.checks[0]["conclusion"] == "success"
    assert "only docs changed" in double.comments[0]["body"]


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


def test_a_run_that_a_maintainer_started_is_told_to_the_pull_request_it_names(tmp_path: Path) -> None:
    double = Double(run=run(event="workflow_dispatch", head_sha="d" * 40), pulls=[pull(number=9, repository=FORK)])
    double.run["display_title"] = f"bench pull request 9 at {HEAD}"
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert (double.checks[0]["head_sha"], double.comments[0]["number"]) == (HEAD, 9)


@pytest.mark.parametrize(
    "title", ["bench on demand", f"bench pull request 9 at {HEAD}\nx", f"x bench pull request 9 at {HEAD}"]
)
def test_another_name_of_a_run_names_no_pull_request(tmp_path: Path, title: str) -> None:
    double = Double(run=run(event="workflow_dispatch", display_title=title, head_sha="d" * 40), pulls=[pull(number=9)])
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert (double.checks[0]["head_sha"], double.comments) == ("d" * 40, [])


def test_the_title_of_a_pull_request_is_not_taken_for_a_maintainer_s_word(tmp_path: Path) -> None:
    double = Double(run=run(display_title=f"bench pull request 9 at {'e' * 40}"), pulls=[pull(number=9), pull(7)])
    double.artifacts["results"] = artifact(tmp_path)
    told(double)
    assert double.checks[0]["head_sha"] == HEAD


def test_a_push_has_a_check_and_no_comment(tmp_path: Path) -> None:
    double = Double(run=run(event="push"), artifacts={"results": artifact(tmp_path)})
    told(double)
    assert (len(double.checks), double.comments) == (1, [])


def test_the_run_of_another_workflow_is_refused() -> None:
    double = Double(run=run(path=".github/workflows/evil.yml"))
    with double.github() as github, pytest.raises(UserError, match="not of"):
        report(github, RUN, "", lambda _: None)


@pytest.mark.parametrize(
    "content", [b"x" * 50_000_000, zipped({"../../result.json": b"{}"}), zipped({"result.json": b"{}"}), b"PK"]
)
def test_a_hostile_artifact_is_red_with_a_sentence(content: bytes) -> None:
    double = Double(artifacts={"results": content})
    told(double)
    assert double.checks[0]["conclusion"] == "failure"
    assert "its results cannot be used:" in double.comments[0]["body"]


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
