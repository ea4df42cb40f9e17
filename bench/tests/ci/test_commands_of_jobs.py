"""The commands of `pushbench ci` that prepare a job, as its steps call them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.ci.admitting import artifact_name
from pushbench.ci.plan import Plan
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.ci.events import environment, pull_request, push
from tests.ci.repositories import commit, git, origin, require_no_pages, shallow

__all__ = ["origin", "shallow"]


def of_job(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, payload: object) -> Path:
    """Set the variables of a job; gives the file of its outputs."""
    for key, value in environment(folder, name, payload).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("GITHUB_OUTPUT", str(folder / "output"))
    return folder / "output"


def test_admit_names_the_artifact_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = of_job(tmp_path, monkeypatch, "push", push())
    app(["ci", "admit", "--folder", "bench/mine", "--runs-on", "big-machine"], standalone_mode=False)
    assert artifact_name("bench/mine") in output.read_text()


def test_admit_refuses_a_fork_on_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = of_job(tmp_path, monkeypatch, "pull_request", pull_request(fork=True))
    with pytest.raises(UserError, match="no GitHub-hosted machine"):
        app(["ci", "admit", "--folder", "bench/mine", "--runs-on", "big-machine"], standalone_mode=False)
    assert not output.exists()


def test_fetch_brings_the_commits_of_the_plan(origin: Path, shallow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(origin, "checkout", "-b", "other", "main")
    sha, base = commit(origin, servers__a__main="9"), git(origin, "rev-parse", "main")
    planned = Plan(
        event="workflow_dispatch",
        sha=sha,
        base=base,
        pull_request=7,
        untrusted=True,
        driver="docker",
        steps=[],
        images=[],
        notes=[],
    )
    monkeypatch.setenv("PLAN", planned.model_dump_json(by_alias=True))
    monkeypatch.setattr(Project, "current", lambda: Project.at(shallow))
    app(["ci", "fetch"], standalone_mode=False)
    assert git(shallow, "merge-base", sha, base) == base
    assert git(shallow, "rev-list", "--count", "HEAD") == "2"
    require_no_pages(origin, shallow)


def test_command_ignores_a_comment_on_an_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_job(tmp_path, monkeypatch, "issue_comment", {"action": "created", "issue": {"number": 7}})
    app(["ci", "command"], standalone_mode=False)
    assert "ignored" in capsys.readouterr().err
