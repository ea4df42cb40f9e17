"""`pushbench capacity`: the most that servers carry within the limits of their suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import (
    DriverOption,
    GeneratorsOption,
    JsonOption,
    NamesArgument,
    OutOption,
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
    from pushbench.catalog.suites import Suite
    from pushbench.cli.conclusion import Conclusion
    from pushbench.records.capacity import CapacityRecord
    from pushbench.watching.progress import Follower

StartsOption = Annotated[int, typer.Option("--starts", min=1, max=20, metavar="N", help="Fresh starts of each server.")]
MaxTimeOption = Annotated[
    str, typer.Option("--max-time", metavar="TIME", help="Maximum time per server, for all its starts together.")
]

_EXAMPLES = examples(
    "./pushbench capacity node-ws",
    "./pushbench capacity 'go*' node-ws --max-time 10m",
    "./pushbench capacity --suite posts --starts 5",
    "./pushbench capacity node-ws --json > capacity.json",
)


def register(app: typer.Typer) -> None:
    app.command("capacity", epilog=_EXAMPLES)(capacity)


def capacity(
    named: NamesArgument = None,
    *,
    suite: SuiteOption = "",
    servers: ServersOption = "",
    starts: StartsOption = 3,
    max_time: MaxTimeOption = "5m",
    seed: SeedOption = 1,
    driver: DriverOption = "auto",
    workers: WorkersOption = None,
    port: PortOption = None,
    generators: GeneratorsOption = None,
    source_addresses: SourceAddressesOption = "auto",
    wait: WaitOption = False,
    skip_verify: SkipVerifyOption = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the most clients, or the highest rate, that servers carry.

    Searches within the limits of the suite, on several fresh starts. Shows what ended the search, which resource binds
    the server there, and what the server used. Writes a record below out/capacity.

    Exit code: 0 found, 1 a server failed or carries nothing, 2 usage or configuration error, 3 a lower bound only.
    """
    from pushbench.capacity.finding import CapacityRequest, find_capacities
    from pushbench.cli.conclusion import exit_with, thresholds_of
    from pushbench.cli.suites_of import each_suite
    from pushbench.drivers.choice import DriverChoice
    from pushbench.foundation.project import Project
    from pushbench.generator.needs import parse_addresses
    from pushbench.measuring.common import Options

    project = Project.current(out)
    thresholds = thresholds_of(project)  # so that a mistake there is reported before five minutes of searching
    seconds = options.seconds("--max-time", max_time)
    how = Options(
        DriverChoice(driver, port, workers),
        generators=generators,
        sources=parse_addresses(source_addresses),
        wait=wait,
        verify=not skip_verify,
    )

    def of_suite(found: Suite, ids: list[str]) -> Conclusion:
        request = CapacityRequest(found.id, ids, starts, seconds, seed)
        record = _measured(lambda watch: find_capacities(project, request, how, thresholds, watch))
        return _conclude(record, project.relative(project.capacities / f"{record.id}.json"), as_json=as_json)

    exit_with(each_suite(project, suite, options.chosen(named, servers), of_suite), as_json=as_json)


def _measured(search: Callable[[Follower], CapacityRecord]) -> CapacityRecord:
    """Return the record of `search`. If the user interrupts it, print what is saved, and exit."""
    from pushbench.capacity.finding import SearchInterrupted
    from pushbench.cli.interrupting import EXIT_INTERRUPTED, watching

    try:
        with watching() as watch:
            return search(watch)
    except SearchInterrupted as interrupted:
        done = sum(len(each.starts) for each in interrupted.record.servers)
        options.note(f"interrupted: {done} starts are saved in {interrupted.path}")
    except KeyboardInterrupt:
        options.note("interrupted before anything was measured")
    raise typer.Exit(EXIT_INTERRUPTED)


def _conclude(record: CapacityRecord, path: str, *, as_json: bool) -> Conclusion:
    """Print the result for people. A server without a number fails, and a lower bound decides nothing."""
    from pushbench.cli.conclusion import Conclusion, width
    from pushbench.foundation.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED
    from pushbench.metrics.carrying import CapacityReport, results_of
    from pushbench.reporting.capacities import render_capacities

    results = results_of(record)
    if not as_json:
        print(render_capacities(record, results, width()), end="")
    options.note(f"record {path}")
    code = EXIT_UNDECIDED if any(each.at_least or each.end is None for each in results) else EXIT_PASS
    if any(each.failure or (each.end == "limit" and not each.carried) for each in results):
        code = EXIT_FAIL
    report = CapacityReport(record=record, results=results)
    return Conclusion(code, report.model_dump(mode="json", by_alias=True) if as_json else None)
