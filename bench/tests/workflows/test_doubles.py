"""The doubles refuse what the originals refuse. No workflow is run here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ci.repositories import commit, git
from tests.workflows.forge import DOUBLES

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose origin has two commits on main, a tag, a pull request and gh-pages."""
    origin = tmp_path / "origin.git"
    origin.mkdir()
    git(origin, "init")
    commit(origin, a="1")
    commit(origin, a="2")
    git(origin, "tag", "v1")
    git(origin, "checkout", "--orphan", "gh-pages")
    commit(origin, records="x")
    git(origin, "checkout", "main")
    git(origin, "checkout", "-b", "change")
    commit(origin, a="3")
    git(origin, "update-ref", "refs/pull/7/head", "change")
    git(origin, "checkout", "main")
    git(origin, "branch", "-D", "change")
    return tmp_path


def check_out(folder: Path, ref: str = "", depth: str = "1", persist: str = "false") -> Path:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    given = {"REPOSITORY": "", "REF": ref, "INTO": ".", "DEPTH": depth, "PERSIST": persist, "OWN": "acme/pushbench"}
    event = {"EVENT_REF": "refs/heads/main", "EVENT_SHA": git(folder / "origin.git", "rev-parse", "main")}
    environment = {**os.environ, **given, **event, "DOUBLES": str(folder)}
    program = str(DOUBLES / "checkout" / "checkout.py")
    subprocess.run([sys.executable, program], cwd=work, env=environment, check=True)
    return work


def has(work: Path, sha: str) -> bool:
    return subprocess.run(["git", "cat-file", "-e", sha], cwd=work, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("ref", ["", "main", "refs/heads/main", "v1", "sha"])
def test_a_checkout_has_one_commit_and_neither_tags_nor_pages(folder: Path, ref: str) -> None:
    head = git(folder / "origin.git", "rev-parse", "main")
    work = check_out(folder, head if ref == "sha" else ref)
    assert git(work, "rev-parse", "HEAD") == head
    assert git(work, "rev-list", "--count", "--all", "HEAD") == "1"
    assert not has(work, git(folder / "origin.git", "rev-parse", "gh-pages"))


def test_depth_0_has_every_branch_and_tag_but_no_pull_request(folder: Path) -> None:
    work = check_out(folder, depth="0")
    assert git(work, "rev-list", "--count", "HEAD") == "2"
    assert has(work, git(folder / "origin.git", "rev-parse", "gh-pages"))
    assert git(work, "tag") == "v1"
    assert not has(work, git(folder / "origin.git", "rev-parse", "refs/pull/7/head"))


def test_the_token_stays_only_where_that_is_not_forbidden(folder: Path) -> None:
    assert "extraheader" not in (check_out(folder) / ".git" / "config").read_text()
    assert "extraheader" in (check_out(folder, persist="true") / ".git" / "config").read_text()


def upload(folder: Path, name: str, overwrite: str = "false", file: str = "result.json") -> str:
    source = folder / "out"
    source.mkdir(exist_ok=True)
    (source / file).write_text("{}")
    given = {"NAME": name, "FOLDER": str(source), "MISSING": "error", "OVERWRITE": overwrite, "DOUBLES": str(folder)}
    command = [sys.executable, str(DOUBLES / "upload-artifact" / "upload.py")]
    done = subprocess.run(command, env={**os.environ, **given}, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr) if done.returncode else ""


@pytest.mark.parametrize("name", ["", "a/b", "a\\b", 'a"', "a:b", "a\nb", "a*"])
def test_names_that_github_refuses_are_refused(tmp_path: Path, name: str) -> None:
    assert "name is not valid" in upload(tmp_path, name)


def test_a_name_is_taken_once_a_run(tmp_path: Path) -> None:
    assert upload(tmp_path, "results") == ""
    assert "already exists" in upload(tmp_path, "results")
    assert upload(tmp_path, "results", overwrite="true") == ""


def test_hidden_files_are_no_files(tmp_path: Path) -> None:
    assert "no files were found" in upload(tmp_path, "results", file=".hidden")
