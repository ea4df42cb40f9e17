"""Images from where they are built to where they are measured: by a registry, or as archives where a stranger wrote
what is in them."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

from pushbench.baking import archives, bake
from pushbench.builds import Note
from pushbench.catalog import Server, read_catalog
from pushbench.engine import Engine, EngineFailed
from pushbench.errors import UserError
from pushbench.images import Cache, Image, Output, images_of
from pushbench.project import Project

LARGEST_MANIFEST = 1 << 20


def servers_of(tree: Project, names: Sequence[str]) -> list[Server]:
    """Those of the names that this checkout has."""
    return [server for server in read_catalog(tree.servers) if server.id in set(names)]


def make(project: Project, tree: Project, names: Sequence[str], note: Note, *, output: Output, cache: Cache) -> None:
    """Build the images of `tree`, another commit perhaps; archives go below the `out` of `project`."""
    images = images_of(servers_of(tree, names))
    if not images:
        note("no images to build")
        return
    bake(tree, images, note, cache=cache, output=output)
    if output == "archive" and tree.root != project.root:
        target = archives(project.root)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(archives(tree.root), target)


def get(engine: Engine, tree: Project, names: Sequence[str], folder: Path | None, note: Note) -> list[str]:
    """Bring the images of `tree` into the engine: from the archives in `folder`, else from their registry.

    Returns the names of those that are nowhere. Raises UserError for an archive that is not of the image it should be.
    """
    missing = []
    for image in images_of(servers_of(tree, names)):
        reference = image.reference()
        archive = folder / f"{image.name}.tar" if folder else None
        if archive and archive.is_file():
            check_archive(archive, image)
            _engine(engine, "load", "--quiet", "--input", str(archive))
            note(f"{image.name}: loaded")
        elif engine.image(reference):
            note(f"{image.name}: there")
        elif "/" in reference.rpartition("/")[0] and _pulled(engine, reference):
            note(f"{image.name}: pulled")
        else:
            missing.append(image.name)
    return missing


def check_archive(path: Path, image: Image) -> None:
    """Raises UserError for an archive that would give its image another name than ours: it could replace any image."""
    own = image.reference()
    allowed = {own, f"{own.rpartition(':')[0]}:latest"}
    try:
        with tarfile.open(path) as archive:
            member = archive.getmember("manifest.json")
            file = archive.extractfile(member)
            content = file.read(LARGEST_MANIFEST) if file else b""
        named = [tag for each in json.loads(content) for tag in each["RepoTags"] or ()]
    except (tarfile.TarError, KeyError, ValueError, TypeError, OSError, RecursionError) as error:
        raise UserError(f"no archive of an image: {type(error).__name__}: {error}", where=str(path)) from None
    if own not in named or not allowed.issuperset(named):
        raise UserError(f"the archive names its image {', '.join(map(str, named))[:200]}, not {own}", where=str(path))


def _pulled(engine: Engine, reference: str) -> bool:
    try:
        engine.run("pull", "--quiet", reference)
    except EngineFailed:
        return False
    return True


def _engine(engine: Engine, *arguments: str) -> None:
    try:
        engine.run(*arguments)
    except EngineFailed as error:
        raise UserError(f"docker {arguments[0]} failed: {error}") from None
