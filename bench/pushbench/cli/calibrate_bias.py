"""`pushbench calibrate bias`: what a meaningless change costs, measured server by server."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.interrupting import EXIT_INTERRUPTED, watching
from pushbench.cli.options import DriverOption, JsonOption, NamesArgument, WaitOption, note, print_json

if TYPE_CHECKING:
    from pushbench.calibration.bias_campaign import BiasRequest, Wanted
    from pushbench.foundation.project import Project
    from pushbench.judging.thresholds import Thresholds
    from pushbench.measuring.common import Options
    from pushbench.records.record import Record, Schedule
    from pushbench.watching.progress import Follower

BIAS = examples(
    "./pushbench calibrate bias go node-ws",
    "./pushbench calibrate bias --total-time 5h",
    "(all servers, within this time)",
    "./pushbench calibrate bias go --change comment --times 3",
    "./pushbench calibrate bias --times 0",
    "(only writes the page again)",
)
PROFILE = "compare"
CORPUS = Path("docs/calibration")
OUT = Path("docs/calibration-bias")


def bias(
    named: NamesArgument = None,
    *,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--change",
            help="Try only this change: comment, unused, layout, environment or rebuilt; repeatable.",
            metavar="CHANGE",
        ),
    ] = None,
    times: Annotated[
        int, typer.Option("--times", min=0, metavar="N", help="Comparisons of each server with each change.")
    ] = 1,
    max_time: Annotated[str, typer.Option("--max-time", help="Maximum time per comparison.", metavar="TIME")] = "10m",
    total_time: Annotated[
        str, typer.Option("--total-time", help="Maximum time for all comparisons.", metavar="TIME", show_default="none")
    ] = "",
    driver: DriverOption = "process",
    wait: WaitOption = False,
    into: Annotated[
        Path | None,
        typer.Option("--into", help="Where to keep the comparisons.", metavar="FOLDER", show_default=str(CORPUS)),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write NAME.json and NAME.md.", metavar="NAME", show_default=str(OUT))
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure what a meaningless change costs.

    Compares servers with builds of the same code, which differ by a comment, an unused function, the order of
    functions, the size of the environment, or their path. Each comparison is saved when it ends, and counts as one of a
    server with itself. Run the same command again to continue. The last lines are margins for thresholds.yml.
    """
    from pushbench.calibration import bias_table
    from pushbench.calibration.bias import biases, of_newest_ways
    from pushbench.calibration.bias_campaign import of_schedules, play
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.drivers.choice import DriverChoice
    from pushbench.foundation.files import locked, write_atomically
    from pushbench.foundation.project import Project
    from pushbench.foundation.text import counted
    from pushbench.measuring.common import GaveWay, Interrupted, Options
    from pushbench.records import store

    project = Project.current()
    into, out = into or project.root / CORPUS, out or project.root / OUT
    thresholds = thresholds_of(project)
    request = _request(project, named or [], change or [], times, total_time)
    seconds = options.seconds("--max-time", max_time)
    # No verification: the code is the checkout's, which `pushbench verify` has checked.
    how, ended = Options(DriverChoice(driver), wait=wait, verify=False), True
    with locked(project.cache / "bias.lock", lambda: note("waiting for another campaign of this checkout")):
        try:
            with watching() as watch:
                compare = partial(
                    _compare, project=project, thresholds=thresholds, seconds=seconds, how=how, watch=watch
                )
                kept = of_newest_ways(of_schedules(_kept(into), _schedules(project)))
                left = play(request, kept, compare, lambda each: note(str(store.write_record(into, each))), note)
                missing = counted(left, "comparison") if left else "nothing"
                note(f"missing: {missing}" + ("; run the same command again to continue" if left else ""))
        except (KeyboardInterrupt, Interrupted, GaveWay):
            note("interrupted: finished comparisons are saved; run the same command again to continue")
            ended = False
        found = biases(_kept(into), thresholds)
        write_atomically(out.with_suffix(".json"), found.model_dump_json(indent=2, by_alias=True).encode() + b"\n")
        write_atomically(out.with_suffix(".md"), bias_table.markdown(found, thresholds).encode())
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        options.print_table(list(bias_table.HEADER), bias_table.table(found))
        print("", *bias_table.lines(found, thresholds), sep="\n")
    if not ended:
        raise typer.Exit(EXIT_INTERRUPTED)


def _request(project: Project, names: list[str], changes: list[str], times: int, total_time: str) -> BiasRequest:
    """Request each server with each change that applies to it, one change after another.

    Raises UserError for an unknown name, or if the project is not a git checkout.
    """
    from math import inf

    from pushbench.calibration.bias_campaign import BiasRequest, Wanted
    from pushbench.calibration.faults import APART, REBUILT
    from pushbench.calibration.meaningless import CHANGES
    from pushbench.calibration.self_comparisons import changed_texts
    from pushbench.catalog.servers import read_catalog, select
    from pushbench.foundation.trees import resolve
    from pushbench.foundation.yamlfile import unknown

    resolve(project.root, "HEAD")
    for each in changes:
        if each not in APART:
            raise unknown("change", each, APART)
    catalog = [server for server in read_catalog(project.servers) if server.spec.process and not server.described]
    servers = select(catalog, names) if names else catalog
    wanted = [
        Wanted(server.id, each)
        for each in changes or APART
        for server in servers
        if each == REBUILT or changed_texts(project.root, server.name, CHANGES[each])
    ]
    return BiasRequest(wanted, times, options.seconds("--total-time", total_time) if total_time else inf)


def _kept(folder: Path) -> list[Record]:
    from pushbench.records import store

    return [store.read_record(path) for path in sorted(folder.glob("*.json"))]


def _schedules(project: Project) -> dict[str, Schedule]:
    """The schedule of a comparison, by suite."""
    from pushbench.catalog.suites import read_suites

    suites = read_suites(project.scenarios)
    return {suite.id: suite.load(PROFILE, {}).schedule for suite in suites if PROFILE in suite.spec.profiles}


def _compare(
    wanted: Wanted, *, project: Project, thresholds: Thresholds, seconds: float, how: Options, watch: Follower
) -> Record:
    """Run one comparison, which ends when everything is decided."""
    import secrets

    from pushbench.calibration.faults import Fault
    from pushbench.calibration.self_comparisons import CalibrationRequest, calibrate
    from pushbench.comparing.campaign import Budget
    from pushbench.measuring.preparation import by_suite

    [suite] = by_suite(project, "", [wanted.server])
    fault, seed = Fault(wanted.change), secrets.randbelow(1 << 30)
    request = CalibrationRequest(suite, PROFILE, [wanted.server], fault, Budget(seconds), seed)
    return calibrate(project, request, how, thresholds, watch)
