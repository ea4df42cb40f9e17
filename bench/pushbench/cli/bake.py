"""`pushbench bake`: the definition of all images, for `docker buildx bake`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples

_EXAMPLES = examples(
    "make images",
    "./pushbench bake > bake.json && docker buildx bake -f bake.json",
    "./pushbench bake node-ws k6 --registry ghcr.io/me/pushbench --output push",
)


def register(app: typer.Typer) -> None:
    app.command("bake", epilog=_EXAMPLES)(bake)


def bake(
    names: Annotated[
        list[str] | None, typer.Argument(help="Servers, or k6; by default all images.", metavar="NAME")
    ] = None,
    *,
    registry: Annotated[
        str | None,
        typer.Option(
            "--registry",
            help="Prefix of all image names.",
            envvar="PUSHBENCH_REGISTRY",
            metavar="PREFIX",
            show_default="pushbench",
        ),
    ] = None,
    cache: Annotated[
        Literal["none", "local", "registry"],
        typer.Option(
            "--cache", help="Where to keep layers, besides the builder's own cache.", metavar="none|local|registry"
        ),
    ] = "none",
    output: Annotated[
        Literal["load", "push", "archive"],
        typer.Option(
            "--output",
            help="Load into the engine, push to the registry, or write archives for `docker load` to out/images.",
            metavar="load|push|archive",
        ),
    ] = "load",
) -> None:
    """Print a bake file for the images of the servers and k6.

    The file is JSON, made from every server.yml.
    """
    from pushbench.building.images import GENERATOR, bake_definition, generator_image, images_of, in_checkout
    from pushbench.catalog.servers import read_catalog, select
    from pushbench.foundation.project import Project

    project = Project.current()
    catalog = read_catalog(project.servers)
    linked = [server for server in catalog if not in_checkout(project.root, server.folder)]
    for server in () if names else linked:
        options.note(f"{server.id}: left out: its sources are outside of this checkout")
    asked = [name for name in names or () if name != GENERATOR]
    servers = select(catalog, asked) if names else [server for server in catalog if server not in linked]
    images = images_of(servers)
    if not names or GENERATOR in names:
        images.append(generator_image(project))
    options.print_json(bake_definition(project.root, images, registry=registry, cache=cache, output=output))
