"""Every command, called as a newcomer might: alone, for help, and with what it cannot take. No one sees a traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from pushbench.building.engine import Engine
from pushbench.cli import app, main
from pushbench.cli.completing import complete_profiles, complete_servers, complete_suites
from pushbench.foundation.project import Project
from tests.support import FAKES, fake_generator, make_project

BENCH = FAKES.parents[1]
WIDTH = 80


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group with the words that call it."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))
ALONE = [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]
WITH_OUT = [path for path in ALONE if any("--out" in each.opts for each in COMMANDS[path].params)]


def title(path: tuple[str, ...]) -> str:
    return " ".join(path) or "pushbench"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A checkout with two servers, in a terminal of 80 columns, without GitHub, container engine and network."""
    made = make_project(tmp_path, alpha="", beta="")
    monkeypatch.setenv("PUSHBENCH_ROOT", str(made.root))
    monkeypatch.setenv("PUSHBENCH_LOCK", str(made.root / "lock"))
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    for name in [name for name in os.environ if name.startswith("GITHUB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(Engine, "find", classmethod(lambda _: None))
    monkeypatch.setattr("pushbench.measuring.preparation.build_generator", lambda *_: fake_generator(made.root / "k6"))
    return made


def call(*arguments: str) -> int:
    """The exit code. What is not caught by the command line is raised, and fails the test."""
    sys.argv = ["pushbench", *arguments]
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


@pytest.fixture(autouse=True)
def arguments_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", sys.argv)


@pytest.mark.parametrize("path", COMMANDS, ids=title)
@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_help_fits_a_terminal(
    project: Project, path: tuple[str, ...], asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*path, asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > WIDTH] == []
    assert [line for line in lines if line.endswith("...") and not line.startswith("Usage")] == [], "a summary is cut"
    assert not [line for line in lines if re.search(r"<[a-z\[]", line)], "a type of Python"


def test_arguments_are_shown_by_their_names(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "-h") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Usage: pushbench run [OPTIONS] [SERVER]..."
    assert any(line.startswith("  SERVER...  Ids, patterns") for line in lines)
    assert call("show", "-h") == 0
    assert "\n  RECORD  An id or its beginning" in capsys.readouterr().out


@pytest.mark.parametrize("path", [(), *ALONE], ids=title)
def test_help_has_examples_that_can_be_pasted(
    project: Project, path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*path, "-h") == 0
    examples = capsys.readouterr().out.partition("  Examples:\n")[2].splitlines()
    assert examples
    typed = [line.strip() for line in examples if line.strip() and not line.strip().startswith("(")]
    assert typed
    assert all("./pushbench " in line or line.startswith("make ") for line in typed)
    if path:
        assert any(f"./pushbench {' '.join(path)}" in line for line in typed)


@pytest.mark.parametrize("path", COMMANDS, ids=title)
def test_an_unknown_option_is_a_mistake_in_a_few_lines(
    project: Project, path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*path, "--no-such-option") == 2
    said = capsys.readouterr()
    assert "--no-such-option" in said.err
    assert "-h' for help" in said.err.replace("--help", "-h")
    assert said.out == ""


@pytest.mark.parametrize("path", COMMANDS, ids=title)
def test_alone_it_does_its_work_or_says_what_is_missing(
    project: Project, path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code = call(*path)
    said = capsys.readouterr()
    assert code in range(5)
    assert said.out + said.err
    if code == 2 and path in ALONE:
        assert said.err.splitlines()[-1].startswith(("pushbench: ", "Error: ")), said.err


def test_without_a_command_it_says_what_to_do_first(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert call() == 0
    said = capsys.readouterr().out
    assert "Start here" in said
    assert "./pushbench run" in said
    assert max(map(len, said.splitlines())) <= WIDTH


@pytest.mark.parametrize("path", WITH_OUT, ids=title)
def test_a_folder_that_cannot_be_written_or_read_is_named(
    project: Project, path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A file stands where the folder should be: that stops root, too."""
    blocked = project.root / "a-file"
    blocked.write_text("")
    required = {"compare": ["--base", "HEAD"]}.get(path[-1], [])
    code = call(*path, *required, "--out", str(blocked / "out"))
    said = capsys.readouterr()
    assert code in (0, 2, 3), said.err  # 0: a reader finds nothing, which is no mistake
    assert code != 2 or said.err.strip()


def test_an_error_of_the_file_system_is_one_line_with_the_file(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied", "/srv/servers")

    monkeypatch.setattr("pushbench.catalog.servers.read_catalog", refuse)
    assert call("servers") == 2
    assert capsys.readouterr().err == "pushbench: /srv/servers: Permission denied\n"


def test_the_version_is_that_of_the_checkout(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--version") == 0
    assert capsys.readouterr().out == "pushbench of unknown version\n"
    for arguments in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
        ["tag", "v1.2.3"],
    ):
        subprocess.run(["git", *arguments], cwd=project.root, check=True)
    assert call("--version") == 0
    assert capsys.readouterr().out == "pushbench v1.2.3\n"


def test_shells_complete_servers_suites_and_profiles(project: Project) -> None:
    assert complete_servers("al") == ["alpha"]
    assert complete_servers("beta,al") == ["beta,alpha"]
    assert complete_servers("tier:") == ["tier:baseline"]
    assert complete_suites("t") == ["tiny"]
    assert "smoke" in complete_profiles("sm")


def test_a_broken_checkout_completes_nothing(project: Project) -> None:
    (project.servers / "alpha" / "server.yml").write_text("[")
    assert complete_servers("al") == []


@pytest.mark.parametrize(
    ("shell", "variables"),
    [
        ("bash", {"COMP_WORDS": "./pushbench run al", "COMP_CWORD": "2"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "./pushbench run al"}),
        ("fish", {"_TYPER_COMPLETE_ARGS": "./pushbench run al", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}),
    ],
)
def test_a_shell_asks_and_gets_an_answer(project: Project, shell: str, variables: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pushbench"],
        env={**os.environ, **variables, "_PUSHBENCH_COMPLETE": f"complete_{shell}", "PYTHONPATH": str(BENCH)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "alpha" in done.stdout, done.stderr
