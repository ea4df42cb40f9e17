"""The servers of a checkout: every `servers/*/server.yml`; there is no other list.

A folder may declare variants, which are further servers with the ids `folder/variant`.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from pushbench.catalog.addresses import checked_url
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.yamlfile import read_yaml, unknown

Tier = Literal["baseline", "scaled", "tuned"]
Outage = Literal["keeps-clients", "ends-connections"]
NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Name = Annotated[str, StringConstraints(pattern=NAME)]

ProtocolName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(\.yml)?$"),
    Field(description="a protocol of the suite, or a file in this folder that declares one, such as protocol.yml"),
]
DECLARED = ".yml"
HEALTHZ = "/healthz"
PORT_OPENS = "port"
"""replaces a path in `ready`"""
NO_PROCESS = "a system of containers runs with --driver docker only"


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError('expected a version specifier such as ">=20" or ">=3.11,<4"') from None
    return text


Specifier = Annotated[str, AfterValidator(_specifier)]
Argv = Annotated[list[str], Field(min_length=1)]
Address = Annotated[str, AfterValidator(checked_url)]


class Image(Document):
    """How the container image is built; the context is the server's folder."""

    dockerfile: str = "Dockerfile"
    arguments: dict[str, str] = Field(default={}, description="build arguments, such as another base image")
    user: int | None = Field(
        default=None,
        ge=1,
        lt=1 << 31,
        description="numeric id of the user that the image needs in a cluster; 12345 when left out",
    )


class Process(Document):
    """How the process driver builds and starts the server: argument lists run in its folder, never through a shell."""

    toolchains: dict[Name, Specifier] = Field(
        description="version specifier of each toolchain, by name, in the style of PEP 440"
    )
    build: list[Argv] = Field(default=[], description="commands of the build, in order")
    test: list[Argv] = Field(
        default=[], description="commands of the server's own tests; `build --test` runs them after a build"
    )
    start: Argv


class Composed(Document):
    """The compose file of a system, and which of its containers clients reach."""

    file: str = Field(
        default="compose.yml",
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*\.ya?ml$",
        description="name of the compose file, which is in the folder of the server.yml",
    )
    entry: Name = Field(description="service of the compose file that clients connect to")
    port: int = Field(ge=1, le=65535, description="port on which the entry listens in its container")


class ServerSpec(Document):
    """The description of one server and its needs: a `process`, a system to `compose`, or the `url` of a server that
    runs elsewhere."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [place]} for place in ("process", "compose", "url")]}
    )

    title: str = Field(description="title of the server in tables")
    link: str = Field(description="home page of the framework", pattern=r"^https?://")
    language: str
    suite: Name
    protocol: ProtocolName
    tier: Tier
    services: list[Name] = Field(default=[], description="backing services that the server needs, such as redis")
    supervises_workers: bool = Field(
        default=False,
        description="whether the server runs WORKERS processes, if WORKERS is more than 1, and replaces one that ended",
    )
    replicas: int = Field(
        default=1, ge=1, le=100, description="number of pods of the server in a cluster; other drivers start one server"
    )
    outage: Outage = Field(
        default="keeps-clients", description="what the outage of a service does to the server's clients"
    )
    env: dict[str, str] = Field(
        default={},
        description="environment variables in every driver, in addition to PORT, WORKERS and the URLs of services",
    )
    ready: str = Field(
        default=HEALTHZ,
        description="when clients can connect: a path that then answers with status 200 (/healthz also reports "
        "versions), or `port` if the port is then open",
        pattern=rf"^(/\S*|{PORT_OPENS})$",
    )
    image: Image = Image()
    process: Process | None = None
    compose: Composed | None = Field(
        default=None,
        description="compose file of a server with several containers, which the docker driver starts for each trial",
    )
    url: Address | None = Field(
        default=None, description="address of a server that runs elsewhere: nothing is built, started or metered"
    )
    ca: str | None = Field(
        default=None,
        description="PEM file with the only certificates to trust, in place of those of the system; only with `url`",
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(place is not None for place in (self.process, self.compose, self.url)) != 1:
            raise ValueError("expected either process, compose or url")
        if self.compose is not None and (self.services or self.env):
            key = "services" if self.services else "env"
            raise ValueError(f"{key}: a system has its own, in its compose file")
        if self.url is None and self.ca is not None:
            raise ValueError("ca: nothing to verify without a url")
        if self.url is not None and not self.protocol.endswith(DECLARED):
            raise ValueError("protocol: a server that runs elsewhere declares it in a file such as protocol.yml")
        if self.url is not None and self.services:
            raise ValueError("services: a server that runs elsewhere has its own")
        return self


class ProcessOverride(Document):
    """The parts of `process` that a variant replaces; `toolchains` are merged key by key."""

    toolchains: dict[Name, Specifier] | None = None
    build: list[Argv] | None = None
    test: list[Argv] | None = None
    start: Argv | None = None


class Variant(Document):
    """The parts of a server that a variant replaces; `env` is merged key by key."""

    title: str | None = None
    link: str | None = None
    language: str | None = None
    protocol: ProtocolName | None = None
    tier: Tier | None = None
    services: list[Name] | None = None
    replicas: int | None = Field(default=None, ge=1, le=100)
    outage: Outage | None = None
    env: dict[str, str] | None = None
    image: Image | None = None
    process: ProcessOverride | None = None
    compose: Composed | None = None
    url: Address | None = None
    ca: str | None = None


class ServerFile(ServerSpec):
    """A `server.yml`."""

    source: str | None = Field(
        default=None,
        description="folder with the sources, above this one in the same repository, such as ../..; commands run "
        "there. When left out, the sources are in this folder",
        pattern=r"^\.\.(/\.\.)*$",
    )
    variants: dict[Name, Variant] = Field(
        default={}, description="variants of the server, by name; their ids are folder/variant"
    )
    variants_only: bool = Field(
        default=False, description="whether only the variants are servers, and the folder without a variant is not"
    )


@dataclass(frozen=True)
class Server:
    """A server of the catalog; `id` is its folder's name, with `/variant` if it has variants."""

    id: str
    folder: Path
    """of its sources: it is built and started there"""
    image_name: str
    """the folder's name, unless the variant has an image of its own"""
    spec: ServerSpec
    described: Path | None = None
    """the folder of its server.yml, if that is not the folder of its sources"""
    description: Path | None = None
    """the same folder, relative to that of its sources"""
    declared: Path | None = None
    """the file of its protocol if the command line names it; `trusted` are certificates from the command line"""
    trusted: Path | None = None

    @property
    def process(self) -> Process:
        """How it is built and started here. Raises UserError if it runs elsewhere, or is a system."""
        if self.spec.process is None:
            raise is_a_system(self) if self.spec.compose else runs_elsewhere(self)
        return self.spec.process

    @property
    def authorities(self) -> Path | None:
        """The only certificates that are trusted; None for those of the system."""
        return self.trusted or (self._files / self.spec.ca if self.spec.ca else None)

    @property
    def file(self) -> Path:
        return self._files / "server.yml"

    @property
    def name(self) -> str:
        """The name of its folder in the catalog."""
        return self.id.partition("/")[0]

    @property
    def protocol_file(self) -> Path | None:
        """The file that declares its protocol; None for a protocol of its suite."""
        if self.declared:
            return self.declared
        return self._files / self.spec.protocol if self.spec.protocol.endswith(DECLARED) else None

    @property
    def compose_file(self) -> Path | None:
        """The compose file of a system."""
        return self._files / self.spec.compose.file if self.spec.compose else None

    @property
    def thresholds_file(self) -> Path:
        """The limits beside its server.yml, which take precedence over the checkout's. The file may be missing."""
        return self._files / "thresholds.yml"

    @property
    def _files(self) -> Path:
        return self.described or self.folder

    @property
    def slug(self) -> str:
        """The id in a form for the name of a file or a container."""
        return self.id.replace("/", "--")


def read_servers(folder: Path) -> list[Server]:
    """The servers that `folder/server.yml` describes: itself and its variants. Raises UserError."""
    if "." in folder.name:  # a server must not look like a file's name among changed paths (ci/plan.py)
        raise UserError(f"the server's folder {folder.name!r} has a dot in its name", hint="use - instead")
    described = read_yaml(folder / "server.yml").validate(ServerFile)
    base = described.model_dump(exclude={"variants", "variants_only", "source"}, by_alias=False)
    files = folder.resolve() if described.source else None
    sources = (files / described.source).resolve() if files and described.source else folder
    itself = Server(
        folder.name,
        sources,
        folder.name,
        ServerSpec.model_validate(base),
        files,
        files.relative_to(sources) if files else None,
    )
    variants = [
        replace(
            itself,
            id=f"{folder.name}/{name}",
            image_name=f"{folder.name}--{name}" if variant.image else folder.name,
            spec=ServerSpec.model_validate(_merge(base, variant.model_dump(exclude_unset=True))),
        )
        for name, variant in described.variants.items()
    ]
    return variants if described.variants_only else [itself, *variants]


def read_catalog(servers: Path) -> list[Server]:
    """All servers below `servers`, in the order of their folders' names."""
    folders = sorted(file.parent for file in servers.glob("*/server.yml"))
    return [server for folder in folders for server in read_servers(folder)]


def runs_elsewhere(server: Server) -> UserError:
    """The error of a command that needs a server that Pushbench starts."""
    return UserError(f"{server.id} runs elsewhere, at {server.spec.url}", hint="only `pushbench run` measures it")


def is_a_system(server: Server) -> UserError:
    """The error of a command that needs a server of processes."""
    return UserError(f"{server.id}: {NO_PROCESS}")


def here(catalog: Iterable[Server]) -> list[Server]:
    """The servers that Pushbench builds and starts. The others get load only if the user names them."""
    return [server for server in catalog if server.spec.url is None]


def select(catalog: Sequence[Server], names: Iterable[str]) -> list[Server]:
    """The named servers, in the order of the names. Raises UserError for a name without a server.

    A name may be a pattern, `node-*`, a tier, `tier:baseline`, or a folder that has only variants.
    """
    return list({server.id: server for name in names for server in _named(catalog, name)}.values())


def _named(catalog: Sequence[Server], name: str) -> list[Server]:
    if name.startswith("tier:"):
        tier = name.removeprefix("tier:")
        found = [server for server in catalog if server.spec.tier == tier]
        if not found:
            raise unknown("tier", tier, sorted({server.spec.tier for server in catalog}))
        return found
    found = [server for server in catalog if fnmatch.fnmatchcase(server.id, name)]
    found = found or [server for server in catalog if server.name == name]
    if not found:
        raise unknown("server", name, [server.id for server in catalog])
    return found


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
