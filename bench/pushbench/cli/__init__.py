"""The command line, one module per command. A command imports what it needs when it runs, so --help stays fast."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from pushbench.cli import (
    bake,
    bisect,
    build,
    calibrate,
    capacity,
    ci,
    compare,
    explain,
    export,
    findings,
    history,
    init,
    judge,
    learn,
    merge,
    plan,
    protocol,
    report,
    run,
    schema,
    servers,
    services,
    show,
    site,
    suites,
    verify,
)
from pushbench.cli.arguments import command_of
from pushbench.cli.examples import examples
from pushbench.foundation.errors import EXIT_USAGE, UserError
from pushbench.foundation.files import NO_ROOM

_FIRST_STEPS = """\
Pushbench measures servers that push: how fast they deliver, and at what cost.

Start here:
  ./pushbench servers     the servers, and which of them run on this machine
  ./pushbench run go --profile smoke
                          builds, checks and measures one server
  make bench              measures four servers in about five minutes
  ./pushbench show        shows the newest result again
  ./pushbench site        writes the results as pages to out/site

All commands: ./pushbench -h. Each command has -h with examples."""

app = typer.Typer(
    name="pushbench",
    epilog=examples(
        "./pushbench run go --profile smoke",
        "./pushbench COMMAND -h",
        "./pushbench --install-completion",
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    from pushbench.foundation.git import describe
    from pushbench.foundation.project import Project

    print(f"pushbench {describe(Project.current().root)}")
    raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", callback=_show_version, is_eager=True, help="Show the version of this checkout and exit."
    ),
]


@app.callback(invoke_without_command=True)
def first(context: typer.Context, *, version: VersionOption = False) -> None:
    """Continuous benchmarks of servers that push."""
    if context.invoked_subcommand is None:
        print(_FIRST_STEPS)


for command in (
    servers,
    suites,
    plan,
    build,
    bake,
    services,
    verify,
    init,
    learn,
    protocol,
    run,
    compare,
    explain,
    bisect,
    capacity,
    judge,
    history,
    calibrate,
    show,
    merge,
    report,
    site,
    export,
    findings,
    ci,
    schema,
):
    command.register(app)


def main() -> None:
    """Run the command line, and exit with its exit code."""
    try:
        command_of(app)(run.with_resume_value(sys.argv[1:]), prog_name="pushbench")
    except UserError as error:
        _give_up(str(error))
    except BrokenPipeError:
        # The reader has closed the pipe, as in `pushbench show | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        _give_up(_file_error(error))


def _file_error(error: OSError) -> str:
    """Return an error of the file system in one line: the file, the reason and, if the disk is full, what to do."""
    hint = "; make room and try again" if error.errno in NO_ROOM else ""
    return f"{error.filename or 'a file'}: {error.strerror or error}{hint}"


def _give_up(message: str) -> None:
    """Print the error and exit. In a GitHub Actions job, also annotate it; `pushbench ci report` reads annotations."""
    from pushbench.ci.actions import annotate

    annotate("error", message)
    print(f"pushbench: {message}", file=sys.stderr)
    sys.exit(EXIT_USAGE)
