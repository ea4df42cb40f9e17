"""`pushbench run`: measure, keep the record, and say what it amounts to."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.options import (
    DEFAULT_PROFILE,
    DEFAULT_SUITE,
    DriverOption,
    JsonOption,
    OutOption,
    ParameterOption,
    ProfileOption,
    RoundsOption,
    SeedOption,
    ServersOption,
    SuiteOption,
    WaitOption,
    WorkersOption,
)

if TYPE_CHECKING:
    from pushbench.progress import Follower

EXIT_INTERRUPTED = 128 + signal.SIGINT
LIVE_URL = "http://127.0.0.1:8428"  # where compose/stack.yml has VictoriaMetrics

_EXAMPLES = (
    "Examples: `pushbench run`; `pushbench run --profile full --servers node-ws`; "
    "`pushbench run --parameter board_size=100 --rounds 3`; `pushbench run --live` to watch it; "
    "`pushbench run --resume` goes on with the newest record."
)


def register(app: typer.Typer) -> None:
    app.command("run", epilog=_EXAMPLES)(run)


def run(
    *,
    suite: SuiteOption = DEFAULT_SUITE,
    profile: ProfileOption = DEFAULT_PROFILE,
    servers: ServersOption = "",
    rounds: RoundsOption = 1,
    parameter: ParameterOption = [],  # noqa: B006 - typer reads it, nobody changes it
    seed: SeedOption = 1,
    resume: Annotated[
        str,
        typer.Option(
            "--resume", help="Go on with a run that was interrupted: an id, a file, or `latest`.", metavar="ID"
        ),
    ] = "",
    driver: DriverOption = "auto",
    workers: WorkersOption = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="For the servers; without it a free one each.")
    ] = None,
    generators: Annotated[int, typer.Option("--generators", min=1, help="k6 processes that share the clients.")] = 1,
    wait: WaitOption = False,
    skip_verify: Annotated[
        bool, typer.Option("--skip-verify", help="Measure without verifying; every trial is marked with it.")
    ] = False,
    live: Annotated[
        str | None,
        typer.Option(
            "--live",
            help="Stream into a VictoriaMetrics, for dashboards; without URL into that of `make stack`.",
            metavar="URL",
        ),
    ] = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build, verify and measure servers; write the record and a report; judge them by thresholds.yml.

    Exit code: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive or invalid.
    """
    from pushbench import run as running
    from pushbench import store
    from pushbench.cli.conclusion import conclude, thresholds_of
    from pushbench.driver_choice import DriverChoice
    from pushbench.project import Project

    project = Project.current(out)
    thresholds = thresholds_of(project)  # a mistake there must not be told after five minutes
    choice = DriverChoice(driver, port, workers)
    how = running.Options(choice, generators=generators, wait=wait, verify=not skip_verify, live=live)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    try:
        with contextlib.closing(_watch()) as watch:
            if resume:
                record = running.resume(project, store.find_record(project.records, resume), how, watch)
            else:
                wanted = running.Request(
                    suite, profile, options.names(servers), options.parameters(parameter), rounds, seed
                )
                record = running.run(project, wanted, how, watch)
    except running.Interrupted as interrupted:
        record = interrupted.record
        options.note(
            f"interrupted: {len(record.trials)} of {len(record.plan)} trials are safe; "
            f"go on with `./pushbench run --resume {interrupted.path}`"
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except KeyboardInterrupt:
        options.note("interrupted before anything was measured")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    raise typer.Exit(conclude(project, record, thresholds, as_json=as_json))


def with_resume_value(arguments: Sequence[str]) -> list[str]:
    """`--resume` alone means `--resume latest`, and `--live` alone its default URL: typer has no options whose value
    may be left out."""
    values = {"--resume": "latest", "--live": LIVE_URL}
    complete: list[str] = []
    for argument, following in zip(arguments, [*arguments[1:], "--"], strict=True):
        complete += [argument, values[argument]] if argument in values and following.startswith("-") else [argument]
    return complete


def _watch() -> Follower:
    from rich.console import Console

    from pushbench.progress import Lines, Terminal

    return Terminal(Console(stderr=True)) if sys.stderr.isatty() else Lines()
