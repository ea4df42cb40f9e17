"""The images of services: named in `compose/bench.yml`, pinned by digest in `compose/images.lock.json`.

Images are fetched before a run, never during one. They are fetched by digest, from the project's own registry or the
publisher's, and get the name that the compose file uses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.building.engine import TRANSFER_SECONDS, Engine, EngineFailed
from pushbench.building.images import is_remote, registry_prefix
from pushbench.building.pulling import WAITS, Note, PullFailed, pull
from pushbench.catalog.servers import Server
from pushbench.drivers.services import KNOWN
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.yamlfile import read_yaml

DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
REFERENCE = re.compile(r"[a-z0-9][a-z0-9./:_-]*:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
COMMAND = "`make images` fetches it"
POLICY = Path(__file__).parents[3] / "compose" / "bench.yml"
"""the policy of this harness, whichever checkout is measured"""
LOCK = POLICY.with_name("images.lock.json")


@dataclass(frozen=True)
class ServiceImage:
    """The image of a service."""

    service: str
    reference: str
    """as in the compose file: redis:8-alpine"""
    digest: str | None
    """of all its platforms; None before the first lookup"""

    @property
    def source(self) -> str:
        """The publisher's reference, by digest if there is one."""
        return self._at(self.reference.rpartition(":")[0]) if self.digest else self.reference

    def mirror_name(self) -> str:
        """Its name in the project's own registry; it cannot clash with a server, whose name has no dot."""
        return f"{registry_prefix()}/service.{self.service}:{self.reference.rpartition(':')[2]}"

    def mirror(self) -> str:
        """The reference in the project's own registry, by digest if there is one."""
        name = self.mirror_name()
        return self._at(name.rpartition(":")[0]) if self.digest else name

    def _at(self, name: str) -> str:
        return f"{name}@{self.digest}"


def service_images(names: Iterable[str] = tuple(KNOWN), lock: Path = LOCK) -> list[ServiceImage]:
    """The images of the services `names`, from the policy and its lock. Raises UserError."""
    locked = _read_lock(lock)
    declared = read_yaml(POLICY).data["services"]
    images = []
    for name in names:
        reference = declared.get(name, {}).get("image", "")
        if not REFERENCE.fullmatch(reference):
            raise UserError(f"the service {name} has no image with a tag", where=str(POLICY))
        images.append(ServiceImage(name, reference, locked.get(reference)))
    return images


def needed_by(servers: Sequence[Server]) -> list[str]:
    """The services that the servers declare, each once, in the order of KNOWN."""
    wanted = {name for server in servers for name in server.spec.services}
    return [name for name in KNOWN if name in wanted]


def fetch(engine: Engine, images: Sequence[ServiceImage], note: Note) -> dict[str, str]:
    """Fetch the images into the engine, under the names of the compose file, and print the id of each.

    An image that no registry delivers is used if it is on this machine. Returns the errors of images found nowhere.
    """
    absent = {}
    for image in images:
        how, problems = _fetched(engine, image, note)
        identity = engine.image(image.reference)
        if identity is None:
            absent[image.service] = "; ".join(problems)
            continue
        for problem in problems if how == "there" else ():
            note(f"{image.service}: {problem}")
        pinned = "" if how != "there" or _has_digest(engine, image) else ", not checked against the digest of the lock"
        note(f"{image.service}: {how}, {image.reference} is {identity[:19]}{pinned}")
    return absent


def write_lock(engine: Engine, images: Sequence[ServiceImage], path: Path, note: Note) -> None:
    """Write the registries' current digests. Raises UserError if a registry does not answer."""
    found = {}
    for image in images:
        form = "{{.Manifest.Digest}}"
        try:
            said = engine.run("buildx", "imagetools", "inspect", "--format", form, image.reference).strip()
        except EngineFailed as error:
            raise UserError(f"the digest of {image.reference} cannot be looked up: {error}") from None
        if not DIGEST.fullmatch(said):
            raise UserError(f"the digest of {image.reference} cannot be looked up: docker says {said[:100]!r}")
        found[image.reference] = said
        note(f"{image.reference}: {said}")
    write_atomically(path, (json.dumps(found, indent=2, sort_keys=True) + "\n").encode())


def copy_to_registry(engine: Engine, images: Sequence[ServiceImage], note: Note) -> None:
    """Copy the images into the project's own registry, where measuring machines fetch them without the rate limits of
    other registries. A failed copy is only reported: the machine then uses the publisher's registry.
    """
    for image in images:
        try:
            if image.digest and _is_in_registry(engine, image.mirror()):
                note(f"{image.service}: in the registry already")
                continue
            # A single source is copied unchanged, with all its platforms, so its digest stays the same:
            # https://github.com/docker/buildx/blob/master/util/imagetools/create.go
            how = ("--prefer-index=false", "--tag", image.mirror_name(), image.source)
            engine.run("buildx", "imagetools", "create", *how, seconds=TRANSFER_SECONDS)
            note(f"{image.service}: copied to {image.mirror_name()}")
        except EngineFailed as error:
            note(f"{image.service}: not copied to {image.mirror_name()}: {error}")


def _fetched(engine: Engine, image: ServiceImage, note: Note) -> tuple[str, list[str]]:
    """The registry that delivered the image, and the errors of earlier attempts."""
    if _has_digest(engine, image):
        return "there", []
    places = [image.mirror(), image.source] if is_remote(image.mirror()) else [image.source]
    problems = []
    waits = () if engine.image(image.reference) else WAITS  # no need to wait: the local image can be used
    for place in places:
        try:
            pull(engine, place, note, waits=waits)
            engine.run("image", "tag", place, image.reference)
        except (PullFailed, EngineFailed) as error:
            problems.append(f"{place}: {error}")
        else:
            return f"pulled from {place.partition('@')[0]}", problems
    return "there", problems


def _has_digest(engine: Engine, image: ServiceImage) -> bool:
    """Whether the engine's image of that name was pulled by the digest in the lock."""
    if image.digest is None:
        return False
    try:
        said = engine.run("image", "inspect", "--format", '{{join .RepoDigests " "}}', image.reference)
    except EngineFailed:
        return False
    return any(each.endswith(f"@{image.digest}") for each in said.split())


def _is_in_registry(engine: Engine, reference: str) -> bool:
    try:
        engine.run("buildx", "imagetools", "inspect", reference)
    except EngineFailed:
        return False
    return True


def _read_lock(path: Path) -> dict[str, str]:
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"the lock of images cannot be read: {error}", where=str(path)) from None
    if not isinstance(content, dict) or not all(
        isinstance(each, str) and DIGEST.fullmatch(each) for each in content.values()
    ):
        raise UserError("expected names of images with their digests", where=str(path), hint="`make lock-images`")
    return content
