"""Names of files in profiles: relative to the server's folder, without what differs between two machines. Pure."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

LIBRARIES = ("node_modules", "site-packages", "dist-packages", "mod", "registry", "rustc")
"""folders in which the path of a library begins: those of npm, pip, Go's module cache, and cargo's sources"""
BUILT = {"node_modules", ".venv", "target"}
"""folders of a server with third-party or generated files"""
SHOWN_PARTS = 2
"""of a path outside of these folders"""


def place(path: str, folder: Path) -> tuple[str, bool]:
    """The file for display, and whether it is the server's own source."""
    if path.startswith("file:"):
        path = unquote(urlsplit(path).path)
    if not path.startswith("/"):
        return path, bool(path) and not path.startswith(("node:", "internal:", "<", "evalmachine")) and _is_own(path)
    found = PurePosixPath(path)
    for root in dict.fromkeys((folder, folder.resolve())):
        if found.is_relative_to(root):
            inner = str(found.relative_to(root))
            return (inner, True) if _is_own(inner) else (_of_library(found), False)
    return _of_library(found), False


def _is_own(relative: str) -> bool:
    return BUILT.isdisjoint(PurePosixPath(relative).parts)


def _of_library(path: PurePosixPath) -> str:
    """`ws/lib/sender.js` for a path with that ending, below the last folder of libraries."""
    parts = path.parts
    last = max((place for place, part in enumerate(parts[:-1]) if part in LIBRARIES), default=None)
    return unversioned("/".join(parts[-SHOWN_PARTS:] if last is None else parts[last + 1 :]))


def unversioned(path: str) -> str:
    """The path without the version of a Go module, so that an update does not rename every function."""
    return re.sub(r"@v[^/]*", "", path)
