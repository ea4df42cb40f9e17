"""The commands of `pushbench ci` that prepare a job, called as in its steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.ci.admitting import artifact_name
from pushbench.ci.drafting import of_plan
from pushbench.ci.plan import Plan
from pushbench.ci.result import read_results
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.records import history
from tests.ci.budgets import LONG, SHORT, checkout
from tests.ci.events import HOSTILE, environment, pull_request, push
from tests.ci.job_results import make_plan
from tests.ci.repositories import commit, git, origin, require_no_pages, shallow
from tests.factories import make_record, make_trial

__all__ = ["origin", "shallow"]


def of_job(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, payload: object) -> Path:
    """Set the variables of a job; returns the file of its outputs."""
    for key, value in environment(folder, name, payload).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("GITHUB_OUTPUT", str(folder / "output"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    return folder / "output"


def test_admit_names_the_artifact_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = of_job(tmp_path, monkeypatch, "push", push())
    app(["ci", "admit", "--folder", "bench/mine", "--runs-on", "big-machine"], standalone_mode=False)
    assert artifact_name("bench/mine") in output.read_text()


def test_admit_refuses_a_fork_on_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = of_job(tmp_path, monkeypatch, "pull_request", pull_request(fork=True))
    with pytest.raises(UserError, match="not a GitHub-hosted machine"):
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


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A shallow clone of a repository whose gh-pages has a full run of four of its servers."""
    project = checkout(tmp_path / "origin")
    git(project.root, "init")
    sha = commit(project.root)
    made = make_record([make_trial(server) for server in ("alpha", "beta", "delta", "gamma")])
    assert made.commit
    own = {"suite": "tiny", "profile": "full", "commit": made.commit.model_copy(update={"sha": sha})}
    commit(project.root, servers__gamma__main="2")
    git(project.root, "checkout", "--orphan", "gh-pages")
    git(project.root, "rm", "-rfq", ".")
    history.append(project.root / "history", made.model_copy(update=own))
    commit(project.root)
    git(project.root, "checkout", "main")
    git(tmp_path, "clone", "--quiet", "--depth", "1", project.root.as_uri(), "clone")
    return tmp_path / "clone"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("branch", "full"),
    [("gh-pages", ["epsilon", "gamma"]), ("no-branch", ["alpha", "beta", "delta"]), ("", ["alpha", "beta", "delta"])],
)
def test_plan_reads_in_the_branch_what_changed_and_who_waited_the_longest(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, branch: str, full: list[str]
) -> None:
    output = of_job(tmp_path, monkeypatch, "push", push())
    monkeypatch.setenv("PUSHBENCH_JOB_TIME", "35m")
    monkeypatch.setattr(Project, "current", lambda: Project.at(published))
    app(["ci", "plan", *(["--history", branch] if branch else [])], standalone_mode=False)
    planned = read_results(published / "out" / "ci" / "results").result.plan
    in_full = [server for step in planned.steps if step.argument("--profile") == "full" for server in step.servers]
    assert sorted(in_full) == full
    assert sorted(planned.reduced) == sorted({*SHORT, *LONG} - set(full))
    assert '"reduced":["' in output.read_text()
    summary = (tmp_path / "summary.md").read_text()
    assert [line for line in summary.splitlines() if line.startswith("- Run with the profile full: ")]
    assert f"- {len(full)} of 6 servers get the profile full, the others quick: " in summary
    require_no_pages(published.parent / "origin", published)


def test_the_summary_of_a_plan_shows_what_strangers_chose_as_text() -> None:
    text = of_plan(make_plan(notes=[HOSTILE, "`gh run list` says more"]))
    assert "<script>" not in text
    assert "\\<script\\>" in text
    assert "- `gh run list` says more" in text
    assert len(text.splitlines()) == 4, "no line of theirs is a line of ours"


def test_plan_refuses_a_time_that_is_none_before_it_asks_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = of_job(tmp_path, monkeypatch, "push", push())
    monkeypatch.setenv("PUSHBENCH_JOB_TIME", "soon")
    with pytest.raises(UserError, match="PUSHBENCH_JOB_TIME is 'soon', expected a duration such as 5h"):
        app(["ci", "plan", "--history", "gh-pages"], standalone_mode=False)
    assert not output.exists()


def test_command_ignores_a_comment_on_an_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_job(tmp_path, monkeypatch, "issue_comment", {"action": "created", "issue": {"number": 7}})
    app(["ci", "command"], standalone_mode=False)
    assert "ignored" in capsys.readouterr().err
