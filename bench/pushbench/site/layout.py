"""The layout of the site's files, and how they are written.

A data file is a script that passes one JSON text to the page. This has two reasons. Pages also open from a disk, where
browsers let a page load scripts but not fetch files. A Content-Security-Policy that allows only the site's own scripts
still holds. The text is a string and not an object literal, so no part of it is ever code, `__proto__` included.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA = 3
"""of all data files together: the page reads this version and older ones"""

Data = dict[str, Any]
"""the content of one data file; docs/site.md describes the files"""

_UNSAFE = re.compile(rb"[^A-Za-z0-9_.-]|^\.")


@cache
def part(name: str) -> str:
    """A name as one part of a path and of a URL: unsafe bytes become ~ and two hexadecimal digits.

    The page's `part` (report-site/src/data/load.ts) does the same.
    """
    return _UNSAFE.sub(lambda found: b"~%02x" % found[0][0], name.encode()).decode()


def data_name(*names: str) -> str:
    """The name of a data file: its path below `data/`, without the suffix."""
    return "/".join(part(name) for name in names)


def script(name: str, data: Mapping[str, Any]) -> bytes:
    text = json.dumps({"schema": SCHEMA, **data}, separators=(",", ":"), allow_nan=False)
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"pushbenchData('{name}','{quoted}')\n".encode("ascii")


class Folder:
    """A site's folder. Files whose content does not change are not touched."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written: list[str] = []

    def has(self, path: str) -> bool:
        return (self.root / path).is_file()

    def names(self, path: str) -> set[str]:
        """The names in one of its folders."""
        try:
            return {file.name for file in (self.root / path).iterdir()}
        except FileNotFoundError:
            return set()

    def data(self, name: str, data: Mapping[str, Any]) -> None:
        self.write(f"data/{name}.js", script(name, data))

    def content(self, name: str) -> Data | None:
        """The content of a data file that was written here; None if it is missing or incomplete."""
        try:
            text = (self.root / f"data/{name}.js").read_text()
            quoted = text[text.index(",'") + 2 : text.rindex("'")]
            found: Data = json.loads(re.sub(r"\\([\\'])", r"\1", quoted))
        except (OSError, ValueError):
            return None
        return found

    def write(self, path: str, content: bytes) -> None:
        """Write the file completely or not at all, but without waiting for the disk, since it can be derived again. The
        old file is deleted first: file systems wait for the disk when a file is renamed onto another one.
        """
        file = self.root / path
        try:
            if file.read_bytes() == content:
                return
        except OSError:
            file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_name(f".{file.name}.{os.getpid()}")
        aside.write_bytes(content)
        file.unlink(missing_ok=True)
        aside.rename(file)
        self.written.append(path)

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with its content."""
        found = self.root / path
        if found.is_dir():
            shutil.rmtree(found)
        else:
            found.unlink(missing_ok=True)

    def bytes(self) -> int:
        """The size of everything that would be published."""
        return sum(_sizes(str(self.root), left_out=".git"))


def _sizes(folder: str, left_out: str = "") -> Iterator[int]:
    with os.scandir(folder) as found:
        for each in found:
            if not each.is_dir(follow_symlinks=False):
                yield each.stat(follow_symlinks=False).st_size
            elif each.name != left_out:
                yield from _sizes(each.path)
