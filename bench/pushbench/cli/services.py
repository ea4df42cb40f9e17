"""`pushbench services`: fetch the images of services, such as Redis."""

from __future__ import annotations

from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.foundation.errors import UserError

_EXAMPLES = examples(
    "./pushbench services",
    "./pushbench services --lock",
)


def register(app: typer.Typer) -> None:
    app.command("services", epilog=_EXAMPLES)(services)


def services(
    *,
    lock: Annotated[
        bool, typer.Option("--lock", help="Do not fetch; write the digests that the registries have now.")
    ] = False,
) -> None:
    """Fetch the images of the services that servers need.

    The docker driver uses them. compose/bench.yml names them, compose/images.lock.json has their digests. Nothing is
    pulled during a run.
    """
    from pushbench.building.engine import Engine
    from pushbench.drivers import service_images

    engine = Engine.find()
    if engine is None:
        raise UserError("no container engine answers", hint="start Docker")
    images = service_images.service_images()
    if lock:
        service_images.write_lock(engine, images, service_images.LOCK, options.note)
        return
    missing = service_images.fetch(engine, images, options.note)
    if missing:
        reasons = "; ".join(missing.values())
        raise UserError(
            f"no image of the service {', '.join(missing)}: {reasons}",
            hint="`make lock-images` looks up its digest again",
        )
