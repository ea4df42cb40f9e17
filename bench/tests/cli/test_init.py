"""`pushbench init` in a repository without any file of Pushbench, and comparisons of its commits."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pushbench.authoring.settling import exclude
from pushbench.catalog.protocols import read_protocol
from pushbench.catalog.servers import read_catalog
from pushbench.cli import main
from pushbench.cli.conclusion import thresholds_of
from pushbench.cli.first_run import NothingUsual
from pushbench.comparing.campaign import Budget
from pushbench.comparing.compare import CompareRequest, compare
from pushbench.drivers.choice import DriverChoice
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.foundation.yamlfile import read_yaml
from pushbench.measuring.common import Options
from tests.support import FAKES, make_project
from tests.tiny_runs import Notebook
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

START = f"{sys.executable} server.py"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Another project's server, with two commits."""
    home = tmp_path / "My Chat"
    home.mkdir()
    (home / "server.py").write_text((FAKES / "server.py").read_text())
    git(home, "init", "--quiet", "--initial-branch=main")
    for subject in ("Begin", "Go on"):
        (home / "README").write_text(subject)
        git(home, "add", "--all")
        git(home, "commit", "--quiet", "--message", subject)
    return home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = make_project(tmp_path / "checkout")
    suite = made.scenarios / "tiny.yml"
    suite.write_text(
        f"declared_protocols: websocket\n{suite.read_text()}regressions: {{loss_ratio: {{margin: 10%}}}}\n"
    )
    git(made.root, "init", "--quiet")
    monkeypatch.setenv("PUSHBENCH_ROOT", str(made.root))
    return made


@pytest.fixture
def init(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, chat: Path, project: Project) -> Any:
    def run(*arguments: str, code: int = 0) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["pushbench", "init", str(chat), "--no-run", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code or 0) == code, said.err
        return said.out, said.err

    return run


def test_the_files_are_written_and_the_server_is_one_of_the_catalog(init: Any, chat: Path, project: Project) -> None:
    said, _ = init("--start", START, "--path", "/rooms/{group}")
    folder = chat / "bench" / "my-chat"
    spec = read_yaml(folder / "server.yml").data
    assert spec["process"]["start"] == START.split()
    assert spec["source"] == "../.."
    assert read_yaml(folder / "protocol.yml").data["websocket"] == {"path": "/rooms/{group}"}
    assert "folder: bench/my-chat" in (chat / ".github" / "workflows" / "benchmark.yml").read_text()
    assert (project.servers / "my-chat").resolve() == folder
    assert git(project.root, "check-ignore", "servers/my-chat"), "git would add a link to another repository"
    assert "written   bench/my-chat/server.yml\n" in said
    assert said.splitlines()[-2] == "next: ./pushbench protocol check my-chat"


@pytest.mark.parametrize(("over", "suite"), [("sse", "streams"), ("http", "answers")])
def test_requests_are_described_for_their_suite(over: str, suite: str, init: Any, chat: Path, project: Project) -> None:
    tiny = (project.scenarios / "tiny.yml").read_text()
    (project.scenarios / f"{suite}.yml").write_text(tiny.replace("protocols: websocket", f"protocols: {over}"))
    init("--start", START, "--over", over, "--path", "/v1/answers")
    folder = chat / "bench" / "my-chat"
    assert read_yaml(folder / "server.yml").data["suite"] == suite
    declared = read_protocol(folder / "protocol.yml")
    assert (declared.transport, declared.declaration.path[0].literal) == (over, "/v1/answers")


def test_what_is_there_is_kept_until_somebody_says_otherwise(init: Any, chat: Path) -> None:
    init("--start", START)
    protocol = chat / "bench" / "my-chat" / "protocol.yml"
    protocol.write_text("mine")
    workflow = chat / ".github" / "workflows" / "benchmark.yml"
    workflow.unlink()
    said, _ = init()
    assert protocol.read_text() == "mine"
    assert "kept      servers/my-chat" in said
    assert "written   .github/workflows/benchmark.yml" in said
    workflow.write_text("mine, too")
    assert "kept      .github/workflows/benchmark.yml" in init()[0]
    assert workflow.read_text() == "mine, too"
    said, _ = init("--force", "--start", START)
    assert "replaced  bench/my-chat/protocol.yml" in said
    assert protocol.read_text() != "mine"


def test_a_folder_of_a_repository_may_be_the_server(
    init: Any, chat: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (chat / "api").mkdir()
    monkeypatch.setattr(sys, "argv", ["pushbench", "init", str(chat / "api"), "--no-run", "--start", START])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    [server] = read_catalog(project.servers)
    assert (server.id, server.folder) == ("api", chat / "api")
    assert "folder: api/bench/api" in (chat / ".github" / "workflows" / "benchmark.yml").read_text()


def test_programs_get_one_document(init: Any, chat: Path) -> None:
    said, _ = init("--start", START, "--json")
    told = json.loads(said)
    assert told["server"] == "my-chat"
    assert {"path": str(chat / "bench" / "my-chat" / "server.yml"), "state": "written"} in told["files"]
    assert (told["no_limits"], told["next"]) == ("no run was requested", "./pushbench protocol check my-chat")


@pytest.mark.parametrize(
    ("error", "following"),
    [
        (
            NothingUsual("too busy"),
            "next: ./pushbench compare my-chat --base HEAD~1\nfor limits, rerun on a quieter machine",
        ),
        (UserError("silence"), "next: ./pushbench protocol check my-chat\nwhen the conversation works, rerun"),
    ],
)
def test_without_a_first_run_it_says_what_is_next(
    error: UserError, following: str, init: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> str:
        raise error

    monkeypatch.setattr("pushbench.cli.first_run.first_run", fails)
    said, _ = init("--start", START, "--run")
    assert f"no limits yet: {error}\n{following}: ./pushbench init " in said


def test_on_a_terminal_it_asks_five_questions(init: Any, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = io.StringIO("room\nmake\nbin/chat --quiet\n/ws\nsay {id}\n")
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", typed)
    _, asked = init()
    spec = read_yaml(chat / "bench" / "room" / "server.yml").data["process"]
    assert (spec["build"], spec["start"]) == ([["make"]], ["bin/chat", "--quiet"])
    protocol = read_yaml(chat / "bench" / "room" / "protocol.yml").data
    assert (protocol["websocket"]["path"], protocol["message"]["send"]) == ("/ws", "say {id}")
    assert asked.count("?") == 5


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "cannot guess what starts the server; --start 'node server.js'"),
        (["--start", START, "--name", "My Chat"], "--name 'My Chat': expected small letters, digits and -"),
        (["--start", START, "--message", "hello"], "the message has no {id}"),
        (["--start", START, "--path", "rooms"], "protocol.yml:3: websocket.path: "),
        (["--start", "node 'x"], "--start: No closing quotation"),
        (["--build", "node 'x"], "--build: No closing quotation"),
    ],
)
def test_an_answer_that_cannot_be_meant_is_told_and_nothing_is_written(
    init: Any, chat: Path, arguments: list[str], what: str
) -> None:
    _, error = init(*arguments, code=2)
    assert what in error
    assert len(error.splitlines()) == 1
    assert git(chat, "status", "--porcelain") == ""


def test_a_name_that_is_taken_stays_its_servers(init: Any, project: Project) -> None:
    (project.servers / "my-chat").mkdir(parents=True)
    _, error = init("--start", START, code=2)
    assert "Pushbench already has another server my-chat" in error


def test_an_exclusion_is_added_once(chat: Path) -> None:
    file = chat / ".git" / "info" / "exclude"
    file.write_text("mine")
    exclude(chat, "/x")
    exclude(chat, "/x")
    assert file.read_text() == "mine\n/x\n"


@pytest.mark.slow
def test_two_commits_from_before_the_files_are_compared(init: Any, chat: Path, project: Project) -> None:
    init("--start", f"sh -c 'FAKE_ID=x exec {START}'")
    git(chat, "add", "--all")
    git(chat, "commit", "--quiet", "--message", "Measure it")
    server = chat / "bench" / "my-chat" / "server.yml"
    server.write_text(f"{server.read_text()}# a comment\n")
    git(chat, "commit", "--quiet", "--all", "--message", "Explain it")
    before = git(chat, "status", "--porcelain", "--branch")

    def measured(base: str, head: str | None = None) -> tuple[str, list[str], int]:
        request = CompareRequest("tiny", "smoke", base, head, servers=["my-chat"], budget=Budget(60.0, 1))
        thresholds = thresholds_of(project)
        record = compare(project, request, Options(DriverChoice("process"), verify=False), thresholds, Notebook())
        assert record.comparison
        assert record.commit
        assert all(trial.failure is None and trial.reported is None for trial in record.trials), record.trials
        builds = len({trial.build for trial in record.trials})
        return f"{record.commit.subject} against {record.comparison.base.subject}", record.comparison.identical, builds

    assert measured("HEAD~3", "HEAD~2") == ("Go on against Begin", [], 2)
    assert measured("HEAD~1") == ("Explain it against Measure it", ["my-chat"], 0), "they are no sources"
    assert measured("HEAD~3") == ("Explain it against Begin", [], 2)
    assert git(chat, "status", "--porcelain", "--branch") == before
    with pytest.raises(UserError, match="unknown commit 'v1'"):
        measured("v1")
