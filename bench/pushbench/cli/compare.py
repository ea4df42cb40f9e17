"""`pushbench compare`: whether this checkout made a server worse than another commit of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.measuring import measure
from pushbench.cli.options import (
    DEFAULT_SUITE,
    DriverOption,
    GeneratorsOption,
    InTurnsOption,
    JsonOption,
    LiveOption,
    OutOption,
    ParameterOption,
    PortOption,
    SeedOption,
    ServersOption,
    SkipVerifyOption,
    SourceAddressesOption,
    SuiteOption,
    WaitOption,
    WorkersOption,
)

if TYPE_CHECKING:
    from pushbench.progress import Follower
    from pushbench.record import Record

_EXAMPLES = (
    "Examples: `pushbench compare --base main`; `pushbench compare --base HEAD~1 --servers node-ws --max-time 5m`; "
    "`pushbench compare --base v1.2 --head v1.3 --json`."
)


def register(app: typer.Typer) -> None:
    app.command("compare", epilog=_EXAMPLES)(compare)


def compare(
    *,
    base: Annotated[str, typer.Option("--base", help="The commit to compare with.", metavar="REF")],
    head: Annotated[
        str, typer.Option("--head", help="The commit to judge.", metavar="REF", show_default="the work tree")
    ] = "",
    suite: SuiteOption = DEFAULT_SUITE,
    profile: Annotated[
        str, typer.Option("--profile", help="The size of the suite; see `pushbench suites`.", metavar="PROFILE")
    ] = "compare",
    servers: ServersOption = "",
    accept: Annotated[
        bool,
        typer.Option(
            "--accept", help="Let the regressions count as accepted that the --head commit's thresholds.yml accepts."
        ),
    ] = False,
    max_rounds: Annotated[
        int | None, typer.Option("--max-rounds", min=1, help="Stop after so many at the latest.")
    ] = None,
    max_time: Annotated[
        str, typer.Option("--max-time", help="Stop after this time at the latest, builds not counted.", metavar="TIME")
    ] = "10m",
    in_turns: InTurnsOption = False,
    parameter: ParameterOption = [],  # noqa: B006 - typer reads it, nobody changes it
    seed: SeedOption = 1,
    driver: DriverOption = "auto",
    workers: WorkersOption = None,
    port: PortOption = None,
    generators: GeneratorsOption = None,
    source_addresses: SourceAddressesOption = "auto",
    wait: WaitOption = False,
    skip_verify: SkipVerifyOption = False,
    live: LiveOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure servers as they are here and as they were at another commit, both at once, until it is clear.

    A server whose build is the same at both is not measured. One harness drives both: that of this checkout.

    Exit code: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive or invalid.
    """
    from pushbench import compare as comparing
    from pushbench.campaign import Budget
    from pushbench.cli.conclusion import conclude, thresholds_of
    from pushbench.driver_choice import DriverChoice
    from pushbench.errors import UserError
    from pushbench.measuring import Options
    from pushbench.needs import parse_addresses
    from pushbench.project import Project

    if accept and not head:
        raise UserError("--accept needs --head", hint="the lines of the work tree have effect without it")
    project = Project.current(out)
    thresholds = thresholds_of(project)
    choice = DriverChoice(driver, port, workers)
    how = Options(
        choice,
        generators=generators,
        sources=parse_addresses(source_addresses),
        wait=wait,
        verify=not skip_verify,
        live=live,
    )
    wanted = comparing.Request(
        suite=suite,
        profile=profile,
        base=base,
        head=head or None,
        servers=options.names(servers),
        parameters=options.parameters(parameter),
        budget=Budget(options.seconds("--max-time", max_time), max_rounds, together=not in_turns),
        seed=seed,
        accept=accept,
    )

    def play(watch: Follower) -> Record:
        return comparing.compare(project, wanted, how, thresholds, watch)

    record = measure(play, go_on=lambda path: f"./pushbench judge {path}")
    raise typer.Exit(conclude(project, record, thresholds, as_json=as_json))
