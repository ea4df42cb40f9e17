"""`pushbench servers`: what can be measured here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption, print_json, print_wrapped, room, table_lines

if TYPE_CHECKING:
    from pushbench.building.toolchains import Missing
    from pushbench.catalog.servers import Server

_EXAMPLES = examples(
    "./pushbench servers",
    "./pushbench servers --json",
)
KEYS = ["title", "language", "suite", "protocol", "tier"]
DISPENSABLE = ["title", "protocol", "language", "tier", "suite"]
"""columns to leave out in a narrow terminal, in this order"""


def register(app: typer.Typer) -> None:
    app.command("servers", epilog=_EXAMPLES)(servers)


def servers(*, as_json: JsonOption = False) -> None:
    """List the servers, and which of them this machine can run."""
    from pushbench.building import toolchains
    from pushbench.catalog.servers import read_catalog
    from pushbench.drivers import services
    from pushbench.foundation.project import Project

    catalog = read_catalog(Project.current().servers)
    chosen = [toolchains.choose(server.process.toolchains if server.spec.process else {}) for server in catalog]
    versions = [each.versions if isinstance(each, toolchains.Toolset) else {} for each in chosen]
    missing = [
        [
            *([] if isinstance(each, toolchains.Toolset) else each),
            *services.missing([name for name in server.spec.services if name in services.KNOWN]),
        ]
        for server, each in zip(catalog, chosen, strict=True)
    ]
    if as_json:
        print_json(
            [
                {**_facts(server), "toolchains": found, "missing": [str(one) for one in lacking]}
                for server, found, lacking in zip(catalog, versions, missing, strict=True)
            ]
        )
        return
    rows = [
        {**_facts(server), "toolchains": server.spec.url or _toolchains(found, lacking)}
        for server, found, lacking in zip(catalog, versions, missing, strict=True)
    ]
    print("\n".join(_fitted(rows, room())))
    for sentence in dict.fromkeys(str(each) for lacking in missing for each in lacking):
        print()
        print_wrapped(sentence)


def _facts(server: Server) -> dict[str, str]:
    return {"id": server.id, **{key: getattr(server.spec, key) for key in KEYS}}


def _toolchains(found: dict[str, str], missing: list[Missing]) -> str:
    """Return the toolchains, or what is missing; the reason is printed below the table."""
    if missing:
        return f"needs {', '.join(each.name for each in missing)}"
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _fitted(rows: list[dict[str, str]], width: int) -> list[str]:
    """Return the table with as many columns as fit."""
    columns = ["id", *KEYS, "toolchains"]
    for dispensable in [*DISPENSABLE, ""]:
        lines = table_lines(columns, [[row[column] for column in columns] for row in rows])
        if max(map(len, lines)) <= width:
            break
        columns = [column for column in columns if column != dispensable]
    return lines
