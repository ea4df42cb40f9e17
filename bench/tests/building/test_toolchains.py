"""Which installed toolchain satisfies a specifier, and the message if none does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.building import toolchains
from pushbench.building.toolchains import Missing, Toolchain, Toolset, choose, find


@pytest.fixture(autouse=True)
def only_what_the_test_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(toolchains, "_FURTHER_FOLDERS", {})
    monkeypatch.setattr(toolchains, "_JDKS", [f"{tmp_path}/jvm/*"])
    monkeypatch.setattr(toolchains, "_RABBITMQS", [f"{tmp_path}/rabbitmq_server-*/sbin"])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    find.cache_clear()
    yield
    find.cache_clear()


def install(folder: Path, name: str, output: str, code: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{output}'\nexit {code}\n")
    path.chmod(0o755)
    return path


def install_jdk(home: Path, version: str) -> None:
    install(home / "bin", "javac", "")
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')


@pytest.mark.parametrize(
    ("name", "program", "output", "version"),
    [
        ("node", "node", "v20.20.2", "20.20.2"),
        ("go", "go", "go version go1.26.8 linux/amd64", "1.26.8"),
        ("cargo", "cargo", "cargo 1.95.0 (abc 2026-01-01)", "1.95.0"),
        ("maven", "mvn", "\x1b[1mApache Maven 3.8.7\x1b[m", "3.8.7"),
        ("elixir", "elixir", "Elixir 1.19.4", "1.19.4"),
    ],
)
def test_a_program_says_its_version(tmp_path: Path, name: str, program: str, output: str, version: str) -> None:
    install(tmp_path, program, output)
    found = find(name, ">=1")
    assert isinstance(found, Toolchain)
    assert (found.version, found.folder) == (version, tmp_path)


def test_rabbitmq_is_not_started_to_tell_its_version(tmp_path: Path) -> None:
    for version in ("3.9.1", "3.10.8"):
        folder = tmp_path / f"rabbitmq_server-{version}" / "sbin"
        install(folder, "rabbitmq-server", "").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (tmp_path / "rabbitmq_server-4.0.0" / "sbin").mkdir(parents=True)
    found = find("rabbitmq-server", ">=3")
    assert isinstance(found, Toolchain)
    assert (found.version, found.folder) == ("3.10.8", tmp_path / "rabbitmq_server-3.10.8" / "sbin")
    assert not (tmp_path / "started").exists()


def test_the_first_on_the_path_that_is_new_enough_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, version in (("a", "v18.0.0"), ("b", "v22.1.0"), ("c", "v24.0.0")):
        install(tmp_path / folder, "node", version)
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b:{tmp_path}/c")
    found = find("node", ">=20")
    assert isinstance(found, Toolchain)
    assert found.version == "22.1.0"


def test_a_shim_that_cannot_run_is_no_toolchain(tmp_path: Path) -> None:
    install(tmp_path, "node", "v22.0.0", code=127)
    assert isinstance(find("node", ">=20"), Missing)


def test_what_is_missing_is_told_with_what_is_there_and_how_to_get_it(tmp_path: Path) -> None:
    install(tmp_path, "node", "v18.19.0")
    told = str(find("node", ">=20"))
    assert told.startswith("needs node >=20 (found 18.19.0): install Node.js from https://nodejs.org")
    assert "rustup" in str(find("cargo", ">=1.80"))


def test_a_jdk_is_found_where_the_system_keeps_them_and_sets_java_home(tmp_path: Path) -> None:
    install_jdk(tmp_path / "jvm" / "java-17", "17.0.15")
    install_jdk(tmp_path / "jvm" / "temurin-25", "25.0.3")
    found = find("java", ">=21")
    assert isinstance(found, Toolchain)
    assert found.version == "25.0.3"
    assert found.environment == {"JAVA_HOME": str(tmp_path / "jvm" / "temurin-25")}


def test_java_home_comes_before_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_jdk(tmp_path / "jvm" / "java-25", "25.0.3")
    install_jdk(tmp_path / "mine", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "mine"))
    found = find("java", ">=21")
    assert isinstance(found, Toolchain)
    assert found.version == "21.0.1"


def test_python_is_called_by_its_own_name_whatever_the_command_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    tools = choose({"python": ">=3.11"})
    assert isinstance(tools, Toolset)
    program, *rest = tools.command(["python", "-m", "venv", ".venv"], Path("/server"))
    assert Path(program).is_absolute()
    assert rest == ["-m", "venv", ".venv"]


def test_commands_are_found_in_toolchains_first_and_in_the_servers_folder_by_path(tmp_path: Path) -> None:
    install(tmp_path, "node", "v22.0.0")
    tools = choose({"node": ">=20"})
    assert isinstance(tools, Toolset)
    assert tools.command(["node", "x.js"], Path("/server")) == [str(tmp_path / "node"), "x.js"]
    assert tools.command([".venv/bin/python"], Path("/server")) == ["/server/.venv/bin/python"]
    assert tools.command(["nonsense"], Path("/server")) == ["nonsense"]


def test_all_missing_toolchains_are_told_at_once(tmp_path: Path) -> None:
    missing = choose({"node": ">=20", "bun": ">=1"})
    assert isinstance(missing, list)
    assert [each.name for each in missing] == ["node", "bun"]
