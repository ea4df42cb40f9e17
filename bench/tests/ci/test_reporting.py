"""The result of an ended run is reported on its commit and its pull request, whatever its artifact contains."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pushbench.ci import result as results
from pushbench.ci.reporting import fetch_results, report
from pushbench.ci.result import Outcome
from pushbench.foundation.errors import UserError
from pushbench.reporting.comment import MARK
from tests.ci.double_reporting import Reported as Double
from tests.ci.events import HEAD, HOSTILE
from tests.ci.github_double import BOT, RUN, job, pull, run
from tests.ci.job_results import files, make_result, zipped
from tests.ci.reported_runs import SLOW, artifact, dispatched, told
from tests.factories import failed, make_record, measured


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
            "The job `plan` failed in the step `Plan`: the measurement could not be planned.",
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
    assert "- The job `bench` reports: no image of node-ws: not in the registry\n" in body
    assert "exit code" not in body


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
