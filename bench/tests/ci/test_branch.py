"""Many jobs publish at the same time into real repositories, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pushbench.ci.branch import Branch
from pushbench.ci.publishing import add, export, publishable, released
from pushbench.ci.result import Measured, Results
from pushbench.foundation.errors import UserError
from pushbench.judging.verdict import judge
from tests.ci.job_results import make_result
from tests.factories import invalid, make_record, make_thresholds, make_trial

TOKEN = "ghs_secret"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    folder = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    return folder


def listed(remote: Path) -> list[str]:
    command = ["git", "-C", str(remote), "ls-tree", "-r", "--name-only", "gh-pages"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def commits(remote: Path) -> int:
    command = ["git", "-C", str(remote), "rev-list", "--count", "gh-pages"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measured(folder: Path, number: int = 0) -> Measured:
    record = make_record([make_trial("node-ws")], id=f"20261121T1015{number:02d}Z-1a2b3c")
    return Measured(record, judge(record, make_thresholds(folder)))


@pytest.mark.slow
def test_twelve_publishers_at_once_lose_nothing(remote: Path, tmp_path: Path) -> None:
    found = [measured(tmp_path, number) for number in range(12)]
    said: list[str] = []

    def publish(each: Measured) -> str:
        return Branch(str(remote), "gh-pages").append(lambda folder: add(folder, each), "Add", note=said.append)

    with ThreadPoolExecutor(12) as pool:
        names = list(pool.map(publish, found))
    assert len(set(names)) == 12
    assert commits(remote) == 12
    files = listed(remote)
    for each in found:
        record = each.record
        assert f"records/{record.id}.json.gz" in files
        assert f"history/{record.environment.key}/{record.suite}/{record.profile}/{record.id}.json" in files
    assert any("another push was first" in line for line in said), "they did not even meet"


def test_publishing_twice_changes_nothing(remote: Path, tmp_path: Path) -> None:
    branch, one = Branch(str(remote), "gh-pages"), measured(tmp_path)
    first = branch.append(lambda folder: add(folder, one), "Add")
    assert branch.append(lambda folder: add(folder, one), "Add") == first
    assert commits(remote) == 1


def test_what_is_there_is_fetched_and_a_branch_that_is_not_is_said(remote: Path, tmp_path: Path) -> None:
    branch = Branch(str(remote), "gh-pages")
    (tmp_path / "none").mkdir()
    assert not branch.fetch(tmp_path / "none")
    branch.append(lambda folder: (folder / "x").write_text("1"), "Add")
    (tmp_path / "there").mkdir()
    assert branch.fetch(tmp_path / "there")
    assert (tmp_path / "there" / "x").read_text() == "1"


def test_a_remote_that_refuses_is_an_error_at_once(remote: Path, tmp_path: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'protected branch' >&2\nexit 1\n")
    hook.chmod(0o755)
    waits: list[float] = []
    with pytest.raises(UserError, match="protected branch"):
        Branch(str(remote), "gh-pages").append(lambda folder: (folder / "x").write_text("1"), "Add", sleep=waits.append)
    assert waits == []


def test_a_remote_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="git ls-remote failed"):
        Branch(str(tmp_path / "nowhere.git"), "gh-pages").append(lambda _: None, "Add")


def test_releases_are_the_tags_of_the_remote_whatever_the_checkout_has(remote: Path, tmp_path: Path) -> None:
    branch, said = Branch(str(remote), "main"), list[str]()
    assert released(branch, said.append) == []
    assert said == []
    commit = branch.append(lambda folder: (folder / "x").write_text("1"), "Add")
    for tag in ("v1.2.3", "nightly"):
        subprocess.run(["git", "-C", str(remote), "tag", tag, commit], check=True)
    branch.append(lambda folder: (folder / "x").write_text("2"), "Add")
    assert [(each.name, each.commit) for each in released(branch, said.append)] == [("v1.2.3", commit)]
    assert said == []


def test_a_site_is_published_without_releases_when_tags_cannot_be_fetched(tmp_path: Path) -> None:
    said: list[str] = []
    assert released(Branch(str(tmp_path / "nowhere.git"), "gh-pages"), said.append) == []
    assert said == ["the tags cannot be fetched: no new release is marked"]


def test_a_token_is_in_no_error_and_in_no_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$@" >> "$LOG"\nenv | grep ^GIT_CONFIG_ >> "$LOG.environment"\n[ "$1" = init ]\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    branch = Branch("https://example.org/acme/pushbench", "gh-pages", TOKEN)
    assert TOKEN not in repr(branch)
    with pytest.raises(UserError) as error:
        branch.fetch(tmp_path)
    assert TOKEN not in str(error.value)
    assert TOKEN not in (tmp_path / "log").read_text()
    assert "http.https://example.org/.extraheader" in (tmp_path / "log.environment").read_text()


def test_only_whole_runs_of_one_arm_are_points_of_a_trend(tmp_path: Path) -> None:
    whole = measured(tmp_path)
    planned = make_record([], planned=[make_trial("node-ws")])
    cut = Measured(planned, whole.verdict)
    found = publishable(Results(make_result("pass", "error", measured=None), {1: whole, 2: cut}))
    assert found == [whole]
    with pytest.raises(UserError, match="nothing to publish"):
        publishable(Results(make_result("error"), {2: cut}))


def test_numbers_are_exported_by_the_tool_that_reads_them_and_none_where_nothing_is_valid(tmp_path: Path) -> None:
    names = [path.name for path in export(tmp_path / "export", [measured(tmp_path), measured(tmp_path, 1)])]
    assert names == ["customSmallerIsBetter.json", "customBiggerIsBetter.json"]
    assert len(json.loads((tmp_path / "export" / names[1]).read_text())) == 2
    record = make_record([invalid(make_trial("node-ws"))])
    disturbed = Measured(record, judge(record, make_thresholds(tmp_path)))
    assert export(tmp_path / "none", [disturbed]) == []
