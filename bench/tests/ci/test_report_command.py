"""`pushbench ci report` as report.yml calls it: only with the permissions of the workflow."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import read_yaml
from tests.ci.double_reporting import Reported
from tests.ci.events import REPOSITORY
from tests.ci.github_double import RUN
from tests.ci.measured_changes import measured_as
from tests.ci.reported_runs import artifact
from tests.comparisons import arms, compared

WORKFLOW = Path(__file__).parents[3] / ".github" / "workflows" / "report.yml"


def called(double: Reported, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    double.permissions = read_yaml(WORKFLOW).data["jobs"]["report"]["permissions"]
    monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_token")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    with double.served() as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        done = CliRunner().invoke(app, ["ci", "report", *arguments], catch_exceptions=False)
    assert done.exit_code == 0


@pytest.mark.slow
def test_a_run_of_our_own_is_reported_with_the_rights_of_the_workflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = Reported(artifacts={"results": artifact(tmp_path)})
    called(double, monkeypatch, "--run", str(RUN))
    assert double.required_passes()
    assert len(double.comments) == 1


@pytest.mark.slow
def test_a_fork_is_reported_with_the_rights_of_the_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    double = Reported()
    double.of_fork()
    double.changes("servers/node-ws/package.json")
    called(double, monkeypatch, "--run", str(RUN))
    assert "compared with the base: node-ws" in double.comments[0]["body"], "by the catalog of this checkout"
    assert not double.required_passes()


def test_open_pull_requests_are_looked_for_with_the_rights_of_the_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    double = Reported()
    double.of_fork()
    double.has_job("Pushbench")
    called(double, monkeypatch, "--open")
    assert not double.required_passes()


@pytest.mark.slow
def test_lines_are_proposed_for_the_thresholds_of_this_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = measured_as(tmp_path, compared(arms("node-ws", cpu=0.15)))
    called(double, monkeypatch, "--run", str(RUN))
    assert "\nThe lines go at the end of thresholds.yml." in double.comments[0]["body"]


@pytest.mark.parametrize("arguments", [[], ["--run", "1", "--open"]])
def test_one_of_both_is_asked_for(arguments: list[str]) -> None:
    with pytest.raises(UserError, match="say which: --run ID or --open"):
        CliRunner().invoke(app, ["ci", "report", *arguments], catch_exceptions=False)
