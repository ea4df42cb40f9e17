"""`pushbench calibrate`: how often the judge is right, in comparisons with a known answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.calibrate_bias import BIAS, CORPUS, bias
from pushbench.cli.calibrate_faults import FAULTS, faults
from pushbench.cli.examples import examples
from pushbench.cli.interrupting import measure
from pushbench.cli.options import (
    DriverOption,
    InTurnsOption,
    JsonOption,
    NamesArgument,
    OutOption,
    ServersOption,
    SkipVerifyOption,
    SuiteOption,
    WaitOption,
)
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.catalog.suites import Suite
    from pushbench.records.record import Record
    from pushbench.watching.progress import Follower

_MEASURE = examples(
    "./pushbench calibrate measure node-ws",
    "(compares the server with itself)",
    "./pushbench calibrate measure node-ws --fault rebuilt",
    "(with the same code, built separately)",
    "./pushbench calibrate measure node-ws --fault burn=10%",
    "(the head takes a tenth more CPU)",
    "./pushbench calibrate measure --rounds 30 --all-rounds",
    "(collects rounds to resample)",
)
_REPORT = examples(
    "./pushbench calibrate report docs/calibration --runs 5000",
    "./pushbench calibrate report bench/tests/data/real docs/calibration",
)
_ADD = examples(
    "./pushbench calibrate measure go --fault rebuilt",
    "./pushbench calibrate add out/records/20261123T2*.json",
    "(these comparisons count from now on)",
)


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Measure the judge: false alarms and power.", no_args_is_help=True)
    group.command("measure", epilog=_MEASURE)(measure_judge)
    group.command("faults", epilog=FAULTS)(faults)
    group.command("bias", epilog=BIAS)(bias)
    group.command("report", epilog=_REPORT)(report)
    group.command("add", epilog=_ADD)(add)
    app.add_typer(group, name="calibrate")


def measure_judge(
    named: NamesArgument = None,
    *,
    servers: ServersOption = "",
    fault: Annotated[
        str,
        typer.Option(
            "--fault",
            help="The fault in the head: none, rebuilt (none, but built separately), comment, unused, layout or "
            "environment (meaningless changes), burn=10%, leak=1MB/s, delay=2ms or loss=0.5%.",
            metavar="FAULT",
        ),
    ] = "none",
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=1, metavar="N", help="Stop after at most N rounds.")
    ] = None,
    all_rounds: Annotated[
        bool, typer.Option("--all-rounds", help="Play all rounds, even if everything is decided earlier.")
    ] = False,
    max_time: Annotated[str, typer.Option("--max-time", help="Stop after this time.", metavar="TIME")] = "10m",
    in_turns: InTurnsOption = False,
    suite: SuiteOption = "",
    profile: Annotated[str, typer.Option("--profile", metavar="PROFILE")] = "compare",
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            metavar="N",
            help="Seed for the order of servers and the clients' phases.",
            show_default="random",
        ),
    ] = None,
    driver: DriverOption = "process",
    wait: WaitOption = False,
    skip_verify: SkipVerifyOption = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare servers with themselves, with or without a fault.

    Works like `pushbench compare`, with the same exit codes. A wrapper around the server injects the fault; both arms
    run in a wrapper.
    """
    import secrets

    from pushbench.calibration import self_comparisons
    from pushbench.calibration.faults import parse_fault
    from pushbench.cli.conclusion import conclude, exit_with, thresholds_of
    from pushbench.cli.suites_of import each_suite
    from pushbench.comparing.campaign import Budget
    from pushbench.drivers.choice import DriverChoice
    from pushbench.foundation.project import Project
    from pushbench.measuring.common import Options

    project = Project.current(out)
    thresholds = thresholds_of(project)

    def suite_of(found: Suite, ids: list[str]) -> tuple[str, list[str]]:
        return found.id, ids

    [(of, ids)] = each_suite(project, suite, options.chosen(named, servers), suite_of, alone=True)
    wanted = self_comparisons.CalibrationRequest(
        suite=of,
        profile=profile,
        servers=ids,
        fault=parse_fault(fault),
        budget=Budget(
            options.seconds("--max-time", max_time), rounds, until_decided=not all_rounds, together=not in_turns
        ),
        seed=secrets.randbelow(1 << 30) if seed is None else seed,
    )
    how = Options(DriverChoice(driver), wait=wait, verify=not skip_verify)

    def play(watch: Follower) -> Record:
        return self_comparisons.calibrate(project, wanted, how, thresholds, watch)

    record = measure(play, go_on=lambda path: f"./pushbench judge {path}")
    exit_with([conclude(project, record, thresholds, as_json=as_json)], as_json=as_json)


def report(
    records: Annotated[
        list[Path], typer.Argument(help="Records that `calibrate measure` made, or folders of them.", metavar="FILE")
    ],
    *,
    runs: Annotated[int, typer.Option("--runs", min=1, metavar="N", help="Resampled comparisons of each kind.")] = 2000,
    simulated: Annotated[
        int, typer.Option("--simulated", min=0, metavar="N", help="Simulated comparisons and histories of each kind.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the resampling.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write NAME.json and NAME.md.", metavar="NAME", show_default="stdout, Markdown"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count false alarms and detected faults.

    Also judges thousands of comparisons that are simulated, or resampled from comparisons with all their rounds.
    """
    from pushbench.calibration import error_rates
    from pushbench.calibration.report import markdown
    from pushbench.calibration.simulated import simulate
    from pushbench.calibration.simulated_history import simulate_histories
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.files import write_atomically
    from pushbench.foundation.project import Project
    from pushbench.records import store

    read = [store.read_record(path) for path in _files(records)]
    thresholds = thresholds_of(Project.current())
    found = error_rates.calibrate(read, thresholds, runs=runs, scaled=(1.02, 1.05, 1.10, 1.20), seed=seed)
    if simulated:
        by_history = simulate_histories(simulated, seed)
        found = found.model_copy(update={"simulated": simulate(simulated, seed), "histories": by_history})
    text = markdown(found)
    if out:
        write_atomically(out.with_suffix(".json"), found.model_dump_json(indent=2).encode() + b"\n")
        write_atomically(out.with_suffix(".md"), text.encode())
    elif as_json:
        options.print_json(found.model_dump(mode="json", by_alias=True))
    else:
        print(text, end="")


def _files(given: list[Path]) -> list[Path]:
    """Return the given files and those in the given folders. Raises UserError for a folder without records."""
    found: list[Path] = []
    for path in given:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise UserError("the folder has no record", where=str(path))
        found += files
    return found


def add(
    records: Annotated[
        list[Path], typer.Argument(help="Records that `calibrate measure` made, or folders of them.", metavar="FILE")
    ],
    *,
    into: Annotated[Path, typer.Option("--into", help="Where the copies go.", metavar="FOLDER")] = CORPUS,
) -> None:
    """Add comparisons with a known answer to those that count.

    Writes small copies of the records for `report`, without histograms and timelines. Then prints, for all records in
    the folder, how many comparisons of a server with itself called a row worse, and the possible share of false alarms.
    """
    from pushbench.calibration import error_rates
    from pushbench.calibration.report import bound
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.project import Project
    from pushbench.records import store

    small = [error_rates.compact(error_rates.known(store.read_record(path), path)) for path in _files(records)]
    thresholds = thresholds_of(Project.current())
    for record in small:
        options.note(str(store.write_record(into, record)))
    corpus = [store.read_record(path) for path in _files([into])]
    print(bound(error_rates.real_cases(corpus, thresholds)))
