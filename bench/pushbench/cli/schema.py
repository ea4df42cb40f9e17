"""`pushbench schema`: the committed JSON Schemas, written or compared with the models."""

from __future__ import annotations

from typing import Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import note
from pushbench.foundation.errors import UserError

_EXAMPLES = examples(
    "./pushbench schema",
    "./pushbench schema --write",
)


def register(app: typer.Typer) -> None:
    app.command("schema", epilog=_EXAMPLES)(schema)


def schema(
    *,
    write: Annotated[
        bool, typer.Option("--write/--check", help="Write the schemas, or exit with 2 if they are outdated.")
    ] = False,
) -> None:
    """Write the JSON schemas in docs/schemas, or check them."""
    from pushbench.cli.schemas import outdated, write_schemas
    from pushbench.foundation.project import Project

    project = Project.current()
    if write:
        write_schemas(project.schemas)
    elif files := outdated(project.schemas):
        names = ", ".join(project.relative(file) for file in files)
        raise UserError(f"outdated: {names}", hint="run `make schemas`")
    else:
        note("the schemas match the models")
