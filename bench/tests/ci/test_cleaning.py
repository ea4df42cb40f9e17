"""Images that are no longer used are deleted from the registry; all others stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pushbench.ci import cleaning
from pushbench.ci.github_connection import GitHubError
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from tests.ci.double_packages import Packages, version
from tests.ci.github_double import pull
from tests.support import make_project

NOW = datetime(2026, 11, 22, tzinfo=UTC)
JOB = {"contents": "read", "packages": "write", "pull-requests": "read"}
"""the permissions of clean.yml"""


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def double(**changed: object) -> Packages:
    made = Packages(permissions={"metadata": "read", **JOB})
    made.versions["pushbench/alpha"] = [
        version(1, ago(90), "aaa", "latest"),
        version(2, ago(80), "cache"),
        version(3, ago(70), "bbb", "pr-7"),
        version(4, ago(60), "ccc", "pr-8"),
        version(5, ago(50), "ddd"),
        version(6, ago(40)),
        version(7, ago(30), "eee"),
        version(8, ago(13)),
        version(9, ago(1), "fff"),
    ]
    for name, value in changed.items():
        setattr(made, name, value)
    return made


def cleaned(packages: Packages, *, dry_run: bool = False, newest: int = 2) -> tuple[list[int], list[str]]:
    notes: list[str] = []
    with packages.github() as github:
        cleaning.clean(github, ["alpha", "gone"], NOW, notes.append, newest=newest, dry_run=dry_run)
    return [each["id"] for each in packages.versions["pushbench/alpha"]], notes


@pytest.mark.parametrize("kind", ["Organization", "User"])
def test_what_the_default_branch_open_pull_requests_and_the_newest_need_stays(kind: str) -> None:
    """4 belongs to a closed pull request, 5 and 6 are unused; 7 and 9 are the newest with a tag, 8 is recent."""
    packages = double(kind=kind, pulls=[pull(7)])
    left, notes = cleaned(packages)
    assert left == [1, 2, 3, 7, 8, 9]
    assert "pushbench/alpha: 3 of 9 versions are outdated" in notes
    assert cleaned(packages)[0] == left


def test_a_dry_run_says_what_would_go_and_deletes_nothing() -> None:
    packages = double()
    packages.permissions = {"metadata": "read", "packages": "read", "pull-requests": "read"}
    left, notes = cleaned(packages, dry_run=True)
    assert len(left) == 9
    assert "would delete pushbench/alpha ccc, pr-8 of 2026-09-23" in notes


def test_a_version_that_github_keeps_is_told_and_the_others_go() -> None:
    left, notes = cleaned(double(popular={5}))
    assert 5 in left
    assert 6 not in left
    assert [note for note in notes if note.startswith("left pushbench/alpha ddd") and "5000 downloads" in note]


def test_without_the_right_nothing_is_deleted_and_the_right_is_named() -> None:
    packages = double(admin=False)
    with pytest.raises(GitHubError, match="packages: write"):
        cleaned(packages)
    assert len(packages.versions["pushbench/alpha"]) == 9


def test_a_registry_that_is_not_github_s_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_ROOT", str(make_project(tmp_path, alpha="").root))
    monkeypatch.setenv("PUSHBENCH_REGISTRY", "registry.example.org/x")
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/pushbench")
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_token")
    with pytest.raises(UserError, match="only the registry of GitHub"):
        app(["ci", "clean-images", "--dry-run"], standalone_mode=False)


def test_the_command_cleans_the_images_of_this_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_ROOT", str(make_project(tmp_path, alpha="").root))
    monkeypatch.setenv("PUSHBENCH_REGISTRY", "")
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/pushbench")
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_token")
    packages = double()
    with packages.served() as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        app(["ci", "clean-images", "--newest", "2"], standalone_mode=False)
    assert len(packages.versions["pushbench/alpha"]) < 9
