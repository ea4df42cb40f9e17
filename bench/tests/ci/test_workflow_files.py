"""Requirements for the workflows that actionlint and zizmor do not check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.yamlfile import read_yaml
from tests.ci.workflow_files import FILES, ROOT, jobs

VARIABLE = re.compile(r"vars\.(PUSHBENCH_\w+)")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_job_ends_by_itself_and_has_the_rights_it_names(file: Path) -> None:
    assert read_yaml(file).data["permissions"] == {}
    for name, job in jobs(file).items():
        assert 0 < job["timeout-minutes"] <= 330, name
        assert job["permissions"], name


def test_nothing_runs_with_the_rights_of_the_base_for_a_pull_request() -> None:
    assert [file.name for file in FILES if "pull_request_target" in read_yaml(file).data["on"]] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_commands_hold_no_expression(file: Path) -> None:
    for name, job in jobs(file).items():
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), f"{name}: {step['name']}"


@pytest.mark.parametrize("name", ["clean.yml", "command.yml", "night.yml", "publish.yml", "report.yml", "watch.yml"])
def test_workflows_with_rights_check_out_nothing_of_a_pull_request(name: str) -> None:
    checkouts = [
        step
        for job in jobs(ROOT / ".github" / "workflows" / name).values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert checkouts
    for step in checkouts:
        assert step["with"].get("ref", "gh-pages") == "gh-pages"
        assert "repository" not in step["with"]
        assert step["with"]["persist-credentials"] is False


def test_only_one_job_is_on_the_machine_that_measures() -> None:
    own = [
        (file.name, name)
        for file in FILES
        for name, job in jobs(file).items()
        if "self-hosted" in job["runs-on"] or "pushbench" in job["runs-on"]
    ]
    assert own == [("bench.yml", "bench")]


def test_one_machine_is_the_rule_and_several_are_joined_by_a_machine_that_measures_nothing() -> None:
    found = jobs(ROOT / ".github" / "workflows" / "bench.yml")
    bench, join = found["bench"], found["join"]
    assert bench["strategy"]["fail-fast"] is False
    assert bench["strategy"]["matrix"] == {"shard": "${{ fromJSON(needs.plan.outputs.shards || '[0]') }}"}
    planned = [step for step in bench["steps"] if "PLAN" in step.get("env", {})]
    assert len(planned) == 3
    assert {step["env"]["SHARD"] for step in planned} == {"${{ matrix.shard }}"}
    kept = [step["with"]["name"] for step in (bench["steps"][-1], join["steps"][-1])]
    assert kept == ["${{ matrix.shard == 0 && 'results' || format('results-{0}', matrix.shard) }}", "results"]
    assert "needs.plan.outputs.shards != '[0]'" in join["if"]
    assert join["permissions"] == {"contents": "read"}
    assert join["runs-on"] == "ubuntu-24.04"
    assert "join" in found["tell"]["needs"]


def test_each_repository_variable_is_known_to_actionlint() -> None:
    used = {name for file in FILES for name in VARIABLE.findall(file.read_text())}
    assert used == set(read_yaml(ROOT / ".github" / "actionlint.yaml").data["config-variables"])


def test_a_newer_push_ends_the_measurement_of_a_pull_request_and_of_nothing_else() -> None:
    concurrency = read_yaml(ROOT / ".github" / "workflows" / "bench.yml").data["concurrency"]
    assert concurrency["cancel-in-progress"] is True
    assert concurrency["group"] == "bench-${{ github.event.pull_request.number || github.run_id }}"


def test_two_callers_in_one_run_do_not_cancel_each_other() -> None:
    concurrency = read_yaml(ROOT / ".github" / "workflows" / "own-server.yml").data["concurrency"]
    run = "${{ github.event.pull_request.number || github.run_id }}"
    assert concurrency["group"] == f"own-server-${{{{ github.workflow }}}}-${{{{ inputs.folder }}}}-{run}"


def test_a_file_that_others_call_asks_only_for_the_right_to_read() -> None:
    """GitHub refuses a called workflow with a job that requests more than the caller grants."""
    for file in FILES:
        if "workflow_call" in read_yaml(file).data["on"]:
            assert [job["permissions"] for job in jobs(file).values()] == [{"contents": "read"}] * len(jobs(file))


def checkouts(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The inputs of each checkout of a workflow, by job name."""
    for name, job in jobs(file).items():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                yield name, step.get("with", {})


def test_no_checkout_fetches_all_branches_or_keeps_a_token() -> None:
    """fetch-depth: 0 fetches every branch, gh-pages too. A job that needs history runs `pushbench ci fetch`."""
    for file in FILES:
        for name, given in checkouts(file):
            assert "fetch-depth" not in given, f"{file.name}: {name}"
            assert given["persist-credentials"] is False, f"{file.name}: {name}"


def test_jobs_that_fetch_have_the_token_for_a_private_repository() -> None:
    fetches = re.compile(r"\./pushbench ci (plan|fetch|adopt)\b")
    steps = [step for file in FILES for job in jobs(file).values() for step in job["steps"]]
    found = [step for step in steps if fetches.match(step.get("run", ""))]
    assert len(found) >= 6
    for step in found:
        assert step["env"]["GITHUB_TOKEN"] == "${{ github.token }}", step["name"]


def test_a_fork_and_another_branch_start_nothing() -> None:
    plan = jobs(ROOT / ".github" / "workflows" / "bench.yml")["plan"]["if"]
    assert "(github.event.repository.fork != true || vars.PUSHBENCH_RUNNER != '')" in plan
    assert "(github.event_name != 'push' || github.ref_name == github.event.repository.default_branch)" in plan
    command = jobs(ROOT / ".github" / "workflows" / "command.yml")["command"]
    assert "(github.event.repository.fork != true || vars.PUSHBENCH_RUNNER != '')" in command["if"]


def test_a_server_of_another_repository_is_admitted_on_a_hosted_machine_first() -> None:
    found = jobs(ROOT / ".github" / "workflows" / "own-server.yml")
    assert found["admit"]["runs-on"] == "ubuntu-24.04"
    assert "./pushbench ci admit" in str(found["admit"]["steps"])
    assert found["own-server"]["needs"] == "admit"
    assert "if" not in found["own-server"], "a condition could run it where admit refused"
    [kept] = [step for step in found["own-server"]["steps"] if step.get("uses", "").startswith("actions/upload")]
    assert kept["with"]["name"] == "${{ needs.admit.outputs.artifact }}"


def test_the_required_name_is_written_by_trusted_code_and_by_no_job() -> None:
    names = {job["name"] for file in FILES for job in jobs(file).values()}
    assert not {"Pushbench", "gate"} & names
    writers = [
        file.name for file in FILES for job in jobs(file).values() if job["permissions"].get("statuses") == "write"
    ]
    assert writers == ["report.yml"]


def test_a_report_without_a_run_does_only_what_needs_none() -> None:
    for step in jobs(ROOT / ".github" / "workflows" / "report.yml")["report"]["steps"]:
        if "RUN" in step.get("env", {}):
            assert "inputs.run != ''" in step["if"], step["name"]
            assert "github.event_name == 'workflow_dispatch'" not in step["if"], step["name"]


def test_each_state_of_a_run_is_reported_and_the_last_one_wins() -> None:
    workflow = read_yaml(ROOT / ".github" / "workflows" / "report.yml").data
    assert workflow["on"]["workflow_run"]["types"] == ["requested", "in_progress", "completed"]
    assert workflow["on"]["workflow_run"]["workflows"] == ["bench"]
    assert workflow["concurrency"] == {
        "group": "report-${{ github.event.workflow_run.id || inputs.run }}",
        "cancel-in-progress": True,
    }
