"""The container images of servers and generator: their names, and the bake definition. Pure, except that it queries git
for a folder.

An image's tag is the digest of its sources, so an image either matches this checkout or is missing. Its labels and
times come from the last commit of its folder, so the same sources give the same image.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pushbench.building.sources import source_digest
from pushbench.catalog.servers import Server, here
from pushbench.catalog.systems import Part, read_system
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import git
from pushbench.foundation.project import Project

GENERATOR = "k6"
COPY = "copy its folder into servers/: a server that is linked from another repository runs as a process only"
LATEST, CACHE = "latest", "cache"
"""tags that builds share"""

Cache = Literal["none", "local", "registry"]
Output = Literal["load", "push", "archive"]


@dataclass(frozen=True)
class Image:
    """An image to build; several variants of a server may share one."""

    name: str
    context: Path
    dockerfile: str
    arguments: dict[str, str]
    title: str

    def reference(self, registry: str | None = None) -> str:
        facts = json.dumps([source_digest(self.context), self.dockerfile, self.arguments], sort_keys=True)
        return f"{registry_prefix(registry)}/{self.name}:{hashlib.sha256(facts.encode()).hexdigest()[:12]}"


def registry_prefix(given: str | None = None) -> str:
    """The prefix of all images: `given`, else PUSHBENCH_REGISTRY, such as ghcr.io/owner/pushbench, else a local one.

    It is in lower case: repository names on GitHub may have upper case, image names may not.
    https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
    """
    return (given or os.environ.get("PUSHBENCH_REGISTRY") or "pushbench").lower()


def is_remote(reference: str) -> bool:
    """Whether the name belongs to a registry: docker reads its first part as a host if it has a dot or a port."""
    host, slash, _ = reference.partition("/")
    return bool(slash) and ("." in host or ":" in host or host == "localhost")


def in_checkout(root: Path, folder: Path) -> bool:
    """Whether images can be built from a folder: it must be inside the checkout at `root`, after following links."""
    return folder.resolve().is_relative_to(root.resolve())


def image_of(server: Server) -> Image:
    """The image of a server that is not a system."""
    spec = server.spec
    return Image(server.image_name, server.folder, spec.image.dockerfile, spec.image.arguments, spec.title)


def generator_image(project: Project) -> Image:
    return Image(GENERATOR, project.generator, "Dockerfile", {}, "k6 with k6/x/push")


def images_of(servers: Sequence[Server]) -> list[Image]:
    """Each image once, in the order of the servers. Servers that run elsewhere have none.

    Raises UserError for a system whose compose file is wrong.
    """
    wanted = [image for server in here(servers) for image in built_for(server)]
    return list({image.name: image for image in reversed(wanted)}.values())[::-1]


def built_for(server: Server) -> list[Image]:
    """The images that are built for a server: one, or those of the parts of a system. Raises UserError."""
    if server.spec.compose is None:
        return [image_of(server)]
    parts = read_system(server).parts.values()
    return list({image.reference(): image for part in parts if (image := image_of_part(server, part))}.values())


def image_of_part(server: Server, part: Part) -> Image | None:
    """The image that is built for a part; None for an image that is used as it is.

    Parts with the same build share it. The name cannot clash with a server or a service.
    """
    if part.build is None:
        return None
    facts = json.dumps([part.build.context, part.build.dockerfile, part.build.args], sort_keys=True)
    name = f"{server.name}--part--{hashlib.sha256(facts.encode()).hexdigest()[:8]}"
    return Image(name, part.folder, part.build.dockerfile, part.build.args, f"{server.spec.title}: {part.name}")


def bake_definition(
    root: Path,
    images: Sequence[Image],
    *,
    registry: str | None = None,
    cache: Cache = "none",
    output: Output = "load",
    alias: str | None = LATEST,
) -> dict[str, Any]:
    """A bake file (JSON) for `docker buildx bake` in `root`: one target per image, all of them in the default group.

    `alias` is a second tag of each image. Only the build of the alias `latest` writes the cache in the registry, which
    all builds read. Raises UserError for sources outside of `root`.
    """
    for image in images:
        if not in_checkout(root, image.context):
            what = f"no image of {image.title} can be built: its sources are outside of this checkout"
            raise UserError(what, where=str(image.context), hint=COPY)
    registry = registry_prefix(registry)
    return {
        "group": {"default": {"targets": [image.name for image in images]}},
        "target": {image.name: _target(root, image, registry, cache, output, alias=alias) for image in images},
    }


def _target(
    root: Path, image: Image, registry: str, cache: Cache, output: Output, *, alias: str | None
) -> dict[str, Any]:
    sha, epoch = _last_commit(image.context)
    labels = {
        "org.opencontainers.image.title": image.title,
        "org.opencontainers.image.source": _home(root),
        "org.opencontainers.image.revision": sha,
    }
    target: dict[str, Any] = {
        "context": image.context.relative_to(root).as_posix(),
        "dockerfile": image.dockerfile,
        "tags": [image.reference(registry), *([f"{registry}/{image.name}:{alias}"] if alias else [])],
        "args": {**image.arguments, **({"SOURCE_DATE_EPOCH": epoch} if epoch else {})},
        "labels": {name: value for name, value in labels.items() if value},
        # An attestation contains the time of the build, so no two images would be identical.
        "attest": ["type=provenance,disabled=true", "type=sbom,disabled=true"],
        "output": [_output(image.name, output)],
    }
    match cache:
        case "local":
            folder = f".cache/pushbench/images/{image.name}"
            target |= {"cache-from": [f"type=local,src={folder}"], "cache-to": [f"type=local,dest={folder},mode=max"]}
        case "registry":
            place = f"{registry}/{image.name}:{CACHE}"
            target |= {"cache-from": [f"type=registry,ref={place}"]}
            if alias == LATEST:
                target |= {"cache-to": [f"type=registry,ref={place},mode=max,ignore-error=true"]}
    return target


def _output(name: str, output: Output) -> str:
    match output:
        case "load":
            return "type=docker,rewrite-timestamp=true"
        case "push":
            return "type=image,push=true,rewrite-timestamp=true"
        case "archive":
            return f"type=docker,dest=out/images/{name}.tar,rewrite-timestamp=true"


def _last_commit(folder: Path) -> tuple[str, str]:
    """Hash and time (seconds since 1970) of the last commit that changed `folder`; empty outside a git checkout."""
    said = git(folder, "log", "-1", "--format=%H %ct", "--", ".").text
    sha, _, epoch = said.partition(" ")
    return sha, epoch


def _home(root: Path) -> str:
    """The project's address, without credentials."""
    url = git(root, "config", "--get", "remote.origin.url").text
    if url.startswith("git@"):
        url = "https://" + url.removeprefix("git@").replace(":", "/", 1)
    scheme, found, rest = url.partition("://")
    if scheme != "https" or not found:
        return ""
    return f"https://{rest.rpartition('@')[2].removesuffix('.git')}"
