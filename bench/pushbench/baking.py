"""Images of another commit, built when a comparison needs them: nobody else would."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence

from pushbench.builds import Note
from pushbench.catalog import Server
from pushbench.docker_driver import DockerDriver
from pushbench.errors import UserError
from pushbench.files import tail, write_atomically
from pushbench.images import bake_definition, images_of


def bake_missing(driver: DockerDriver, servers: Sequence[Server], note: Note) -> None:
    """Build the images of the driver's checkout that the engine does not have. Raises UserError when that fails."""
    project = driver.project
    images = images_of([server for server in servers if driver.lacks_image(server)])
    if not images:
        return
    note(f"building the images of {', '.join(image.name for image in images)} (docker buildx bake)")
    began = time.monotonic()
    definition, log = project.cache / "bake.json", project.logs / "bake.log"
    write_atomically(definition, json.dumps(bake_definition(project.root, images)).encode())
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        command = ["docker", "buildx", "bake", "--progress", "plain", "--file", str(definition)]
        done = subprocess.run(
            command, cwd=project.root, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
        )
    if done.returncode != 0:
        last = next((line for line in reversed(tail(log).splitlines()) if line.strip()), "no output")
        raise UserError(f"the base's images do not build: {last}", where=str(log))
    note(f"images built in {time.monotonic() - began:.0f} s")
