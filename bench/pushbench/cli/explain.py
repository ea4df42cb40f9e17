"""`pushbench explain`: which functions of a server take more CPU than in the base of a comparison."""

from __future__ import annotations

from typing import Annotated

import typer

from pushbench.cli.completing import complete_servers
from pushbench.cli.examples import examples
from pushbench.cli.interrupting import EXIT_INTERRUPTED, watching
from pushbench.cli.options import (
    GeneratorsOption,
    JsonOption,
    OutOption,
    SourceAddressesOption,
    WaitOption,
    note,
    print_json,
)
from pushbench.foundation.errors import UserError

_EXAMPLES = examples(
    "./pushbench explain node-ws",
    "./pushbench explain 20261121T1015 node-ws --json",
)


def register(app: typer.Typer) -> None:
    app.command("explain", epilog=_EXAMPLES)(explain)


def explain(
    named: Annotated[
        list[str],
        typer.Argument(
            help="A record (an id, its first characters, a file, or `latest`, the default), and one of its servers.",
            metavar="[RECORD] SERVER",
            autocompletion=complete_servers,
        ),
    ],
    *,
    generators: GeneratorsOption = None,
    source_addresses: SourceAddressesOption = "auto",
    wait: WaitOption = False,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Name the functions that take more CPU than before.

    Plays one more pair of trials with a profiler on both arms, and writes a differential flame graph beside the record.

    Judges nothing. Exit code: 0, or 2 if the server cannot be profiled here.
    """
    from pushbench.cli.conclusion import color, width
    from pushbench.comparing import explaining
    from pushbench.drivers.choice import DriverChoice
    from pushbench.foundation.project import Project
    from pushbench.generator.needs import parse_addresses
    from pushbench.measuring.common import Options
    from pushbench.records.store import read_found
    from pushbench.reporting import report

    if len(named) > 2:
        raise UserError(f"expected [RECORD] SERVER, found {len(named)} names")
    project = Project.current(out)
    record = read_found(project.records, named[0] if len(named) == 2 else "latest")
    sources = parse_addresses(source_addresses)
    options = Options(DriverChoice("process"), generators=generators, sources=sources, wait=wait)
    try:
        with watching() as watch:
            found = explaining.explain(project, record, named[-1], options, watch)
    except KeyboardInterrupt:
        note("interrupted: nothing was written, and the record is unchanged")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        print(report.render_explanation(found, width=width(), color=color()), end="")
