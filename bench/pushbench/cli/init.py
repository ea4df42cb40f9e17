"""`pushbench init`: the files for measuring your own server, and its first run."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.authoring.describing import Answers
    from pushbench.authoring.settling import Settled
    from pushbench.catalog.protocol_file import Transport
    from pushbench.foundation.project import Project

FOLDER = "bench"
"""in the repository; each server has a folder below it"""

_EXAMPLES = examples(
    "./pushbench init ~/chat",
    "./pushbench init ~/chat --path '/rooms/{group}' --start 'node server.js'",
    './pushbench init ~/chat --message \'{"type": "chat", "id": {id}}\'',
    "./pushbench init ~/model --over sse --path /v1/chat/completions",
    "./pushbench init ~/chat --no-run --json",
    "(again, after changes to its files: writes what is missing)",
)


def register(app: typer.Typer) -> None:
    app.command("init", epilog=_EXAMPLES)(init)


def init(
    repository: Annotated[
        Path, typer.Argument(help="A clone of the server, or the server's folder in a clone.", metavar="REPOSITORY")
    ],
    *,
    name: Annotated[
        str, typer.Option("--name", help="Name of the server.", metavar="NAME", show_default="the folder's name")
    ] = "",
    build: Annotated[
        list[str] | None,
        typer.Option(
            "--build", help="A command that builds the server; repeatable.", metavar="COMMAND", show_default="guessed"
        ),
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            "--start",
            help="The command that starts the server. It gets the variable PORT.",
            metavar="COMMAND",
            show_default="guessed",
        ),
    ] = "",
    path: Annotated[
        str, typer.Option("--path", help="Where clients connect; {group} is the name of a room.", metavar="PATH")
    ] = "",
    message: Annotated[
        str, typer.Option("--message", help="What clients send, with an {id} and {text:200}.", metavar="TEMPLATE")
    ] = "",
    over: Annotated[
        Literal["websocket", "sse", "http"],
        typer.Option("--over", help="The transport that clients use.", metavar="websocket|sse|http"),
    ] = "websocket",
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Play a conversation and a first run, to derive limits.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the files for measuring your own server.

    Asks five questions; each has an option that answers it in advance. Without a terminal, uses the guessed answers.

    Exit code: 0 the files exist, 2 an answer is missing or wrong, or an existing file cannot be used.
    """
    from pushbench.authoring import settling
    from pushbench.foundation.project import Project

    project, top, home = Project.current(), settling.repository_at(repository), repository.resolve()
    asks = sys.stdin.isatty() and not as_json
    name = _name(name or _named_before(home) or _ask(asks, "The server's name?", _slug(home.name)))
    folder = home / FOLDER / name
    answers = None
    if force or not (folder / "server.yml").exists():
        given = _Given(build, start, path, message, over)
        answers = _answers(home, name, _suite(project, over), given, asks=asks)
    settled = _write(project, top, folder, answers, force=force)
    if not as_json:
        _tell(project, top, settled)
    first = _First(why="no run was requested")
    if (folder / "thresholds.yml").exists() and not force:
        first = _First(limits="", speaks=True)
    elif run:
        first = _first_run(project, name)
    if first.limits is not None:
        settled.append(settling.settle(folder / "thresholds.yml", first.limits, force=force))
    _end(settled, first, name=name, as_json=as_json)
    if first.why and not as_json:
        when = "for limits, rerun on a quieter machine" if first.speaks else "when the conversation works, rerun"
        print(f"{when}: ./pushbench init {repository}")


class _Given:
    """The answers that options give."""

    def __init__(self, build: list[str] | None, start: str, path: str, message: str, over: Transport) -> None:
        self.build, self.start, self.path, self.message, self.over = build, start, path, message, over


def _suite(project: Project, over: Transport) -> str:
    """Return the suite that plays declared protocols over a transport."""
    from pushbench.catalog.suites import declaring_suite

    return declaring_suite(project.scenarios, over).id


def _answers(home: Path, name: str, suite: str, given: _Given, *, asks: bool) -> Answers:
    from pushbench.authoring import settling
    from pushbench.authoring.describing import ANYTHING, NOWHERE, Answers
    from pushbench.authoring.guessing import as_line, guess

    guessed = guess(*settling.read_files(home))
    build = [_argv("--build", each) for each in given.build or ()] or guessed.build
    if not given.build:
        told = _ask(asks, "What builds it?", " && ".join(map(as_line, build)) or "nothing")
        build = guessed.build if told == " && ".join(map(as_line, build)) else _commands(told)
    start = given.start or _ask(asks, "What starts it? It gets PORT.", as_line(guessed.start) if guessed.start else "")
    if not start:
        raise UserError("cannot guess what starts the server", where=str(home), hint="--start 'node server.js'")
    where = "Where do clients connect? {group} is a room." if given.over == "websocket" else "Which path do they use?"
    path = given.path or _ask(asks, where, "/")
    message = given.message or _ask(asks, "What do they send?", ANYTHING[given.over])
    for product in settling.not_ignored(home, guessed.products if build == guessed.build else ()):
        options.note(f"git does not ignore {product}: every run will build again; add it to .gitignore")
    link = settling.page_of(home) or NOWHERE
    return Answers(name, suite, build, _argv("--start", start), path, message, given.over, link)


def _commands(told: str) -> list[list[str]]:
    lines = [each.strip() for each in told.split("&&")]
    return [_argv("--build", line) for line in lines if line not in ("", "nothing")]


def _argv(option: str, line: str) -> list[str]:
    from pushbench.authoring.guessing import argv_of

    try:
        return argv_of(line)
    except ValueError as error:
        raise UserError(f"{option}: {error}", where=repr(line)) from None


def _ask(asks: bool, question: str, default: str) -> str:
    if not asks:
        return default
    print(f"{question} [{default}] " if default else f"{question} ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() or default


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "server"


def _name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise UserError(f"--name {name!r}: expected small letters, digits and -", hint=f"such as {_slug(name)}")
    return name


def _named_before(home: Path) -> str:
    """Return the name of the server that the repository already describes, if there is exactly one."""
    found = [file.parent.name for file in (home / FOLDER).glob("*/server.yml")]
    return found[0] if len(found) == 1 else ""


def _write(project: Project, top: Path, folder: Path, answers: Answers | None, *, force: bool) -> list[Settled]:
    """Write all files that need no run. If the answers make invalid files, write none."""
    from pushbench.authoring import settling
    from pushbench.authoring.describing import protocol_yml, server_yml, workflow_yml

    workflow = workflow_yml(folder.relative_to(top).as_posix(), settling.place_of(project))
    texts = {top / ".github" / "workflows" / "benchmark.yml": workflow}
    if answers:
        described, protocol = server_yml(answers), protocol_yml(answers)
        _require_readable(described, protocol)
        texts = {folder / "server.yml": described, folder / "protocol.yml": protocol, **texts}
    settled = [settling.settle(path, text, force=force) for path, text in texts.items()]
    return [*settled, settling.link(project, folder)]


def _require_readable(described: str, protocol: str) -> None:
    """Raise UserError for answers that make invalid files, before any file is written."""
    from pushbench.catalog.protocols import protocol_in
    from pushbench.catalog.servers import ServerFile
    from pushbench.foundation.yamlfile import parse_yaml

    parse_yaml(described, Path("server.yml")).validate(ServerFile)
    protocol_in(parse_yaml(protocol, Path("protocol.yml")))


@dataclass(frozen=True)
class _First:
    """The thresholds.yml of a first run, or why there is none, and whether the server speaks its declared protocol."""

    limits: str | None = None
    why: str = ""
    speaks: bool = False


def _first_run(project: Project, name: str) -> _First:
    from pushbench.cli.first_run import NothingUsual, first_run

    try:
        return _First(first_run(project, name), speaks=True)
    except UserError as error:
        return _First(why=str(error), speaks=isinstance(error, NothingUsual))


def _tell(project: Project, top: Path, settled: list[Settled]) -> None:
    for each in settled:
        print(f"{each.state:8}  {_shown(project, top, each.path)}")


def _shown(project: Project, top: Path, path: Path) -> str:
    if path.is_symlink():
        return f"{project.relative(path)}, a link in this checkout"
    return str(path.relative_to(top))


def _end(settled: list[Settled], first: _First, *, name: str, as_json: bool) -> None:
    compared = f"./pushbench compare {name} --base HEAD~1"
    following = compared if first.speaks else f"./pushbench protocol check {name}"
    if as_json:
        files = [{"path": str(each.path), "state": each.state} for each in settled]
        options.print_json({"server": name, "files": files, "no_limits": first.why or None, "next": following})
        return
    if first.why:
        print(f"no limits yet: {first.why}")
    else:
        print(f"{settled[-1].state:8}  limits of a first run, {settled[-1].path}")
    print(f"next: {following}")
