"""A server of another repository is added to ours, at two commits if there is a base."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.catalog.servers import read_catalog
from pushbench.ci.adopting import Adoption, adopt
from pushbench.ci.steps import Settings
from pushbench.cli.conclusion import thresholds_of
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.ci.repositories import commit, git
from tests.support import add_server, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "pushbench", alpha="")
    git(project.root, "init")
    commit(project.root)
    return project


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Another repository, with a server in bench/mine."""
    folder = tmp_path / "own"
    folder.mkdir()
    git(folder, "init")
    commit(folder, README="x")
    add_server(Project.at(folder), "mine")
    (folder / "bench").mkdir()
    (folder / "servers" / "mine").rename(folder / "bench" / "mine")
    commit(folder, bench__mine__main="1")
    return folder


def test_without_a_base_it_is_held_against_the_limits(project: Project, own: Path) -> None:
    plan = adopt(project, Adoption(own, "bench/mine", "smoke"), Settings())
    assert plan.steps[0].arguments == ["run", "--profile", "smoke", "--suite", "tiny", "--servers", "mine"]
    assert [server.id for server in read_catalog(project.servers)] == ["alpha", "mine"]
    assert git(project.root, "status", "--porcelain") == ""
    assert plan.sha == git(own, "rev-parse", "HEAD")
    assert plan.promises == {"mine": "bench/mine/thresholds.yml"}


LIMITS = """\
version: 1
servers:
  mine:
    tiny:
      limits: {delivery_seconds.p95: {max: 7ms, reason: "it is fast"}}
"""


def limits_of(project: Project) -> list[float]:
    found = thresholds_of(project).suite("tiny").limits
    return [each.bound.value for each in found if each.server == "mine"]


def test_the_limits_of_the_repository_count(project: Project, own: Path) -> None:
    (own / "bench" / "mine" / "thresholds.yml").write_text(LIMITS)
    commit(own)
    adopt(project, Adoption(own, "bench/mine", "smoke"), Settings())
    assert limits_of(project) == [0.007]


def test_the_limits_of_a_description_beside_the_sources_count(project: Project, beside: Path) -> None:
    (beside / "bench" / "mine" / "thresholds.yml").write_text(LIMITS)
    commit(beside)
    adopt(project, Adoption(beside, "bench/mine", "smoke"), Settings())
    assert limits_of(project) == [0.007]


def test_the_base_has_the_limits_file_of_its_time(project: Project, beside: Path) -> None:
    base = git(beside, "rev-parse", "HEAD")
    (beside / "bench" / "mine" / "thresholds.yml").write_text(LIMITS)
    commit(beside)
    plan = adopt(project, Adoption(beside, "bench/mine", "smoke", base), Settings())
    assert limits_of(project) == [0.007]
    there = git(project.root, "ls-tree", "--name-only", plan.base or "", "servers/mine/").split()
    assert "servers/mine/server.yml" in there
    assert "servers/mine/thresholds.yml" not in there, "a line is new only where the base does not have it"


def test_with_a_base_both_are_commits_of_this_checkout(project: Project, own: Path) -> None:
    base = git(own, "rev-parse", "HEAD")
    git(own, "checkout", "-b", "change")
    commit(own, bench__mine__main="2")
    plan = adopt(project, Adoption(own, "bench/mine", "smoke", base), Settings(max_time="3m"))
    assert plan.base == git(project.root, "rev-parse", "HEAD~1")
    assert git(project.root, "show", f"{plan.base}:servers/mine/main") == "1"
    assert (project.servers / "mine" / "main").read_text() == "2"
    assert plan.steps[0].kind == "compare"
    assert plan.steps[0].arguments[-2:] == ["--max-time", "3m"]


def test_a_server_that_is_new_in_the_pull_request_has_no_base(project: Project, own: Path) -> None:
    base = git(own, "rev-list", "--max-parents=0", "HEAD")
    assert adopt(project, Adoption(own, "bench/mine", "smoke", base), Settings()).steps[0].kind == "run"


@pytest.mark.parametrize("folder", ["../own", "/etc", "bench/../../x", "bench/Mine", "bench/", "-x", ""])
def test_a_folder_elsewhere_is_refused(project: Project, own: Path, folder: str) -> None:
    with pytest.raises(UserError, match=r"cannot be a server's folder|there is no"):
        adopt(project, Adoption(own, folder, "smoke"), Settings())


def test_a_name_that_is_taken_is_refused(project: Project, own: Path) -> None:
    (own / "bench" / "mine").rename(own / "bench" / "alpha")
    commit(own)
    with pytest.raises(UserError, match="a server alpha of its own"):
        adopt(project, Adoption(own, "bench/alpha", "smoke"), Settings())


def test_a_server_that_runs_elsewhere_gets_no_load_of_the_machine(project: Project, own: Path) -> None:
    file = own / "bench" / "mine" / "server.yml"
    described = file.read_text().partition("process:")[0].replace("tiny-json", "protocol.yml")
    file.write_text(f"{described}url: wss://chat.example.org\n")
    commit(own)
    with pytest.raises(
        UserError, match="mine runs elsewhere; the benchmark machine measures only servers that it star"
    ):
        adopt(project, Adoption(own, "bench/mine", "smoke"), Settings())


def test_a_link_that_leads_out_of_the_folder_is_refused(project: Project, own: Path) -> None:
    (own / "bench" / "mine" / "secret").symlink_to("/etc/passwd")
    commit(own)
    with pytest.raises(UserError, match="cannot be copied"):
        adopt(project, Adoption(own, "bench/mine", "smoke"), Settings())


@pytest.fixture
def beside(own: Path) -> Path:
    """The repository with a server whose sources are at the top, and which has no description at first."""
    description = (own / "bench" / "mine" / "server.yml").read_text()
    git(own, "rm", "-r", "-q", "bench")
    commit(own, main="1")
    commit(own, main="2", bench__mine__server="x")
    (own / "bench" / "mine" / "server.yml").write_text(f"{description}source: ../..\n")
    commit(own)
    return own


@pytest.mark.slow
def test_sources_above_the_description_are_adopted_as_they_were_at_both_commits(project: Project, beside: Path) -> None:
    base = git(beside, "rev-parse", "HEAD~2")
    plan = adopt(project, Adoption(beside, "bench/mine", "smoke", base), Settings())
    assert plan.steps[0].kind == "compare", "the description of today describes the base, too"
    assert git(project.root, "show", f"{plan.base}:servers/mine/main") == "1"
    assert (project.servers / "mine" / "main").read_text() == "2"
    [server] = [each for each in read_catalog(project.servers) if each.id == "mine"]
    assert (server.folder, server.described) == (project.servers / "mine", None)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["../../..", "../../../../..", "/etc"])
def test_sources_out_of_their_repository_are_refused(project: Project, beside: Path, source: str) -> None:
    file = beside / "bench" / "mine" / "server.yml"
    file.write_text(file.read_text().replace("source: ../..", f"source: {source}"))
    commit(beside)
    with pytest.raises(UserError, match=r"bench/mine/server\.yml: source: .* is not above bench/mine in its"):
        adopt(project, Adoption(beside, "bench/mine", "smoke"), Settings())
