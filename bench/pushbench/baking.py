"""Building images, with `docker buildx bake`."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from pushbench.builds import Note
from pushbench.catalog import Server
from pushbench.docker_driver import DockerDriver
from pushbench.errors import UserError
from pushbench.files import tail, write_atomically
from pushbench.images import Cache, Image, Output, bake_definition, images_of
from pushbench.project import Project


def bake_missing(driver: DockerDriver, servers: Sequence[Server], note: Note) -> None:
    """Build the images of the driver's checkout that the engine does not have: those of another commit, which nobody
    else would. Raises UserError when that fails."""
    images = images_of([server for server in servers if driver.lacks_image(server)])
    if images:
        bake(driver.project, images, note)


def bake(
    project: Project, images: Sequence[Image], note: Note, *, cache: Cache = "none", output: Output = "load"
) -> None:
    """Build `images` of a checkout. Raises UserError with the last line that the builder said."""
    note(f"building the images of {', '.join(image.name for image in images)} (docker buildx bake)")
    began = time.monotonic()
    definition, log = project.cache / "bake.json", project.logs / "bake.log"
    content = bake_definition(project.root, images, cache=cache, output=output)
    write_atomically(definition, json.dumps(content).encode())
    if output == "archive":
        archives(project.root).mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as said:
        command = ["docker", "buildx", "bake", "--progress", "plain", "--file", str(definition)]
        done = subprocess.run(
            command, cwd=project.root, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False
        )
    if done.returncode != 0:
        last = next((line for line in reversed(tail(log).splitlines()) if line.strip()), "no output")
        raise UserError(f"the images do not build: {last}", where=str(log))
    note(f"images built in {time.monotonic() - began:.0f} s")


def archives(root: Path) -> Path:
    """Where a bake of the checkout at `root` puts archives."""
    return root / "out" / "images"
