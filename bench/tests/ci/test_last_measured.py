"""When servers were last measured, and whether they changed since then: a real repository and a real history."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.catalog.servers import read_catalog
from pushbench.ci.budget import Turn
from pushbench.ci.last_measured import read_turns
from pushbench.foundation.project import Project
from pushbench.records import history
from pushbench.records.record import Record
from tests.ci.repositories import git
from tests.factories import invalid, make_record, make_trial
from tests.support import make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "checkout", alpha="", beta="")
    git(project.root, "init")
    git(project.root, "add", "--all")
    git(project.root, "commit", "-m", "x")
    return project


def kept(store: Path, project: Project, day: int, *servers: str, **changed: object) -> Record:
    """A run of the checked-out commit."""
    made = make_record([make_trial(server) for server in servers])
    assert made.commit
    values = {
        "id": f"202611{day:02d}T101500Z-000000",
        "created": f"2026-11-{day:02d}T10:15:00+00:00",
        "commit": made.commit.model_copy(update={"sha": git(project.root, "rev-parse", "HEAD")}),
        "suite": "tiny",
        "profile": "full",
        **changed,
    }
    record = made.model_copy(update=values)
    history.append(store, record)
    return record


def turns(store: Path, project: Project, profile: str = "full") -> dict[str, Turn]:
    return read_turns(store, project.root, read_catalog(project.servers), profile)


def test_the_newest_run_of_the_profile_counts(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    kept(store, project, 1, "alpha", "beta")
    kept(store, project, 3, "beta")
    kept(store, project, 5, "alpha", "beta", profile="quick")
    assert turns(store, project) == {
        "alpha": Turn("2026-11-01T10:15:00+00:00"),
        "beta": Turn("2026-11-03T10:15:00+00:00"),
    }


def test_of_several_machines_the_newest_run_counts(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    record = kept(store, project, 1, "alpha")
    other = record.environment.model_copy(update={"key": "fedcba987654"})
    kept(store, project, 7, "alpha", environment=other)
    assert turns(store, project)["alpha"].last.startswith("2026-11-07")


def test_a_run_that_measured_nothing_valid_was_no_turn(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    kept(store, project, 1, "alpha")
    kept(store, project, 2, "alpha", trials=[invalid(make_trial("alpha"))])
    assert turns(store, project)["alpha"].last.startswith("2026-11-01")


def test_a_server_changed_when_its_folder_did(tmp_path: Path, project: Project) -> None:
    store = tmp_path / "history"
    kept(store, project, 1, "alpha", "beta")
    (project.servers / "beta" / "main.py").write_text("1")
    (project.root / "README.md").write_text("1")
    git(project.root, "add", "--all")
    git(project.root, "commit", "-m", "x")
    assert {server: turn.changed for server, turn in turns(store, project).items()} == {"alpha": False, "beta": True}
    kept(store, project, 2, "beta")
    assert not turns(store, project)["beta"].changed


@pytest.mark.parametrize("sha", ["f" * 40, "--output=stolen", "HEAD", "main~1"])
def test_a_commit_that_git_does_not_know_counts_as_a_change(tmp_path: Path, project: Project, sha: str) -> None:
    store = tmp_path / "history"
    made = make_record([]).commit
    assert made
    kept(store, project, 1, "alpha", commit=made.model_copy(update={"sha": sha}))
    assert turns(store, project)["alpha"].changed
    assert not (project.root / "stolen").exists()


def test_without_a_history_nobody_had_a_turn(tmp_path: Path, project: Project) -> None:
    assert turns(tmp_path / "none", project) == {}
    assert not list(tmp_path.glob("none"))
