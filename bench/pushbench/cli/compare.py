"""`pushbench compare`: whether this checkout made a server worse than another commit of it."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.interrupting import measure
from pushbench.cli.options import (
    DriverOption,
    GeneratorsOption,
    InTurnsOption,
    JsonOption,
    LiveOption,
    NamesArgument,
    OutOption,
    ParameterOption,
    PortOption,
    ProfileOption,
    SeedOption,
    ServersOption,
    SkipVerifyOption,
    SourceAddressesOption,
    SuiteOption,
    WaitOption,
    WorkersOption,
)

if TYPE_CHECKING:
    from pushbench.catalog.suites import Suite
    from pushbench.cli.conclusion import Conclusion

BaseOption = Annotated[str, typer.Option("--base", help="The commit to compare with.", metavar="REF")]
HeadOption = Annotated[
    str, typer.Option("--head", help="The commit to judge.", metavar="REF", show_default="the work tree")
]
AcceptOption = Annotated[
    bool,
    typer.Option("--accept", help="Accept the regressions that thresholds.yml of the --head commit accepts."),
]
MaxRoundsOption = Annotated[
    int | None, typer.Option("--max-rounds", min=1, metavar="N", help="Stop after at most N rounds.")
]
MaxTimeOption = Annotated[
    str,
    typer.Option("--max-time", help="Measure each server for at most this time.", metavar="TIME"),
]
TotalTimeOption = Annotated[
    str,
    typer.Option(
        "--total-time",
        help="Maximum time for all servers of a suite; time that decided servers leave goes to the others.",
        metavar="TIME",
        show_default="none",
    ),
]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain/--no-explain",
        help="Profile the servers that got worse in CPU, within --max-time; see `pushbench explain`.",
    ),
]

_EXAMPLES = examples(
    "./pushbench compare --base main",
    "./pushbench compare node-ws --base HEAD~1 --max-time 5m",
    "./pushbench compare --base v1.2 --head v1.3 --json",
)


def register(app: typer.Typer) -> None:
    app.command("compare", epilog=_EXAMPLES)(compare)


def compare(
    named: NamesArgument = None,
    *,
    base: BaseOption,
    head: HeadOption = "",
    suite: SuiteOption = "",
    profile: ProfileOption = "compare",
    servers: ServersOption = "",
    accept: AcceptOption = False,
    max_rounds: MaxRoundsOption = None,
    max_time: MaxTimeOption = "10m",
    total_time: TotalTimeOption = "",
    in_turns: InTurnsOption = False,
    explain: ExplainOption = True,
    parameter: ParameterOption = [],  # noqa: B006 - typer only reads it
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
    """Measure servers here and at another commit, side by side.

    Repeats rounds until the difference is clear or the time is up.

    Servers with the same build at both commits are not measured. The harness of this checkout drives both.

    Exit code: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive or invalid.
    """
    from pushbench.cli.conclusion import conclude, exit_with, thresholds_of
    from pushbench.cli.suites_of import each_suite
    from pushbench.comparing import compare as comparing
    from pushbench.comparing.campaign import Budget
    from pushbench.drivers.choice import DriverChoice
    from pushbench.foundation.errors import UserError
    from pushbench.foundation.project import Project
    from pushbench.generator.needs import parse_addresses
    from pushbench.measuring.common import Options

    if accept and not head:
        raise UserError("--accept needs --head", hint="the lines of the work tree apply without --accept")
    project = Project.current(out)
    thresholds = thresholds_of(project)
    choice, sources = DriverChoice(driver, port, workers), parse_addresses(source_addresses)
    how = Options(
        choice,
        generators=generators,
        sources=sources,
        wait=wait,
        verify=not skip_verify,
        live=live,
        thresholds=thresholds,
    )
    budget = Budget(
        options.seconds("--max-time", max_time),
        max_rounds,
        together=not in_turns,
        all_seconds=options.seconds("--total-time", total_time) if total_time else inf,
    )

    def of_suite(found: Suite, ids: list[str]) -> Conclusion:
        wanted = comparing.CompareRequest(
            suite=found.id,
            profile=profile,
            base=base,
            head=head or None,
            servers=ids,
            parameters=options.parameters(parameter),
            budget=budget,
            seed=seed,
            accept=accept,
            explain=explain,
        )
        play = partial(comparing.compare, project, wanted, how, thresholds)
        record = measure(play, go_on=lambda path: f"./pushbench judge {path}")
        return conclude(project, record, thresholds, as_json=as_json)

    exit_with(each_suite(project, suite, options.chosen(named, servers), of_suite), as_json=as_json)
