"""Which tags are releases, and the content of the file of releases."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.site.releases import Release, as_json, merged, read_kept, read_tags

COMMITTED = {"GIT_COMMITTER_DATE": "2026-03-04T12:00:00+02:00", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z"}
TAGGED = {"GIT_COMMITTER_DATE": "2026-09-09T00:00:00Z"}
OLD = Release(name="v1.0.0", commit="a" * 40, date="2026-01-01T00:00:00+00:00")
NEW = Release(name="v1.1.0", commit="b" * 40, date="2026-02-01T00:00:00+00:00")


class Repository:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        for name in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{name}_NAME", "A")
            monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
        self.git("init", "--quiet")
        self.git("commit", "--quiet", "--allow-empty", "-m", "One", **COMMITTED)

    def git(self, *arguments: str, **environment: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            done = subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return Repository(tmp_path, monkeypatch)


def test_a_release_is_a_tag_named_by_a_version_and_has_its_commit_and_when_that_was_made(
    repository: Repository,
) -> None:
    repository.git("tag", "v1.2.3")
    repository.git("tag", "-a", "1.3.0", "-m", "Later named", **TAGGED)
    sha = repository.git("rev-parse", "HEAD")
    assert [(each.name, each.commit, each.date) for each in read_tags(repository.folder)] == [
        ("1.3.0", sha, "2026-03-04T10:00:00+00:00"),
        ("v1.2.3", sha, "2026-03-04T10:00:00+00:00"),
    ]


@pytest.mark.parametrize(
    "name",
    ["nightly", "v1", "v1.2.3-rc.1", "release-1.2.3", "v1.2.3'", "<img>", "1.2.\u0663", "v1.2\u2028v9.9.9", "--v1.2.3"],
)
def test_any_other_tag_is_no_release(repository: Repository, name: str) -> None:
    repository.git("update-ref", f"refs/tags/{name}", "HEAD")
    assert name in repository.git("for-each-ref", "--format=%(refname)", "refs/tags")
    assert read_tags(repository.folder) == []


def test_a_tag_of_no_commit_is_no_release_and_hides_none(repository: Repository) -> None:
    repository.git("tag", "v1.0.0", "HEAD^{tree}")
    repository.git("tag", "v1.1.0")
    assert [each.name for each in read_tags(repository.folder)] == ["v1.1.0"]


def test_a_folder_that_is_no_checkout_and_a_machine_without_git_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_tags(tmp_path) == []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_tags(tmp_path) == []


def test_what_was_kept_stays_and_a_tag_that_was_moved_is_where_it_is_now(tmp_path: Path) -> None:
    moved = OLD.model_copy(update={"commit": "c" * 40, "date": "2026-03-01T00:00:00+00:00"})
    assert merged([OLD, NEW], []) == [OLD, NEW]
    assert merged([OLD, NEW], [moved]) == [NEW, moved]
    file = tmp_path / "releases.json"
    assert read_kept(file) == []
    file.write_bytes(as_json([OLD, NEW]))
    assert read_kept(file) == [OLD, NEW]
    assert len(file.read_text().splitlines()) == 7


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"schema": 2, "releases": []}',
        '{"schema": 1}',
        json.dumps({"schema": 1, "releases": [OLD.model_dump() | {"name": "<img src=x>"}]}),
        json.dumps({"schema": 1, "releases": [OLD.model_dump() | {"commit": "../x"}]}),
        json.dumps({"schema": 1, "releases": [OLD.model_dump() | {"date": "2026-01-01T00:00:00"}]}),
    ],
)
def test_a_file_that_says_something_else_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "releases.json"
    file.write_text(text)
    with pytest.raises(UserError, match="not a list of releases"):
        read_kept(file)
