"""The servers of a checkout: every `servers/*/server.yml`, found by looking, listed nowhere.

A folder that declares variants stands for its variants only; their ids are `folder/variant`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, Field, StringConstraints

from pushbench.errors import UserError
from pushbench.model import Document
from pushbench.yamlfile import read_yaml, unknown

Tier = Literal["baseline", "scaled", "tuned"]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError('expected a version specifier such as ">=20" or ">=3.11,<4"') from None
    return text


Specifier = Annotated[str, AfterValidator(_specifier)]
Argv = Annotated[list[str], Field(min_length=1)]


class Image(Document):
    """How the container image is built; the context is the server's folder."""

    dockerfile: str = "Dockerfile"


class Process(Document):
    """How the process driver builds and starts the server: argument lists run in its folder, never through a shell."""

    toolchains: dict[Name, Specifier] = Field(description="name: version specifier (PEP 440 style)")
    build: list[Argv] = Field(default=[], description="commands, in order")
    test: list[Argv] = Field(default=[], description="the server's own tests, run after a build by `build --test`")
    start: Argv
    env: dict[str, str] = Field(default={}, description="beside PORT, WORKERS and the services' URLs")


class ServerSpec(Document):
    """What one server is and needs."""

    title: str = Field(description="shown in tables")
    link: str = Field(description="the framework's home", pattern=r"^https?://")
    language: str
    suite: Name
    protocol: Name
    tier: Tier
    services: list[Name] = Field(default=[], description="backing services, such as redis")
    image: Image = Image()
    process: Process


class ProcessOverride(Document):
    """The parts of `process` that a variant has otherwise; `toolchains` and `env` are merged key by key."""

    toolchains: dict[Name, Specifier] | None = None
    build: list[Argv] | None = None
    test: list[Argv] | None = None
    start: Argv | None = None
    env: dict[str, str] | None = None


class Variant(Document):
    """The parts of a server that a variant has otherwise."""

    title: str | None = None
    link: str | None = None
    language: str | None = None
    protocol: Name | None = None
    tier: Tier | None = None
    services: list[Name] | None = None
    image: Image | None = None
    process: ProcessOverride | None = None


class ServerFile(ServerSpec):
    """A `server.yml`."""

    variants: dict[Name, Variant] = Field(default={}, description="forms of this server; ids are folder/variant")


@dataclass(frozen=True)
class Server:
    """A server of the catalog; `id` is its folder's name, with `/variant` where it has variants."""

    id: str
    folder: Path
    spec: ServerSpec

    @property
    def file(self) -> Path:
        return self.folder / "server.yml"


def read_servers(folder: Path) -> list[Server]:
    """The servers that `folder/server.yml` describes: one, or one for each variant."""
    described = read_yaml(folder / "server.yml").validate(ServerFile)
    base = described.model_dump(exclude={"variants"}, by_alias=False)
    if not described.variants:
        return [Server(folder.name, folder, ServerSpec.model_validate(base))]
    return [
        Server(
            f"{folder.name}/{name}",
            folder,
            ServerSpec.model_validate(_merge(base, variant.model_dump(exclude_unset=True))),
        )
        for name, variant in described.variants.items()
    ]


def read_catalog(servers: Path) -> list[Server]:
    """All servers below `servers`, in the order of their folders' names."""
    folders = sorted(file.parent for file in servers.glob("*/server.yml"))
    return [server for folder in folders for server in read_servers(folder)]


def select(catalog: Sequence[Server], names: Iterable[str]) -> list[Server]:
    """The named servers, in the order of the names; the name of a folder stands for all its variants."""
    known = {server.id: [server] for server in catalog}
    for server in catalog:
        if server.folder.name != server.id:
            known.setdefault(server.folder.name, []).append(server)
    chosen: dict[str, Server] = {}
    for name in names:
        if name not in known:
            raise unknown("server", name, [server.id for server in catalog])
        chosen |= {server.id: server for server in known[name]}
    return list(chosen.values())


def of_suite(catalog: Sequence[Server], suite: str) -> list[Server]:
    """The servers that can be measured by `suite`; raises UserError when there are none."""
    found = [server for server in catalog if server.spec.suite == suite]
    if not found:
        raise UserError(f"no server has the suite {suite!r}", hint="see `pushbench servers`")
    return found


def _merge(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in override.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged
