"""The type of the file system of a folder."""

from __future__ import annotations

from pathlib import Path

IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
"""File systems without a disk: flushing a file waits for nothing."""
MOUNTS = Path("/proc/self/mountinfo")


def kind(folder: Path, mounts: str | None = None) -> str:
    """The type of the file system below a folder, such as ext4; `mounts` is text in the form of mountinfo(5)."""
    resolved, best, found = folder.resolve(), -1, "unknown"
    for line in (MOUNTS.read_text() if mounts is None else mounts).splitlines():
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split(" ")[4]))
        # A later mount at the same place hides an earlier one.
        if resolved.is_relative_to(point) and len(point.parts) >= best:
            best, found = len(point.parts), after.split(" ")[0]
    return found


def _unescaped(text: str) -> str:
    """The path with its octal escapes resolved: blanks, tabs, line breaks and backslashes."""
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(octal, character)
    return text
