"""`pushbench ci images`: build the images of a plan, or bring them to the machine that measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import planned_by
from pushbench.errors import UserError

_EXAMPLES = "Examples: `pushbench ci images --output push --cache registry`; `pushbench ci images --get out/images`."


def register(group: typer.Typer) -> None:
    group.command("images", epilog=_EXAMPLES)(images)


def images(
    *,
    output: Annotated[
        Literal["load", "push", "archive"],
        typer.Option("--output", help="Into the engine, to the registry, or below out/images.", metavar="WHERE"),
    ] = "load",
    cache: Annotated[
        Literal["none", "local", "registry"],
        typer.Option("--cache", help="Where layers are kept.", metavar="none|local|registry"),
    ] = "none",
    get: Annotated[
        bool, typer.Option("--get", help="Do not build: bring them here, from --archives or their registry.")
    ] = False,
    archives: Annotated[
        Path | None, typer.Option("--archives", help="Of `--output archive`.", metavar="FOLDER")
    ] = None,
) -> None:
    """Build the images that the plan needs, or bring them to the machine that measures.

    The plan is the variable PLAN. Images of the base that are nowhere are built when they are compared.
    """
    from pushbench.ci import imaging
    from pushbench.engine import Engine
    from pushbench.project import Project
    from pushbench.trees import check_out

    project, planned = Project.current(), planned_by()
    head = check_out(project, planned.sha) if planned.untrusted else project
    if not get:
        if planned.untrusted and output == "push":
            raise UserError("what a stranger wrote is not pushed to the registry", hint="--output archive")
        imaging.make(project, head, planned.images, options.note, output=output, cache=cache)
        return
    engine = Engine.find()
    if engine is None:
        raise UserError("no container engine answers", hint="start Docker, or set PUSHBENCH_DRIVER to process")
    missing = imaging.get(engine, head, planned.images, archives, options.note)
    if missing:
        raise UserError(f"no image of {', '.join(missing)}: neither an archive nor in the registry")
    if planned.base:
        absent = imaging.get(engine, check_out(project, planned.base), planned.images, None, options.note)
        if absent:
            options.note(f"the base's images of {', '.join(absent)} will be built")
