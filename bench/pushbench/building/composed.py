"""The resolved model of a system: the engine's reading of its compose file, checked against what a system may have.

The engine gets what `catalog/systems` has read, so both read the same file. Everything that the model does not name is
refused, so nothing unforeseen in a file reaches a container.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from pushbench.building.engine import MODEL, Engine, EngineFailed
from pushbench.catalog.servers import Server
from pushbench.catalog.systems import System, read_system
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.yamlfile import Location

TMPFS = r"/[^:]+(:(size|mode|uid|gid)=\w+(,(size|mode|uid|gid)=\w+)*)?"
LEAST_BYTES = 16 << 20
_FIXED = ("build", "image", "networks")
"""known from `catalog/systems`, or not for the file to choose"""


class Dependency(Document):
    """The condition that a part waits for before it starts."""

    condition: Literal["service_started", "service_healthy"] = "service_started"
    required: Literal[True] = True


class Healthcheck(Document):
    """How the engine checks whether a part is healthy."""

    test: list[str] = []
    disable: bool = False
    interval: str | None = None
    timeout: str | None = None
    retries: int | None = None
    start_period: str | None = None
    start_interval: str | None = None


class Mount(Document):
    """A volume: a named one is shared by parts, an unnamed one belongs to one part."""

    type: Literal["volume"]
    target: str = Field(pattern="^/")
    source: str | None = None
    read_only: bool = False
    volume: dict[str, bool] = {}


class ResolvedPart(Document):
    """The settings that a part may choose for its container."""

    command: list[str] | None = None
    entrypoint: list[str] | None = None
    environment: dict[str, str | None] = {}
    user: str | None = None
    working_dir: str | None = None
    init: bool = False
    depends_on: dict[str, Dependency] = {}
    healthcheck: Healthcheck | None = None
    volumes: list[Mount] = []
    tmpfs: list[str] = []
    mem_limit: int | None = None
    expose: list[str] = []
    read_only: bool = False
    cap_drop: list[str] = []


class ResolvedVolume(Document):
    """A volume of the file: the engine creates it for the trial."""

    name: str


class Resolved(Document):
    """A system that may be started."""

    services: dict[str, ResolvedPart]
    volumes: dict[str, ResolvedVolume] = {}


def resolved(engine: Engine, server: Server, memory: int) -> tuple[System, Resolved]:
    """The system of a server, and its model; each part has its share of `memory`, in bytes.

    Raises UserError with the line of the first setting that systems must not have.
    """
    system = read_system(server)
    model = _asked(engine, system)
    for name, service in model["services"].items():
        _require_own_image(system, name, service)
        _require_one_network(system, name, service)
        for key in [key for key in service if key in _FIXED or key.startswith("x-")]:
            del service[key]
        _require_own_mounts(system, name, service)
    model = {"services": model["services"], "volumes": model.get("volumes", {})}
    _require_plain_volumes(system, model["volumes"])
    found = replace(system.file, data=model).validate(Resolved)
    for name, part in found.services.items():
        for place, each in enumerate(part.tmpfs):
            if not re.fullmatch(TMPFS, each, re.ASCII):
                hint = "only size, mode, uid and gid may follow the path"
                raise system.file.error(_at(system, name, "tmpfs", place), f"cannot be mounted: {each}", hint)
    return system, _with_memory(system, found, memory)


def _asked(engine: Engine, system: System) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        file = Path(folder) / "compose.json"
        file.write_text(json.dumps(system.file.data, default=str))
        try:
            found = engine.compose_model(file, system.file.path.parent.resolve())
        except EngineFailed as error:
            said = str(error).replace(f"{file}: ", "")
            raise UserError(
                said, where=str(system.file.path), hint="see docs.docker.com/reference/compose-file"
            ) from None
    if found.get("services", {}).keys() != system.parts.keys():
        raise UserError("services that depend on variables", where=str(system.file.path))
    return found


def _at(system: System, name: str, *within: str | int) -> Location:
    """The nearest place in the file, because a model has more entries than the file."""
    at: Location = ("services", name, *within)
    while at not in system.file.lines:
        at = at[:-1]
    return at


def _require_own_image(system: System, name: str, service: Mapping[str, Any]) -> None:
    """Require that the engine's answer has the image that was read before, so that both use the same images."""
    part = system.parts[name]
    build = service.get("build")
    if part.build is None or build is None:
        if build is not None or service.get("image") != part.image:
            raise system.file.error(_at(system, name, "image"), "an image that depends on variables")
        return
    said = (Path(build["context"]).resolve(), build.get("dockerfile", "Dockerfile"), build.get("args") or {})
    if said != (part.folder, part.build.dockerfile, part.build.args):
        raise system.file.error(_at(system, name, "build"), "a build that depends on variables")


def _require_one_network(system: System, name: str, service: Mapping[str, Any]) -> None:
    if service.get("networks", {"default": None}) != {"default": None}:
        raise system.file.error(_at(system, name, "networks"), "a network of its own", "leave networks out")


def _require_own_mounts(system: System, name: str, service: Mapping[str, Any]) -> None:
    for place, mount in enumerate(service.get("volumes") or []):
        if mount.get("type") != "volume":
            what = f"mounts {mount.get('source') or mount.get('type')} of this machine at {mount.get('target')}"
            hint = "copy files into the image, in its Dockerfile; data belongs in a named volume"
            raise system.file.error(_at(system, name, "volumes", place), what, hint)


def _require_plain_volumes(system: System, volumes: Mapping[str, Any]) -> None:
    for name, volume in volumes.items():
        own = volume.get("name") == f"{MODEL}_{name}"
        if excess := [key for key in volume if key != "name"] or ([] if own else ["name"]):
            at: Location = ("volumes", name, excess[0])
            at = at if at in system.file.lines else at[:-1]
            raise system.file.error(at, f"a volume with {excess[0]}", "leave it empty: each trial creates it")


def _with_memory(system: System, found: Resolved, memory: int) -> Resolved:
    """The same model with a memory limit for each part. Parts without a limit share what the others leave."""
    declared = {name: part.mem_limit for name, part in found.services.items() if part.mem_limit is not None}
    rest = memory - sum(declared.values())
    without = len(found.services) - len(declared)
    share = rest // without if without else 0
    least = min([*declared.values(), *([share] if without else [])])
    if rest < 0 or least < LEAST_BYTES:
        last = next((name for name in reversed(found.services) if name in declared), next(iter(found.services)))
        what = f"the parts share {memory >> 20} MiB, and each needs at least {LEAST_BYTES >> 20} MiB"
        raise system.file.error(_at(system, last, "mem_limit"), what, "declare less with mem_limit")
    parts = {
        name: part.model_copy(update={"mem_limit": declared.get(name, share)}) for name, part in found.services.items()
    }
    return found.model_copy(update={"services": parts})
