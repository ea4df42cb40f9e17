"""The changes between two commits, in real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.ci.change import read_change
from pushbench.foundation.errors import UserError
from tests.ci.repositories import commit, git, of_inputs, of_pull_request
from tests.ci.repositories import origin as origin  # noqa: PLC0414 - a fixture


@pytest.fixture
def clone(origin: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "--branch", "change", str(origin), "clone")
    return tmp_path / "clone"


def test_what_the_base_did_meanwhile_is_no_change(origin: Path, clone: Path) -> None:
    head, base = git(origin, "rev-parse", "change"), git(origin, "rev-parse", "main")
    change = read_change(clone, of_pull_request(head, base))
    assert change
    assert change.base == git(origin, "merge-base", head, base)
    assert set(change.paths) == {"servers/a/main", "servers/b/main"}
    assert change.servers_at_base == {"a"}
    assert change.head is None


LIMIT = "version: 1\nsuites: {whiteboard: {limits: {loss_ratio: {max: 1%}}}}\n"
ACCEPT = "servers: {a: {whiteboard: {accepted: {loss_ratio: {change: 5%, reason: x, until: 2027-01-01}}}}}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "accepts_only", "accepted"),
    [
        (LIMIT + ACCEPT, True, {"a"}),
        ("# only a comment\n" + LIMIT, True, set()),
        (LIMIT.replace("1%", "2%") + ACCEPT, False, {"a"}),
        ("servers: [", False, set()),
        ("# " + "x" * 70_000, False, set()),
    ],
)
def test_what_a_change_of_thresholds_yml_amounts_to(
    origin: Path, clone: Path, text: str, accepted: set[str], *, accepts_only: bool
) -> None:
    git(clone, "checkout", "-B", "main", "origin/main")
    before = commit(clone, **{"thresholds.yml": LIMIT})
    after = commit(clone, **{"thresholds.yml": text, "servers__a__main": "3"})
    change = read_change(clone, of_pull_request(after, before))
    assert change
    assert set(change.paths) == {"thresholds.yml", "servers/a/main"}
    assert change.accepts_only is accepts_only
    assert set(change.accepted) == accepted


def test_a_maintainer_names_the_commit_of_a_fork_and_it_is_fetched(origin: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--branch", "main", "--single-branch", str(origin), "clone")
    head = git(origin, "rev-parse", "change")
    change = read_change(tmp_path / "clone", of_inputs(origin, pull_request="7", head=head))
    assert change
    assert change.head == head
    assert "servers/b/main" in change.paths


def test_a_fork_that_moved_meanwhile_is_not_measured(origin: Path, clone: Path) -> None:
    with pytest.raises(UserError, match="it has changed"):
        read_change(clone, of_inputs(origin, pull_request="7", head=git(origin, "rev-parse", "main")))
    with pytest.raises(UserError, match="needs the input head"):
        read_change(clone, of_inputs(origin, pull_request="7"))


def test_a_base_may_be_a_branch_that_was_not_checked_out(origin: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--branch", "main", "--single-branch", str(origin), "clone")
    change = read_change(tmp_path / "clone", of_inputs(origin, base="change"))
    assert change
    assert change.base == git(origin, "rev-parse", "change")
    with pytest.raises(UserError, match="git cannot fetch it"):
        read_change(tmp_path / "clone", of_inputs(origin, base="nowhere"))


@pytest.mark.slow
@pytest.mark.parametrize("base", ["pull/7/head", "refs/pull/7/head", "SHA"])
def test_a_base_is_no_commit_of_a_stranger(origin: Path, tmp_path: Path, base: str) -> None:
    """GitHub serves every commit of a fork by its SHA, and the measuring machine would build it."""
    git(origin, "checkout", "--quiet", "--detach", "main")
    sha = commit(origin, servers__a__main="stolen")
    git(origin, "update-ref", "refs/pull/7/head", sha)
    git(origin, "checkout", "--quiet", "main")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--no-local", "--branch", "main", "--single-branch", str(origin), "clone")
    with pytest.raises(UserError, match="git cannot fetch it"):
        read_change(tmp_path / "clone", of_inputs(origin, base=base.replace("SHA", sha)))


def test_a_base_may_be_a_commit_of_the_default_branch(origin: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--branch", "main", "--single-branch", str(origin), "clone")
    older = git(origin, "rev-parse", "main~1")
    change = read_change(tmp_path / "clone", of_inputs(origin, base=older))
    assert change
    assert change.base == older


def test_commits_without_a_common_one_are_told(origin: Path, tmp_path: Path) -> None:
    git(origin, "checkout", "--orphan", "other")
    head, base = commit(origin, README="x"), git(origin, "rev-parse", "main")
    git(tmp_path, "clone", "--branch", "other", str(origin), "clone")
    with pytest.raises(UserError, match="no common commit"):
        read_change(tmp_path / "clone", of_pull_request(head, base))


def test_an_event_that_compares_nothing_has_no_change(origin: Path, clone: Path) -> None:
    assert read_change(clone, of_inputs(origin)) is None
