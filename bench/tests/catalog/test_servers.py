"""A server is a folder: discovered, named after the folder, with all variants that it declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.building.sources import server_digest
from pushbench.catalog.servers import of_suite, read_catalog, read_servers, select
from pushbench.foundation.errors import UserError
from tests.support import add_server, make_project

VARIANTS = """
variants:
  fast:
    title: Fake, fast
    tier: tuned
    env: {MODE: fast}
  other-runtime:
    process:
      toolchains: {bun: ">=1"}
      start: [bun, server.js]
"""


def with_variants(tmp_path: Path) -> Path:
    folder = add_server(make_project(tmp_path), "game").folder
    file = folder / "server.yml"
    file.write_text(file.read_text() + VARIANTS)
    return folder


def test_servers_are_found_by_their_folders(tmp_path: Path) -> None:
    project = make_project(tmp_path, zeta="", alpha="")
    (project.servers / "notes").mkdir()
    assert [server.id for server in read_catalog(project.servers)] == ["alpha", "zeta"]


def test_a_checkout_without_servers_has_an_empty_catalog(tmp_path: Path) -> None:
    assert read_catalog(tmp_path / "servers") == []


def test_a_folder_is_a_server_and_so_are_its_variants(tmp_path: Path) -> None:
    servers = read_servers(with_variants(tmp_path))
    assert [server.id for server in servers] == ["game", "game/fast", "game/other-runtime"]


def test_a_folder_may_stand_for_its_variants_only(tmp_path: Path) -> None:
    folder = with_variants(tmp_path)
    (folder / "server.yml").write_text((folder / "server.yml").read_text() + "variants_only: true\n")
    assert [server.id for server in read_servers(folder)] == ["game/fast", "game/other-runtime"]


def test_a_variant_changes_what_it_names_and_keeps_the_rest(tmp_path: Path) -> None:
    _, fast, other = read_servers(with_variants(tmp_path))
    assert (fast.spec.title, fast.spec.tier, fast.spec.language) == ("Fake, fast", "tuned", "Python")
    assert fast.spec.env == {"FAKE_ID": "game", "FAKE": "", "MODE": "fast"}
    assert other.process.start == ["bun", "server.js"]
    assert other.process.toolchains == {"python": ">=3.11", "bun": ">=1"}


def test_servers_are_chosen_by_id_or_by_pattern_in_the_order_asked_for(tmp_path: Path) -> None:
    with_variants(tmp_path)
    add_server(make_project(tmp_path / "other"), "x")
    catalog = [*read_catalog(tmp_path / "servers"), *read_catalog(tmp_path / "other" / "servers")]
    assert [server.id for server in select(catalog, ["x", "game*"])] == ["x", "game", "game/fast", "game/other-runtime"]
    assert [server.id for server in select(catalog, ["game/fast"])] == ["game/fast"]
    assert [server.id for server in select(catalog, ["tier:tuned", "x"])] == ["game/fast", "x"]


def test_a_folder_with_variants_alone_names_all_of_them(tmp_path: Path) -> None:
    folder = with_variants(tmp_path)
    assert [server.id for server in select(read_servers(folder), ["game"])] == ["game"]
    (folder / "server.yml").write_text((folder / "server.yml").read_text() + "variants_only: true\n")
    assert [server.id for server in select(read_servers(folder), ["game"])] == ["game/fast", "game/other-runtime"]


def test_an_unknown_server_is_told_with_the_nearest_and_the_list(tmp_path: Path) -> None:
    catalog = read_catalog(make_project(tmp_path, fastapi="", quart="").servers)
    with pytest.raises(UserError, match=r"unknown server 'fastpai'; did you mean fastapi\? known: fastapi, quart"):
        select(catalog, ["fastpai"])


def test_a_suite_without_servers_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no server has the suite 'posts'"):
        of_suite(read_catalog(make_project(tmp_path, alpha="").servers), "posts")


@pytest.mark.parametrize(
    ("written", "instead", "told"),
    [
        ('python: ">=3.11"', 'python: "new"', "server.yml:8: process.toolchains.python: expected a version specifier"),
        ("tier: baseline", "tier: best", "server.yml:6: tier: expected 'baseline', 'scaled' or 'tuned'"),
        ("link: https://example.org", "link: example", "server.yml:2: link: "),
        ("start: [", "start: [] #", "server.yml:10: process.start: List should have at least 1 item"),
        ("protocol: tiny-json", "protocol: Tiny", "server.yml:5: protocol: "),
    ],
)
def test_a_mistake_in_a_server_yml_has_its_line(tmp_path: Path, written: str, instead: str, told: str) -> None:
    folder = add_server(make_project(tmp_path), "x").folder
    file = folder / "server.yml"
    file.write_text(file.read_text().replace(written, instead))
    with pytest.raises(UserError) as raised:
        read_servers(folder)
    assert told in str(raised.value)


def test_a_folder_has_no_dot_in_its_name(tmp_path: Path) -> None:
    """In the changed paths of a pull request, `servers/x.y` counts as a file."""
    folder = add_server(make_project(tmp_path), "x").folder
    with pytest.raises(UserError, match="has a dot in its name"):
        read_servers(folder.rename(folder.with_name("x.y")))


def described_in(repository: Path, tmp_path: Path) -> Path:
    """A catalog with one server, whose sources are a repository elsewhere."""
    folder = repository / "bench" / "chat"
    project = make_project(tmp_path / "checkout")
    described = add_server(make_project(tmp_path / "other"), "chat").file.read_text()
    folder.mkdir(parents=True)
    (folder / "server.yml").write_text(f"{described}source: ../..\n")
    project.servers.mkdir()
    (project.servers / "chat").symlink_to(folder)
    return project.servers


def test_a_server_may_have_its_sources_above_its_description(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    [server] = read_catalog(described_in(repository, tmp_path))
    assert (server.id, server.folder, server.described) == ("chat", repository, repository / "bench" / "chat")
    assert server.file == repository / "bench" / "chat" / "server.yml"
    assert [each.id for each in select([server], ["chat"])] == ["chat"]


@pytest.mark.parametrize("source", ["/etc", "../../x", "..//..", "."])
def test_sources_are_above_the_description_and_nowhere_else(tmp_path: Path, source: str) -> None:
    repository = tmp_path / "repository"
    servers = described_in(repository, tmp_path)
    file = repository / "bench" / "chat" / "server.yml"
    file.write_text(file.read_text().replace("source: ../..", f"source: {source}"))
    with pytest.raises(UserError, match=r"server\.yml:\d+: source: "):
        read_catalog(servers)


def test_what_describes_a_server_from_outside_is_no_part_of_its_sources(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    [server] = read_catalog(described_in(repository, tmp_path))
    (repository / "server.js").write_text("1")
    before = server_digest(server)
    server.file.write_text(server.file.read_text() + "# a comment\n")
    assert server_digest(server) == before
    (repository / "server.js").write_text("2")
    assert server_digest(server) != before
