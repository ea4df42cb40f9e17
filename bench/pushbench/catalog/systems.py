"""The parts of a system: the services of the compose file that a `server.yml` names, as the file itself declares them.

Reading it needs no engine. `building/composed` checks the whole file as the engine resolves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from pushbench.catalog.servers import NAME, Server
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.yamlfile import Location, YamlFile, read_yaml

MOST_PARTS = 16
LONGEST_NAME = 30
TOP_KEYS = ("name", "services", "volumes")
PART_KEYS = (
    *("build", "cap_drop", "command", "depends_on", "entrypoint", "environment", "expose", "healthcheck", "image"),
    *("init", "mem_limit", "read_only", "tmpfs", "user", "volumes", "working_dir"),
)
_POLICY = "remove it: the policy of trials decides, the same for every server"
_OWN_FILE = "copy its content into this file: Pushbench reads no others"
_CPUS = "remove it: all parts share the CPUs of the server"
_HINTS = {
    "ports": "remove it: clients reach the entry without a published port",
    "networks": "remove it: all parts share one network, in which each has its name",
    "network_mode": "remove it: all parts share one network without access to the outside",
    "container_name": "remove it: Pushbench names the containers; parts reach each other by the names of the services",
    "restart": "remove it: a part that ends is the result of the trial",
    "logging": "remove it: Pushbench keeps the end of every log",
    "deploy": "remove it: use mem_limit for memory, and several services for several instances",
    "scale": "remove it: write several services",
    "profiles": "remove it: every service of the file is a part",
    "configs": "copy the file into the image, in its Dockerfile",
    "secrets": "copy the file into the image, or write the value under environment",
    "env_file": "write the values under environment",
    "include": _OWN_FILE,
    "extends": _OWN_FILE,
    "label_file": _OWN_FILE,
    "cpuset": _CPUS,
    "cpus": _CPUS,
}


class PartBuild(Document):
    """How the image of a part is built."""

    context: str = Field(default=".", description="folder of the build context, relative to that of the server")
    dockerfile: str = "Dockerfile"
    args: dict[str, str] = {}


@dataclass(frozen=True)
class Part:
    """A service of the compose file."""

    name: str
    build: PartBuild | None
    folder: Path
    """the context of its build"""
    image: str
    """that is used unchanged, if nothing is built"""


@dataclass(frozen=True)
class System:
    """The compose file of a server, and its parts."""

    file: YamlFile
    parts: Mapping[str, Part]


def read_system(server: Server) -> System:
    """The system of a server that is one. Raises UserError for a key that systems do not support, and a wrong build."""
    if server.compose_file is None or server.spec.compose is None:
        raise RuntimeError(f"{server.id} is no system")
    root = server.folder.resolve()
    if not server.compose_file.resolve().is_relative_to(root):
        raise UserError(
            f"links to a file outside of {root.name}", where=str(server.compose_file), hint="put the file itself there"
        )
    file = read_yaml(server.compose_file)
    services = _checked(file)
    if server.spec.compose.entry not in services:
        what = f"no service {server.spec.compose.entry!r}, which {server.file.name} names as the entry"
        raise file.error(("services",), what, f"services: {', '.join(services)}")
    return System(file, {name: _part(file, name, root) for name in services})


def _checked(file: YamlFile) -> list[str]:
    """The names of the services. Raises UserError for a key that systems do not support."""
    top = _mapping(file, ())
    _require_known(file, (), top, TOP_KEYS)
    services = _mapping(file, ("services",))
    for name in services:
        if not re.fullmatch(NAME, name, re.ASCII) or len(name) > LONGEST_NAME:
            raise file.error(("services", name), f"expected a name of a-z, 0-9 and -, at most {LONGEST_NAME} long")
        _require_known(file, ("services", name), _mapping(file, ("services", name)), PART_KEYS)
    if not 1 <= len(services) <= MOST_PARTS:
        raise file.error(("services",), f"expected 1 to {MOST_PARTS} services, found {len(services)}")
    return list(services)


def _mapping(file: YamlFile, at: Location) -> dict[str, Any]:
    found = file.data
    for part in at:
        found = found.get(part)
    if not isinstance(found, dict):
        raise file.error(at, "expected a mapping of services" if at == ("services",) else "expected a mapping")
    return found


def _require_known(file: YamlFile, at: Location, found: Iterable[str], known: Iterable[str]) -> None:
    for key in found:
        if key not in known and not str(key).startswith("x-"):
            raise file.error((*at, key), "a system cannot have this", hint_for(str(key), known))


def hint_for(key: str, known: Iterable[str]) -> str:
    """What to do about a key that systems do not support."""
    guess = _HINTS.get(key)
    return guess or f"{_POLICY}. Known keys: {', '.join(known)}"


def _part(file: YamlFile, name: str, root: Path) -> Part:
    service, at = file.data["services"][name], ("services", name)
    built, image = service.get("build"), service.get("image")
    if (built is None) == (image is None):
        raise file.error(at, "expected either build or image")
    if built is None:
        if not isinstance(image, str) or not re.fullmatch(r"[a-z0-9][\w./:-]*(:[\w.-]+|@sha256:[0-9a-f]{64})", image):
            raise file.error((*at, "image"), "expected the name of an image with its tag, such as redis:8-alpine")
        return Part(name, None, root, image)
    build = _build(file, name, built)
    folder = (file.path.parent.resolve() / build.context).resolve()
    if not folder.is_relative_to(root):
        hint = "build from a folder of the server"
        raise file.error(_nearest(file, name, "context"), f"{build.context} is outside of {root.name}", hint)
    if not (folder / build.dockerfile).resolve().is_relative_to(folder):
        hint = "put the Dockerfile into the folder that is built"
        raise file.error(_nearest(file, name, "dockerfile"), f"{build.dockerfile} is outside of {folder.name}", hint)
    return Part(name, build, folder, "")


def _build(file: YamlFile, name: str, built: object) -> PartBuild:
    try:
        build = TypeAdapter(PartBuild).validate_python({"context": built} if isinstance(built, str) else built)
    except ValidationError as invalid:
        first = invalid.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        known = ", ".join(PartBuild.model_fields)
        raise file.error(_nearest(file, name, key), f"{first['msg']}", f"known keys: {known}") from None
    for key, value in (("context", build.context), ("dockerfile", build.dockerfile), *build.args.items()):
        if "$" in value or "://" in build.context:
            hint = "write the value out: the name of the image is derived from it"
            raise file.error(_nearest(file, name, key), f"a build that uses variables or URLs, {value!r}", hint)
    return build


def _nearest(file: YamlFile, name: str, key: str) -> Location:
    at = ("services", name, "build")
    return next((each for each in ((*at, key), (*at, "args", key)) if each in file.lines), at)
