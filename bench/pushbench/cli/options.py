"""Options that several commands share, and how to read them. Keep it light: every command imports it for --help."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pushbench.cli.completing import complete_profiles, complete_servers, complete_suites
from pushbench.foundation.errors import UserError

SuiteOption = Annotated[
    str,
    typer.Option(
        "--suite",
        help="Only servers of this suite; `./pushbench suites` lists all suites.",
        metavar="SUITE",
        show_default="those of the servers",
        autocompletion=complete_suites,
    ),
]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        help="The size of the suite; `./pushbench suites` lists the profiles.",
        metavar="PROFILE",
        autocompletion=complete_profiles,
    ),
]
ServersOption = Annotated[
    str,
    typer.Option(
        "--servers",
        help="The same as SERVER, as one comma-separated list.",
        metavar="A,B",
        autocompletion=complete_servers,
    ),
]
NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Ids, patterns ('node-*') or tiers (tier:tuned); by default all.",
        metavar="SERVER",
        show_default=False,
        autocompletion=complete_servers,
    ),
]
DriverOption = Annotated[
    Literal["auto", "process", "docker", "kubernetes"],
    typer.Option(
        "--driver",
        help="process, docker, kubernetes, or auto: docker if an engine answers and has every image, else process.",
        metavar="DRIVER",
    ),
]
ContextOption = Annotated[
    str | None,
    typer.Option(
        "--context",
        help="The kubectl context for the kubernetes driver, or its digest from a record.",
        metavar="CONTEXT",
        show_default="the current one",
    ),
]
NamespacePrefixOption = Annotated[
    str | None,
    typer.Option(
        "--namespace-prefix",
        help="Prefix of the namespace of each trial.",
        metavar="PREFIX",
        show_default="pushbench",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, metavar="N", help="Workers of each server, instead of one per CPU; starts another series."
    ),
]
AuthoritiesOption = Annotated[
    str,
    typer.Option(
        "--ca",
        help="A PEM file with the only certificates to trust over TLS.",
        metavar="FILE",
        show_default="those of the system",
    ),
]
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait for another run on this machine to end.")]
RoundsOption = Annotated[int, typer.Option("--rounds", min=1, metavar="N", help="Trials per server.")]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="Seed for the order of servers and the clients' phases.")
]
ParameterOption = Annotated[
    list[str], typer.Option("--parameter", help="A parameter of the suite; repeatable.", metavar="NAME=VALUE")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Folder for records and reports.", metavar="FOLDER", show_default="out")
]
PortOption = Annotated[
    int | None,
    typer.Option(
        "--port", min=1, max=65535, metavar="PORT", help="Port of the servers; by default a free one for each."
    ),
]
GeneratorsOption = Annotated[
    int | None,
    typer.Option(
        "--generators",
        min=1,
        metavar="N",
        help="k6 processes that share the clients; more than one starts another series.",
        show_default="as many as `ulimit -n` requires",
    ),
]
SourceAddressesOption = Annotated[
    str,
    typer.Option(
        "--source-addresses",
        help="Addresses that clients connect from, such as 10.0.0.5,10.0.0.6; one is enough for about 12,000 clients. "
        "auto: as many of 127.0.0.0/8 as needed.",
        metavar="LIST",
    ),
]
SkipVerifyOption = Annotated[
    bool, typer.Option("--skip-verify", help="Measure without verifying first; every trial is marked as unverified.")
]
InTurnsOption = Annotated[
    bool,
    typer.Option("--in-turns", help="Measure one arm after the other, not both at once: several times the noise."),
]
LiveOption = Annotated[
    str | None,
    typer.Option(
        "--live",
        help="Stream metrics to a VictoriaMetrics for dashboards; without a URL, to that of `make stack`.",
        metavar="URL",
    ),
]
RecordArgument = Annotated[
    str, typer.Argument(help="An id, its first characters, a file, or `latest`.", metavar="RECORD")
]
AnyRecordArgument = Annotated[
    str, typer.Argument(help="An id, its first characters, a file, `latest` or `capacity`.", metavar="RECORD")
]
"""a record of a run or of a search for capacities; `documents` finds it"""

DEFAULT_PROFILE = "quick"
PIPE = 1000
"""columns in a pipe, so that programs get whole lines"""


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def chosen(named: list[str] | None, listed: str) -> list[str]:
    """Return the servers named as arguments and by `--servers`."""
    return [*(named or []), *names(listed)]


def parameters(given: list[str]) -> dict[str, str]:
    """Return `["board_size=100"]` as a mapping. Raises UserError for a text that is not NAME=VALUE."""
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise UserError(f"--parameter: expected NAME=VALUE, found {each!r}")
        pairs[name] = value
    return pairs


def seconds(option: str, text: str) -> float:
    """Return the seconds of a duration such as `90s` or `10m`. Raises UserError."""
    from pushbench.metrics.definitions import Unit
    from pushbench.metrics.units import parse_quantity

    try:
        found = parse_quantity(text, Unit.SECONDS)
    except UserError as error:
        raise UserError(f"{option}: {error.what}") from None
    if found <= 0:
        raise UserError(f"{option}: expected more than 0, found {text!r}")
    return found


def note(text: str) -> None:
    """Print a text on stderr, where it does not mix with results."""
    print(text, file=sys.stderr, flush=True)


def print_json(data: Any) -> None:
    print(json.dumps(data, indent=2))


def room() -> int:
    """Return the columns of the output: those of the terminal or of COLUMNS, and enough for any line in a pipe."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size((80, 24)).columns
    return PIPE


def print_wrapped(text: str, name: str = "") -> None:
    """Print a line after its name, wrapped if the terminal is too narrow."""
    lines = textwrap.wrap(
        text, room(), initial_indent=name, subsequent_indent=" " * (len(name) or 2), break_on_hyphens=False
    )
    print("\n".join(lines or [name.rstrip()]))


def print_table(header: list[str], rows: list[list[str]]) -> None:
    """Print columns in plain text, for people and for programs such as `awk`."""
    print("\n".join(table_lines(header, rows)))


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    """Columns in plain text, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
