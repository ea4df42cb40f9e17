"""A server's files in its repository, and its link in the catalog. The only module of this room that writes files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pushbench.authoring.describing import UNKNOWN_PLACE, web_address
from pushbench.authoring.guessing import READ
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.git import git
from pushbench.foundation.project import Project

State = Literal["written", "kept", "replaced"]
MOST_BYTES = 1 << 20
"""of a file that is only read"""


@dataclass(frozen=True)
class Settled:
    """The outcome for a file."""

    path: Path
    state: State


def repository_at(folder: Path) -> Path:
    """The root of the git repository that contains a folder. Raises UserError."""
    if not folder.is_dir():
        raise UserError("no such folder", where=str(folder))
    top = git(folder, "rev-parse", "--show-toplevel").text
    if not top or not git(folder, "rev-parse", "--verify", "--quiet", "HEAD").ok:
        raise UserError(
            "no git repository with a commit: there is nothing to compare", where=str(folder), hint="git init; git add"
        )
    return Path(top)


def read_files(repository: Path) -> tuple[list[str], dict[str, str]]:
    """The names of all its files, and the content of those that show how it is built."""
    names = git(repository, "ls-files", "-z").output.split("\0")
    texts = {}
    for name in READ:
        file = repository / name
        if name in names and file.is_file() and file.stat().st_size <= MOST_BYTES:
            texts[name] = file.read_text(encoding="utf-8", errors="replace")
    return names, texts


def page_of(repository: Path) -> str | None:
    return web_address(git(repository, "config", "--get", "remote.origin.url").text)


def place_of(project: Project) -> str:
    """This Pushbench as named in workflows, owner/repository@tag; a placeholder if it is not on GitHub."""
    page = web_address(git(project.root, "config", "--get", "remote.origin.url").text) or ""
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", page)
    tag = git(project.root, "describe", "--tags", "--abbrev=0").text or git(project.root, "rev-parse", "HEAD").text
    return f"{found[1]}@{tag}" if found and tag else UNKNOWN_PLACE


def settle(path: Path, text: str, *, force: bool) -> Settled:
    """Write a file; an existing one stays unchanged, unless `force` is set."""
    there = path.exists()
    if there and not force:
        return Settled(path, "kept")
    write_atomically(path, text.encode())
    return Settled(path, "replaced" if there else "written")


def link(project: Project, folder: Path) -> Settled:
    """Add the server to the catalog as a link that git ignores. Raises UserError for a name that is taken."""
    name = folder.name
    place = project.servers / name
    if place.exists() and place.resolve() == folder.resolve():
        return Settled(place, "kept")
    if place.exists():
        raise UserError(
            f"Pushbench already has another server {name}", where=str(place), hint="choose another with --name"
        )
    place.unlink(missing_ok=True)  # a link to a folder that no longer exists
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(folder.resolve())
    exclude(project.root, f"/servers/{name}")
    return Settled(place, "written")


def exclude(repository: Path, pattern: str) -> None:
    """Have git ignore a path, in this clone only."""
    file = git(repository, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude").text
    if not file:
        return
    text = Path(file).read_text() if Path(file).exists() else ""
    if pattern not in text.splitlines():
        write_atomically(
            Path(file), f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{pattern}\n".encode()
        )


def not_ignored(repository: Path, products: Sequence[str]) -> Iterator[str]:
    """Products of the build that git does not ignore."""
    for product in products:
        if (
            not git(repository, "check-ignore", "--quiet", f"{product}/x").ok
            and not git(repository, "check-ignore", "--quiet", product).ok
        ):
            yield product
