"""The command line. One module a command; what a command needs it imports when it runs, so that --help stays fast."""

from __future__ import annotations

import errno
import os
import sys

import typer

from pushbench.cli import (
    bake,
    build,
    calibrate,
    ci,
    compare,
    export,
    history,
    judge,
    plan,
    run,
    schema,
    servers,
    services,
    show,
    site,
    suites,
    verify,
)
from pushbench.foundation.errors import EXIT_USAGE, UserError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)

app = typer.Typer(
    name="pushbench",
    help="Continuous benchmarks of servers that push.",
    epilog="Start with `pushbench run`; every command has --help with examples.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    servers,
    suites,
    plan,
    build,
    bake,
    services,
    verify,
    run,
    compare,
    judge,
    history,
    calibrate,
    show,
    site,
    export,
    ci,
    schema,
):
    command.register(app)


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    try:
        app(run.with_resume_value(sys.argv[1:]), prog_name="pushbench")
    except UserError as error:
        _give_up(str(error))
    except BrokenPipeError:
        # The program that read the output has enough, as in `pushbench show | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _give_up(f"{error.filename or 'a file'}: {error.strerror}; make room and try again")


def _give_up(message: str) -> None:
    """Say the error, in a job of GitHub Actions also as an annotation, which `pushbench ci report` reads."""
    from pushbench.ci.actions import annotate

    annotate("error", message)
    print(f"pushbench: {message}", file=sys.stderr)
    sys.exit(EXIT_USAGE)
