"""Moving images from the machine that builds to the one that measures: through a registry, or as archives if they are
untrusted.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pushbench.building.baking import archives, bake
from pushbench.building.builds import Note
from pushbench.building.engine import TRANSFER_SECONDS, Engine, EngineFailed
from pushbench.building.images import LATEST, Cache, Image, Output, images_of, is_remote
from pushbench.building.pulling import PullFailed, pull
from pushbench.catalog.servers import Server, read_catalog
from pushbench.ci.archive import rewrite
from pushbench.drivers import service_images
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project

IMAGE_HINT = (
    "the job images builds and pushes it: look there first, then run the job again; if the registry denies access "
    "to a package, let this repository read it (the package's settings, Manage Actions access)"
)
SERVICE_HINT = (
    "let the machine reach the project's registry, or the one where the image is published; `make lock-images` looks "
    "up a digest that is no longer there"
)


def servers_of(tree: Project, names: Sequence[str]) -> list[Server]:
    """The named servers that exist in this checkout."""
    return [server for server in read_catalog(tree.servers) if server.id in set(names)]


def make(
    project: Project,
    tree: Project,
    names: Sequence[str],
    note: Note,
    *,
    output: Output,
    cache: Cache,
    alias: str | None = LATEST,
) -> None:
    """Build the images of `tree`, which may be another commit; archives go below the `out` of `project`.

    `alias` is their second tag.
    """
    images = images_of(servers_of(tree, names))
    if not images:
        note("no images to build")
        return
    bake(tree, images, note, cache=cache, output=output, alias=alias)
    if output == "archive" and tree.root != project.root:
        target = archives(project.root)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(archives(tree.root), target)


def get(engine: Engine, tree: Project, names: Sequence[str], folder: Path | None, note: Note) -> dict[str, str]:
    """Bring the images of `tree` into the engine, from the archives in `folder` or else from their registry.

    Returns the reason for each image that was not found. Raises UserError for an archive of a wrong image.
    """
    missing = {}
    for image in images_of(servers_of(tree, names)):
        reference = image.reference()
        archive = folder / f"{image.name}.tar" if folder else None
        if archive and archive.is_file():
            load(engine, archive, image)
            note(f"{image.name}: loaded")
        elif engine.image(reference):
            note(f"{image.name}: already there")
        elif not is_remote(reference):
            missing[image.name] = f"{reference} is not in a registry; `pushbench ci images` builds it"
        else:
            try:
                pull(engine, reference, note)
                note(f"{image.name}: pulled")
            except PullFailed as error:
                missing[image.name] = f"{reference}: {error}"
    return missing


def get_services(engine: Engine, servers: Sequence[Server], note: Note) -> dict[str, str]:
    """Bring the images of the servers' services into the engine; return the reason for each that was not found."""
    return service_images.fetch(engine, service_images.service_images(service_images.needed_by(servers)), note)


def copy_services(engine: Engine, servers: Sequence[Server], note: Note) -> None:
    """Copy the images of the services that the servers declare into the project's own registry."""
    images = service_images.service_images(service_images.needed_by(servers))
    service_images.copy_to_registry(engine, images, note)


def require(missing: Mapping[str, str], hint: str) -> None:
    """Raises UserError, with each reason, if images are missing."""
    if missing:
        reasons = "; ".join(f"{name}: {why}" for name, why in missing.items())
        raise UserError(f"no image of {', '.join(missing)}: {reasons}", hint=hint)


def load(engine: Engine, archive: Path, image: Image) -> None:
    """Load an archive's image under its own name only, and check that the engine has nothing else new.

    Raises UserError for an archive of another image, and for one with additional content, which is then removed.
    """
    own = image.reference()
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        written = Path(folder) / archive.name
        rewrite(archive, written, own, [f"{own.rpartition(':')[0]}:{LATEST}"])
        before = _asked(engine)
        try:
            engine.run("load", "--quiet", "--input", str(written), seconds=TRANSFER_SECONDS)
        except EngineFailed as error:
            _restore(engine, before)
            raise UserError(f"docker load failed: {error}", where=str(archive)) from None
        after = _asked(engine)
    if wrong := _beside(own, before, after):
        _restore(engine, before)
        raise UserError(f"the archive contains {', '.join(wrong)[:200]}, not {own} alone", where=str(archive))


def _beside(own: str, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The changes by a load except for the name `own`. An image that loses that name stays, without one."""
    known = set(before.values())
    new = [name for name, identity in after.items() if before.get(name) != identity and name not in (own, *known)]
    gone = [name for name in before.keys() - after.keys() if name not in known]
    return [*new, *gone] or ([] if own in after else ["nothing of that name"])


def _asked(engine: Engine) -> dict[str, str]:
    try:
        return engine.tags()
    except EngineFailed as error:
        raise UserError(f"docker image ls failed: {error}") from None


def _restore(engine: Engine, before: Mapping[str, str]) -> None:
    """Remove new images, and give every name back to its former image."""
    for name, identity in _asked(engine).items():
        if before.get(name) != identity:
            with contextlib.suppress(EngineFailed):
                if name in before:
                    engine.run("image", "tag", before[name], name)
                else:
                    engine.run("image", "rm", "--force", name)
