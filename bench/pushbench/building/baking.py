"""Building images, with `docker buildx bake`."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from pushbench.building.builds import Note
from pushbench.building.engine import COMMAND_SECONDS
from pushbench.building.images import LATEST, Cache, Image, Output, bake_definition
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import tail, write_atomically
from pushbench.foundation.project import Project

BUILDER = "pushbench"


def bake(
    project: Project,
    images: Sequence[Image],
    note: Note,
    *,
    cache: Cache = "none",
    output: Output = "load",
    alias: str | None = LATEST,
) -> None:
    """Build `images` of a checkout. Raises UserError with the last line of the builder's output."""
    builder = own_builder(note) if needs_builder(cache, output) else []
    note(f"building the images of {', '.join(image.name for image in images)} (docker buildx bake)")
    began = time.monotonic()
    definition, log = project.cache / "bake.json", project.logs / "bake.log"
    content = bake_definition(project.root, images, cache=cache, output=output, alias=alias)
    write_atomically(definition, json.dumps(content).encode())
    if output == "archive":
        archives(project.root).mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as said:
        command = ["docker", "buildx", "bake", *builder, "--progress", "plain", "--file", str(definition)]
        done = subprocess.run(
            command, cwd=project.root, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False
        )
    if done.returncode != 0:
        last = next((line for line in reversed(tail(log).splitlines()) if line.strip()), "no output")
        raise UserError(f"the images do not build: {last}", where=str(log))
    note(f"images built in {time.monotonic() - began:.0f} s")


def needs_builder(cache: Cache, output: Output) -> bool:
    """Whether the build needs another BuildKit than the engine's own, which may support neither archives nor caches.

    https://github.com/docker/buildx/blob/master/driver/docker/driver.go (Features) and build/opt.go, which refuses
    """
    return output != "load" or cache != "none"


def own_builder(note: Note) -> list[str]:
    """The arguments of buildx that select a fully capable builder. Creates one if there is none.

    Raises UserError if it cannot be created.
    """
    if _driver_of() not in ("", "docker"):
        return []
    if _driver_of(BUILDER) == "":
        note(f"creating the builder {BUILDER} (docker buildx create)")
        made = _buildx("create", "--name", BUILDER, "--driver", "docker-container")
        if made.returncode != 0:
            said = next(iter(made.stderr.strip().splitlines()[-1:]), "no output")
            raise UserError(
                f"no builder can be created: {said}",
                where="docker buildx create",
                hint="archives and caches need a builder with another driver than docker; see `docker buildx ls`",
            )
    return ["--builder", BUILDER]


def _driver_of(*builder: str) -> str:
    """The driver of the builder with that name, or of the current one; empty if there is none."""
    lines = _buildx("inspect", *builder).stdout.splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("Driver:")), "")


def _buildx(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["docker", "buildx", *arguments]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
    )


def archives(root: Path) -> Path:
    """The folder for archives of a bake of the checkout at `root`."""
    return root / "out" / "images"
