"""`pushbench ci images`: build the images of a plan, or bring them to the machine that measures."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import planned_by
from pushbench.cli.examples import examples
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.building.engine import Engine
    from pushbench.ci.plan import Plan

_EXAMPLES = examples(
    "./pushbench ci images --output push --cache registry",
    "./pushbench ci images --get --archives out/images",
)


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
        bool,
        typer.Option(
            "--get", help="Bring them here, from --archives or their registry; build what is to be built here."
        ),
    ] = False,
    archives: Annotated[
        Path | None, typer.Option("--archives", help="Of `--output archive`.", metavar="FOLDER")
    ] = None,
) -> None:
    """Build or fetch the images that the plan needs.

    Fetches them to the machine that measures, with those of services.

    The plan is the variable PLAN. PUSHBENCH_IMAGES is push, or load where the machine that measures builds them; what
    strangers wrote comes as archives, whatever it says. Images of the base that are nowhere are built when they are
    compared. Only builds of the default branch (GITHUB_REF) push the tags latest and cache; those of
    a pull request push pr-NUMBER, by which `pushbench ci clean-images` keeps them.
    """
    from pushbench.ci import imaging
    from pushbench.foundation.project import Project
    from pushbench.foundation.trees import check_out

    project, planned = Project.current(), planned_by()
    here = images_setting() == "load" and not planned.untrusted
    if get and planned.driver == "process":
        options.note("the process driver needs no images")
        return
    head = check_out(project, planned.sha) if planned.untrusted else project
    if not get or here:
        where = "load" if get else output
        if planned.untrusted and where == "push":
            raise UserError("what a stranger wrote is not pushed to the registry", hint="--output archive")
        alias = _alias(planned) if where == "push" else "latest"
        imaging.make(project, head, planned.images, options.note, output=where, cache=cache, alias=alias)
    if output == "archive" and not get:
        return
    engine = _engine()
    servers = imaging.servers_of(head, planned.images)
    if output == "push" and not get:
        imaging.copy_services(engine, servers, options.note)
        return
    imaging.require(imaging.get_services(engine, servers, options.note), imaging.SERVICE_HINT)
    if not get or here:
        return
    imaging.require(imaging.get(engine, head, planned.images, archives, options.note), imaging.IMAGE_HINT)
    if planned.base:
        absent = imaging.get(engine, check_out(project, planned.base), planned.images, None, options.note)
        for name, why in absent.items():
            options.note(f"the base's image of {name} will be built: {why}")


def images_setting() -> str:
    """PUSHBENCH_IMAGES: push or load. Raises UserError for another."""
    setting = os.environ.get("PUSHBENCH_IMAGES") or "push"
    if setting not in ("push", "load"):
        raise UserError(
            f"PUSHBENCH_IMAGES is {setting[:100]!r}", hint="push, or load to build on the machine that measures"
        )
    return setting


def on_default_branch() -> bool:
    """Whether this job runs for a commit of the default branch, by the event that GitHub handed to it."""
    file, ref = os.environ.get("GITHUB_EVENT_PATH"), os.environ.get("GITHUB_REF", "")
    try:
        event = json.loads(Path(file).read_bytes()) if file else {}
        default = event["repository"]["default_branch"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return isinstance(default, str) and ref == f"refs/heads/{default}"


def _alias(planned: Plan) -> str | None:
    """The second tag of images that are pushed."""
    if on_default_branch():
        return "latest"
    return f"pr-{planned.pull_request}" if planned.pull_request else None


def _engine() -> Engine:
    from pushbench.building.engine import Engine

    engine = Engine.find()
    if engine is None:
        raise UserError("no container engine answers", hint="start Docker, or set PUSHBENCH_DRIVER to process")
    return engine
