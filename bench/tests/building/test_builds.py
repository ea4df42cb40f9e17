"""A build runs once for the same sources, and counts only if it is complete."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pushbench.building.builds import build_server
from pushbench.building.sources import source_digest, source_files
from pushbench.building.toolchains import Toolset, choose
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server, read_servers
from pushbench.foundation.project import Project
from tests.support import add_server, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "checkout")


def tools() -> Toolset:
    found = choose({"python": ">=3.11"})
    assert isinstance(found, Toolset)
    return found


def times_built(server: Server) -> int:
    return len((server.folder / "target" / "built").read_text().split())


def build(project: Project, server: Server) -> list[str]:
    notes: list[str] = []
    build_server(project, server, tools(), notes.append)
    return notes


def replaced(server: Server, written: str, instead: str) -> Server:
    file = server.folder / "server.yml"
    file.write_text(file.read_text().replace(written, instead))
    return read_servers(server.folder)[0]


def test_the_same_sources_are_built_once(project: Project) -> None:
    server = add_server(project, "x")
    assert build(project, server)[0] == "x: building (python -c)"
    assert build(project, server) == []
    assert times_built(server) == 1


def test_a_changed_source_is_built_again(project: Project) -> None:
    server = add_server(project, "x")
    build(project, server)
    (server.folder / "main.py").write_text("print()\n")
    build(project, server)
    assert times_built(server) == 2


def test_a_product_that_was_deleted_is_built_again(project: Project) -> None:
    server = add_server(project, "x")
    build(project, server)
    shutil.rmtree(server.folder / "target")
    build(project, server)
    assert times_built(server) == 1


def test_what_the_server_starts_with_is_built_again_where_the_folder_of_products_is_left(project: Project) -> None:
    server = replaced(add_server(project, "x"), "  start: [", "  start: [env, ARCHIVE=target/built, ")
    build(project, server)
    (server.folder / "target" / "built").unlink()
    build(project, server)
    assert times_built(server) == 1


def test_a_copied_checkout_is_built_anew(project: Project, tmp_path: Path) -> None:
    build(project, add_server(project, "x"))
    copied = Project.at(shutil.copytree(project.root, tmp_path / "copy"))
    assert build(copied, read_servers(copied.servers / "x")[0])


def test_a_build_that_fails_is_told_with_the_end_of_its_output_and_is_tried_again(project: Project) -> None:
    broken = "import sys; print('no such package'); sys.exit(4)"
    server = replaced(add_server(project, "x"), "open('target/built', 'a').write('once ')", broken)
    for _ in range(2):
        with pytest.raises(ServerFailed) as raised:
            build(project, server)
        assert raised.value.failure.step == "build"
        assert "ended with exit code 4" in raised.value.failure.message
        assert "no such package" in raised.value.failure.log_tail


def test_a_build_command_that_does_not_exist_fails_the_server(project: Project) -> None:
    server = replaced(add_server(project, "x"), "[[python, -c,", "[[no-such-program, -c,")
    with pytest.raises(ServerFailed, match="exit code 127") as raised:
        build(project, server)
    assert "no-such-program: No such file" in raised.value.failure.log_tail


def test_the_digest_leaves_out_what_git_ignores(project: Project) -> None:
    server = add_server(project, "x")
    subprocess.run(["git", "init", "-q", str(project.root)], check=True)
    before = source_digest(server.folder)
    (server.folder / "target").mkdir()
    (server.folder / "target" / "built").write_text("ignored by .gitignore\n")
    assert source_digest(server.folder) == before
    (server.folder / "new.py").write_text("")
    assert source_digest(server.folder) != before


def test_without_git_the_usual_build_folders_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "node_modules" / "ws").mkdir(parents=True)
    (tmp_path / "node_modules" / "ws" / "index.js").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "server.js").write_text("")
    assert source_files(tmp_path) == [Path("src/server.js")]


def test_a_file_that_became_executable_is_another_source(tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text("exit\n")
    before = source_digest(tmp_path)
    script.chmod(0o755)
    assert source_digest(tmp_path) != before
