"""The workflows' commands start nights, and report and publish runs that a workflow started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.cli import app
from tests.ci.events import HEAD, environment
from tests.ci.github_double import Double
from tests.ci.job_results import make_plan

BOT = "github-actions[bot]"


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    double = Double(permissions={"contents": "read", "actions": "write"})
    with double.served() as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        monkeypatch.setenv("GITHUB_TOKEN", "ghs_token")
        monkeypatch.setenv("GITHUB_RUN_ID", "8")
        monkeypatch.setenv("GITHUB_REPOSITORY", "acme/pushbench")
        yield double


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        app(["ci", *arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return code


def started_with(folder: Path, monkeypatch: pytest.MonkeyPatch, actor: str = BOT, **inputs: str) -> None:
    for name, value in environment(folder, "workflow_dispatch", {"inputs": inputs}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITHUB_TRIGGERING_ACTOR", actor)


def test_the_night_starts_bench_on_the_default_branch(double: Double) -> None:
    assert run("night") == 0
    assert double.dispatched == [("bench.yml", {"night": "true"})]


def test_a_run_that_gave_way_starts_the_one_that_goes_on(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_with(tmp_path, monkeypatch, night="true")
    monkeypatch.setenv("PLAN", make_plan(event="schedule").model_dump_json(by_alias=True))
    assert run("continue") == 0
    assert double.dispatched == [("bench.yml", {"continue": "8", "first": "8", "head": HEAD})]


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [{"night": "true"}, {"continue": "7", "first": "5", "head": HEAD}])
def test_a_point_of_the_trend_is_told_and_published(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: dict[str, str]
) -> None:
    started_with(tmp_path, monkeypatch, **inputs)
    assert run("tell") == 0
    assert double.dispatched == [("report.yml", {"run": "8"}), ("publish.yml", {"run": "8"})]


def test_what_a_comment_started_is_told_and_not_published(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_with(tmp_path, monkeypatch, pull_request="7", head=HEAD)
    assert run("tell") == 0
    assert double.dispatched == [("report.yml", {"run": "8"})]


def test_what_a_person_started_is_told_by_github_itself(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_with(tmp_path, monkeypatch, actor="octocat", night="true")
    assert run("tell") == 0
    assert double.dispatched == []
