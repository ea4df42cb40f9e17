"""Every command, called as a newcomer might: alone, for help, and with invalid values. None prints a traceback."""

from __future__ import annotations

import json
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
from pushbench.building.toolchains import Missing
from pushbench.cli import app, main
from pushbench.cli.completing import complete_profiles, complete_servers, complete_suites
from pushbench.foundation.project import Project
from pushbench.records import store
from pushbench.reporting.all_servers import BEGIN, END
from tests.factories import make_record, make_trial
from tests.support import FAKES, add_server, fake_generator, make_project

BENCH = FAKES.parents[1]
MISSING = Missing("redis-server", ">=6", [], "install it")
WIDTH = 80


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group with the words that call it."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))
ALONE = [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]
WITH_OUT = [path for path in ALONE if any("--out" in each.opts for each in COMMANDS[path].params)]


TYPED = [
    (path, each.opts[0])
    for path in ALONE
    for each in COMMANDS[path].params
    if each.param_type_name == "option" and each.min is not None
]
REQUIRED = {("compare",): ["--base", "HEAD"], ("calibrate", "report"): ["record.json"]}


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
    """The exit code. An exception that the command line does not catch fails the test."""
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
    assert "\n  RECORD  An id, its first characters" in capsys.readouterr().out


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


@pytest.mark.parametrize(("path", "option"), TYPED, ids=lambda each: title(each) if isinstance(each, tuple) else each)
def test_a_value_of_the_wrong_kind_is_a_mistake_that_names_the_option(
    project: Project, path: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*path, *REQUIRED.get(path, []), option, "nonsense") == 2
    said = capsys.readouterr()
    assert option in said.err.splitlines()[-1]
    assert said.out == ""


READING = [
    "show {}",
    "judge {}",
    "judge --thresholds {}",
    "export {}",
    "report {}",
    "run --resume {}",
    "history --add {}",
    "explain {} alpha",
    "findings --add {}",
    "merge {}",
    "protocol check {}",
    "calibrate report {}",
    "calibrate add {} --into copies",
]
"""every command that reads a file named on the command line"""
WRITING = [
    "run --skip-verify --profile smoke --out {}",
    "report --into {}",
    "report --html --into {}",
    "export --into {}",
    "history --add latest --store {}",
    "findings --add latest --kept {}",
    "findings --into {}",
]
"""commands that write to a path on the command line, if they need neither a build nor git"""


@pytest.fixture
def measured(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The checkout with a record and a page of findings, as the working directory."""
    record = make_record([make_trial("alpha")], suite="tiny")
    project.records.mkdir(parents=True)
    (project.records / f"{record.id}.json").write_bytes(store.as_bytes(record))
    docs = project.root / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "findings.md").write_text(f"{BEGIN}\n{END}\n")
    monkeypatch.chdir(project.root)
    return project


@pytest.mark.parametrize("line", READING)
@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"[1, 2"], ids=["folder", "empty", "bytes", "cut"])
def test_a_file_that_cannot_be_read_is_named(
    measured: Project, line: str, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder in place of the file is an error even for root."""
    file = measured.root / "broken.json"
    file.mkdir() if content is None else file.write_bytes(content)
    assert call(*line.format(file).split()) == 2
    assert str(file) in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("line", WRITING)
def test_a_folder_that_cannot_be_written_is_named(
    measured: Project, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in place of the folder is an error even for root."""
    blocked = measured.root / "a-file"
    blocked.write_text("")
    assert call(*line.format(blocked / "in").split()) == 2
    assert str(blocked) in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("path", WITH_OUT, ids=title)
def test_an_out_folder_that_is_none_is_no_traceback(
    project: Project, path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = project.root / "a-file"
    blocked.write_text("")
    code = call(*path, *REQUIRED.get(path, []), "--out", str(blocked / "out"))
    said = capsys.readouterr()
    assert code in (0, 2, 3), said.err  # 0: a command that reads finds nothing, which is no mistake
    assert code != 2 or said.err.splitlines()[-1].startswith(("pushbench: ", "Error: ")), said.err


def test_without_a_command_it_says_what_to_do_first(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert call() == 0
    said = capsys.readouterr().out
    assert "Start here" in said
    assert "./pushbench run" in said
    assert max(map(len, said.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("width", "columns"), [(60, ["id", "toolchains"]), (80, ["id", "suite", "tier", "toolchains"])]
)
def test_servers_keep_to_the_width_and_say_what_is_missing(
    project: Project,
    width: int,
    columns: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = add_server(project, "node-cluster-redis-with-a-long-name").file
    file.write_text(f"{file.read_text()}services: [redis]\n")
    monkeypatch.setattr("pushbench.drivers.services._program", lambda _: MISSING)
    monkeypatch.setenv("COLUMNS", str(width))
    assert call("servers") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].split() == columns
    [redis] = [line for line in lines if line.startswith("node-cluster-redis")]
    assert redis.endswith("needs redis-server")
    assert "needs redis-server >=6: install it" in lines
    assert call("servers", "--json") == 0
    facts = {each["id"]: each["missing"] for each in json.loads(capsys.readouterr().out)}
    assert facts == {
        "alpha": [],
        "beta": [],
        "node-cluster-redis-with-a-long-name": ["needs redis-server >=6: install it"],
    }


@pytest.mark.parametrize("command", ["suites", "plan"])
def test_lines_are_wrapped_in_a_terminal_and_whole_in_a_pipe(
    project: Project, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert call(command) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= 40
    monkeypatch.delenv("COLUMNS")
    assert call(command) == 0
    whole = capsys.readouterr().out
    assert max(map(len, whole.splitlines())) > 40
    assert narrow.split() == whole.split()


def test_an_error_of_the_file_system_is_one_line_with_the_file(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied", "/srv/servers")

    monkeypatch.setattr("pushbench.catalog.servers.read_catalog", refuse)
    assert call("servers") == 2
    assert capsys.readouterr().err == "pushbench: /srv/servers: Permission denied\n"


def test_an_unknown_tier_is_told_with_the_tiers(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("plan", "tier:nosuch") == 2
    assert capsys.readouterr().err == "pushbench: unknown tier 'nosuch'; known: baseline\n"


def test_a_history_without_the_profile_names_those_that_it_has(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    for profile in ("full", "smoke"):
        (project.history / "0123456789ab" / "tiny" / profile).mkdir(parents=True)
    for arguments in (["history"], ["history", "alpha"]):
        assert call(*arguments) == 2
        assert capsys.readouterr().err.endswith("; known: --profile full, --profile smoke\n")


@pytest.mark.parametrize("command", ["show", "judge", "export"])
def test_a_newest_record_that_cannot_be_read_is_told_with_one_that_can(
    project: Project, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    project.records.mkdir(parents=True)
    (project.records / "20261121T101500Z-bbbbbb.json").write_text('{"schema": 1, "id')
    assert call(command) == 2
    assert capsys.readouterr().err.endswith("; no other record can be read\n")
    whole = make_record([make_trial("alpha")], id="20261120T101500Z-aaaaaa")
    (project.records / f"{whole.id}.json").write_bytes(store.as_bytes(whole))
    assert call(command) == 2
    said = capsys.readouterr().err
    assert "20261121T101500Z-bbbbbb.json: not a record" in said
    assert said.endswith(f"; the newest readable record is {whole.id}: give that id\n")


@pytest.mark.parametrize(
    ("options", "written", "begins"),
    [
        ([], "out/report.md", "# tiny, profile quick"),
        (["--html"], "out/report.html", "<!doctype html>"),
        (["--html", "--into", "mine/run.html"], "mine/run.html", "<!doctype html>"),
    ],
)
def test_a_report_is_one_file(
    project: Project,
    options: list[str],
    written: str,
    begins: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project.root)
    record = make_record([make_trial("alpha")], suite="tiny")
    project.records.mkdir(parents=True)
    (project.records / f"{record.id}.json").write_bytes(store.as_bytes(record))
    assert call("report", *options) == 0
    assert f"report {written}, " in capsys.readouterr().err
    assert (project.root / written).read_text().startswith(begins)


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


@pytest.mark.slow
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
