"""`pushbench calibrate faults`: which faults of a server `verify`, `run` and `compare` catch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.interrupting import EXIT_INTERRUPTED, watching
from pushbench.cli.options import JsonOption, WaitOption, note, print_json

if TYPE_CHECKING:
    from pushbench.calibration.catalogue import Catalogue
    from pushbench.calibration.sightings import FaultResults

FAULTS = examples(
    "./pushbench calibrate faults",
    "./pushbench calibrate faults --fault nagle --fault lost --max-time 3m",
    "./pushbench calibrate faults --way verify",
    "./pushbench calibrate faults --out docs/calibration-faults",
    "(the published table)",
)
DEFAULT_OUT = Path("out/faults")


def faults(
    *,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", help="Try only this fault; repeatable; `none` for no fault.", metavar="NAME"),
    ] = None,
    way: Annotated[
        list[str] | None,
        typer.Option("--way", help="Try only verify, run or compare; repeatable.", metavar="WAY"),
    ] = None,
    max_time: Annotated[str, typer.Option("--max-time", help="Maximum time per comparison.", metavar="TIME")] = "10m",
    again: Annotated[bool, typer.Option("--again", help="Repeat what already has a result.")] = False,
    wait: WaitOption = False,
    out: Annotated[
        Path, typer.Option("--out", help="Write NAME.json and NAME.md, and continue from them.", metavar="NAME")
    ] = DEFAULT_OUT,
    as_json: JsonOption = False,
) -> None:
    """Try the catalogue of faults, and print which are caught.

    Puts each fault into a copy of a server. Verifies and runs the copy, and compares it with the server without the
    fault. Each result is saved at once: run the same command again to continue, and to repeat what was disturbed.
    """
    from pushbench.calibration.catalogue import read_catalogue, select_ways
    from pushbench.calibration.fault_campaign import FaultRequest, Looking, play
    from pushbench.calibration.fault_table import markdown
    from pushbench.calibration.faulty_server import prepare
    from pushbench.calibration.sightings import read_results
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.files import locked, write_atomically
    from pushbench.foundation.git import describe
    from pushbench.foundation.project import Project
    from pushbench.measuring.common import Interrupted

    project = Project.current()
    most_seconds = options.seconds("--max-time", max_time)
    catalogue = read_catalogue(project)
    catalogue.select(fault or [])
    request = FaultRequest(
        faults=fault or (),
        ways=select_ways(way or []),
        most_seconds=most_seconds,
        again=again,
        wait=wait,
    )
    file, lock = out.with_suffix(".json"), project.cache / "faults.lock"
    read_results(file, catalogue.server)
    try:
        with watching() as watch, locked(lock, lambda: note("waiting for another campaign of faults")):
            faulty = prepare(project, catalogue, project.cache / "faults-checkout")
            looking = Looking(faulty, catalogue, thresholds_of(project), request, describe(project.root), watch)
            found = play(looking, file)
    except (KeyboardInterrupt, Interrupted):
        note("interrupted: the results so far are saved; run the same command again to continue")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    write_atomically(out.with_suffix(".md"), markdown(catalogue, found).encode())
    note(f"table {out.with_suffix('.md')}, results {file}")
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        _print(catalogue, found)


def _print(catalogue: Catalogue, found: FaultResults) -> None:
    """Print the table and the faults that were not caught, in the width of the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from pushbench.calibration.catalogue import WAYS
    from pushbench.calibration.fault_table import missed, rows, tally
    from pushbench.cli.conclusion import width

    console = Console(width=width(), highlight=False)
    table = Table("fault", *WAYS, box=None, pad_edge=False)
    known = rows(catalogue, found)
    for row in known:
        table.add_row(row.fault.name, *row.cells)
    console.print(table, "", Text(tally(known)), *(Text(f"- {each}") for each in missed(known)), sep="\n")
