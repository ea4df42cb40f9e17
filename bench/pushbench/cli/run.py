"""`pushbench run`: measure, keep the record, and judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.completing import complete_profiles
from pushbench.cli.examples import examples
from pushbench.cli.interrupting import drawable, measure
from pushbench.cli.options import (
    DEFAULT_PROFILE,
    AuthoritiesOption,
    ContextOption,
    DriverOption,
    GeneratorsOption,
    JsonOption,
    LiveOption,
    NamesArgument,
    NamespacePrefixOption,
    OutOption,
    ParameterOption,
    PortOption,
    RoundsOption,
    SeedOption,
    ServersOption,
    SkipVerifyOption,
    SourceAddressesOption,
    SuiteOption,
    WaitOption,
    WorkersOption,
)
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pushbench.catalog.suites import Suite
    from pushbench.cli.conclusion import Conclusion
    from pushbench.records.record import Record
    from pushbench.watching.progress import Follower

LIVE_URL = "http://127.0.0.1:8428"  # VictoriaMetrics of compose/stack.yml

ResumeOption = Annotated[
    str,
    typer.Option("--resume", help="Resume an interrupted run: an id, a file, or `latest`.", metavar="ID"),
]
GiveWayOption = Annotated[
    bool,
    typer.Option(
        "--give-way",
        help="In a GitHub Actions job: stop between two servers if a pull request waits for this machine.",
    ),
]
WatchOption = Annotated[
    bool,
    typer.Option("--watch", help="Draw the last minute on the terminal: throughput, p95 and CPU, with their limits."),
]

UrlOption = Annotated[
    str,
    typer.Option(
        "--url", help="Measure a server that runs elsewhere, such as wss://chat.example.org/v1.", metavar="URL"
    ),
]
ProtocolOption = Annotated[
    str, typer.Option("--protocol", help="With --url: the file that declares the protocol.", metavar="FILE")
]
NameOption = Annotated[
    str,
    typer.Option(
        "--name", help="With --url: the name of the server.", metavar="NAME", show_default="its host and port"
    ),
]
OwnerAgreedOption = Annotated[
    bool,
    typer.Option(
        "--owner-agreed",
        help="The owner of the server that runs elsewhere agreed to a load above 100 clients and 1,000 deliveries/s.",
    ),
]
RunProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        help="The size of the suite; `./pushbench suites` lists the profiles.",
        metavar="PROFILE",
        show_default=f"{DEFAULT_PROFILE}; smaller for a server elsewhere, without --owner-agreed",
        autocompletion=complete_profiles,
    ),
]
_EXAMPLES = examples(
    "./pushbench run",
    "./pushbench run node-ws --profile full",
    "./pushbench run 'go*' tier:baseline --rounds 3",
    "./pushbench run --suite whiteboard --parameter board_size=100",
    "./pushbench run go --watch",
    "./pushbench run --live",
    "./pushbench run node-ws --driver kubernetes --generators 2",
    "./pushbench run --resume",
    "./pushbench run --url wss://example.org --protocol chat.yml",
)


def register(app: typer.Typer) -> None:
    app.command("run", epilog=_EXAMPLES)(run)


def run(
    named: NamesArgument = None,
    *,
    suite: SuiteOption = "",
    profile: RunProfileOption = "",
    servers: ServersOption = "",
    rounds: RoundsOption = 1,
    parameter: ParameterOption = [],  # noqa: B006 - typer only reads it
    seed: SeedOption = 1,
    url: UrlOption = "",
    protocol: ProtocolOption = "",
    name: NameOption = "",
    ca: AuthoritiesOption = "",
    owner_agreed: OwnerAgreedOption = False,
    resume: ResumeOption = "",
    give_way: GiveWayOption = False,
    driver: DriverOption = "auto",
    context: ContextOption = None,
    namespace_prefix: NamespacePrefixOption = None,
    workers: WorkersOption = None,
    port: PortOption = None,
    generators: GeneratorsOption = None,
    source_addresses: SourceAddressesOption = "auto",
    wait: WaitOption = False,
    skip_verify: SkipVerifyOption = False,
    watch: WatchOption = False,
    live: LiveOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build, verify, measure and judge servers.

    Writes a record and a report to out/, and judges by thresholds.yml.

    Exit code: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive or invalid, 4 gave way.
    """
    from pushbench.catalog.elsewhere import server_at, suite_at
    from pushbench.cli.ci.job import queue_of_job
    from pushbench.cli.conclusion import conclude, exit_with, thresholds_of
    from pushbench.cli.suites_of import each_suite
    from pushbench.drivers.choice import DriverChoice
    from pushbench.drivers.kubernetes import ClusterChoice
    from pushbench.foundation.project import Project
    from pushbench.generator.needs import parse_addresses
    from pushbench.measuring import run as running
    from pushbench.measuring.common import Options
    from pushbench.records import store

    project = Project.current(out)
    thresholds = thresholds_of(project)  # so that a mistake there is reported before five minutes of measuring
    _require_url(url, {"--protocol": protocol, "--name": name, "--ca": ca})
    given = None
    if url:
        if named or servers or resume or driver != "auto":
            raise UserError("--url measures one server: leave out SERVER, --servers, --resume and --driver")
        declaring = suite_at(project.scenarios, protocol, suite)
        given = server_at(url, declaring.id, protocol, name=name, authorities=ca)
    cluster = ClusterChoice(context, namespace_prefix, generators or 1)
    choice = DriverChoice(driver, port, workers, elsewhere=driver == "auto", cluster=cluster)
    how = Options(
        choice,
        generators=generators,
        sources=parse_addresses(source_addresses),
        wait=wait,
        verify=not skip_verify,
        live=live,
        thresholds=thresholds,
        watched=watch and drawable(),
        give_way=queue_of_job() if give_way else None,
        owner_agreed=owner_agreed,
    )

    def one(play: Callable[[Follower], Record]) -> Conclusion:
        drawn = thresholds if how.watched else None
        record = measure(play, go_on=lambda path: f"./pushbench run --resume {path}", drawn=drawn)
        return conclude(project, record, thresholds, as_json=as_json)

    def of_suite(found: Suite, ids: list[str]) -> Conclusion:
        wanted = running.RunRequest(
            found.id,
            profile or DEFAULT_PROFILE,
            ids,
            options.parameters(parameter),
            rounds,
            seed,
            given,
            or_smaller=not profile,
        )
        return one(lambda follower: running.run(project, wanted, how, follower))

    if resume:
        path = store.find_record(project.records, resume)
        concluded = [one(lambda follower: running.resume(project, path, how, follower))]
    elif given:
        concluded = [of_suite(declaring, [given.id])]
    else:
        concluded = each_suite(project, suite, options.chosen(named, servers), of_suite)
    exit_with(concluded, as_json=as_json)


def _require_url(url: str, options_of_it: Mapping[str, str]) -> None:
    """Raise UserError for options of a server that runs elsewhere, if `url` is empty."""
    for option, value in options_of_it.items():
        if value and not url:
            raise UserError(f"{option} is for a server that runs elsewhere", hint="add --url")


def with_resume_value(arguments: Sequence[str]) -> list[str]:
    """Complete `--resume` alone to `--resume latest`, and `--live` alone to its default URL: typer has no options with
    an optional value."""
    values = {"--resume": "latest", "--live": LIVE_URL}
    complete: list[str] = []
    for argument, following in pairwise([*arguments, "--"]):
        complete += [argument, values[argument]] if argument in values and following.startswith("-") else [argument]
    return complete
