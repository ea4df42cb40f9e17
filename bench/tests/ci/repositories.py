"""Real repositories with a branch that changes a server, and events about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pushbench.ci.event import Event, Inputs, PullRequest
from pushbench.ci.fetching import has
from tests.ci.events import REPOSITORY

AUTHOR = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *AUTHOR, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, **files: str) -> str:
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(folder, "add", "--all")
    git(folder, "commit", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """main with one server, a branch that changes it, and later commits on main."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init")
    commit(folder, servers__a__main="1", k6__main="1")
    git(folder, "checkout", "-b", "change")
    commit(folder, servers__a__main="2", servers__b__main="1")
    git(folder, "checkout", "main")
    commit(folder, k6__main="2")
    git(folder, "update-ref", "refs/pull/7/head", "change")
    return folder


def of_pull_request(head: str, base: str) -> Event:
    found = PullRequest(number=7, head=head, base=base, head_repository=REPOSITORY, author="octocat", labels=[])
    return Event(name="pull_request", repository=REPOSITORY, sha=head, pull_request=found)


def of_inputs(origin: Path, **inputs: str) -> Event:
    sha = git(origin, "rev-parse", "main")
    return Event(name="workflow_dispatch", repository=REPOSITORY, sha=sha, inputs=Inputs(**inputs))


@pytest.fixture
def shallow(origin: Path, tmp_path: Path) -> Path:
    """One commit of the change, as actions/checkout leaves it; the origin also has gh-pages."""
    git(origin, "checkout", "--orphan", "gh-pages")
    commit(origin, records__one="x")
    git(origin, "checkout", "main")
    folder = tmp_path / "shallow"
    folder.mkdir()
    git(folder, "init")
    git(folder, "remote", "add", "origin", origin.as_uri())
    head = git(origin, "rev-parse", "change")
    git(folder, "fetch", "--no-tags", "--depth", "1", "origin", head)
    git(folder, "checkout", "--detach", head)
    assert git(folder, "rev-list", "--count", "HEAD") == "1"
    return folder


def require_no_pages(origin: Path, clone: Path) -> None:
    assert not has(clone, git(origin, "rev-parse", "gh-pages"))
