"""The source files of a folder, and their digest: builds with the same digest have the same sources."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from pushbench.catalog.servers import Server
from pushbench.foundation.git import git

BUILD_FOLDERS = {"node_modules", "target", "dist", ".venv", "__pycache__", ".cache", ".git"}
"""Excluded from the sources if git is unavailable: the folders that builds of the servers write to."""


def source_files(folder: Path) -> list[Path]:
    """The files that git tracks or would track, relative to `folder`, sorted."""
    files = _asked_of_git(folder)
    if files is None:
        everything = (path.relative_to(folder) for path in folder.rglob("*"))
        files = [path for path in everything if BUILD_FOLDERS.isdisjoint(path.parts)]
    return sorted(path for path in files if (folder / path).is_file())


def digest_files(folder: Path, files: Iterable[Path]) -> str:
    """SHA-256 over names, contents and executable bits."""
    total = hashlib.sha256()
    for path in files:
        file = folder / path
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{path.as_posix()}\0{content}\0{os.access(file, os.X_OK)}\n".encode())
    return total.hexdigest()


def source_digest(folder: Path) -> str:
    return digest_files(folder, source_files(folder))


def server_digest(server: Server) -> str:
    """The digest of a server's sources. Files that describe a server from outside are the same for all its commits, and
    are not included.
    """
    files = source_files(server.folder)
    if server.description:
        files = [path for path in files if not path.is_relative_to(server.description)]
    return digest_files(server.folder, files)


def _asked_of_git(folder: Path) -> list[Path] | None:
    listed = git(folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    return [Path(name) for name in listed.output.split("\0") if name] if listed.ok else None
