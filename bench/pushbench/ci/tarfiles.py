"""The members of an untrusted plain tar archive, validated and read in bounded memory.

Python's `tarfile` reads as much as possible: sparse files, long names, extended headers, the next header after a broken
one. Two readers that differ in any of this see two different archives. This one accepts regular files and folders with
short plain names, and rejects everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pushbench.foundation.errors import UserError

BLOCK = 512
CHUNK = 1 << 20
MOST_MEMBERS = 1_000
"""an image has at most 127 layers, and the older form has three files for each"""
MOST_BYTES = 8 << 30
"""of the whole archive; images of servers have up to 1 GB"""
MOST_PADDING = 1 << 20
"""zeros after the end; GNU tar fills a record of 10 KiB"""
PLAIN = re.compile(rb"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*(?:[A-Za-z0-9_-][A-Za-z0-9._-]*)?/?", re.ASCII)
NUMBER = re.compile(rb"[0-7]{1,11}[\0 ]{1,7}|[0-7]{12}", re.ASCII)


@dataclass(frozen=True)
class Span:
    """The position of a member's content in the archive."""

    offset: int
    size: int


def members(file: BinaryIO) -> dict[str, Span]:
    """The regular files by name. Raises UserError for an archive that is not plain."""
    size = file.seek(0, 2)
    if size > MOST_BYTES:
        raise UserError(f"the archive has {size} bytes, more than {MOST_BYTES}")
    found: dict[str, Span] = {}
    named: set[str] = set()
    position = 0
    while True:
        file.seek(position)
        header = file.read(BLOCK)
        if len(header) < BLOCK:
            raise UserError("the archive ends before its end mark")
        if not any(header):
            _require_end(file, size - position)
            return found
        name, kind, length = _parsed(header)
        position += BLOCK
        if position + length > size:
            raise UserError(f"the archive ends inside {name!r}")
        if name.rstrip("/").casefold() in named:
            raise UserError(f"the archive has {name!r} twice")
        if len(named) == MOST_MEMBERS:
            raise UserError(f"the archive has more than {MOST_MEMBERS} members")
        named.add(name.rstrip("/").casefold())
        if kind == "file":
            found[name] = Span(position, length)
        position += -(-length // BLOCK) * BLOCK


def content(file: BinaryIO, span: Span) -> Iterator[bytes]:
    """The bytes of a member, in chunks."""
    file.seek(span.offset)
    left = span.size
    while left:
        chunk = file.read(min(CHUNK, left))
        if not chunk:
            raise UserError("the archive became shorter while it was read")
        left -= len(chunk)
        yield chunk


def _parsed(header: bytes) -> tuple[str, str, int]:
    """Name, kind and size. https://www.gnu.org/software/tar/manual/html_node/Standard.html"""
    seal = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
    if not NUMBER.fullmatch(header[148:156]) or seal != _number(header[148:156]):
        raise UserError("the archive has a header whose checksum is wrong: it is not a tar archive, or is compressed")
    kinds = {b"0": "file", b"\0": "file", b"5": "folder"}
    kind = kinds.get(header[156:157])
    raw, _, after = header[:100].partition(b"\0")
    shown = raw.decode("ascii", "backslashreplace")
    if kind is None:
        raise UserError(f"the archive has a member that is neither a file nor a folder: {shown!r}")
    if any(header[157:257]) or any(header[345:500]):
        raise UserError(f"the archive has a link or a long name: {shown!r}")
    if not raw or any(after) or not PLAIN.fullmatch(raw) or raw.endswith(b"/") != (kind == "folder"):
        raise UserError(f"the archive has a name that is not plain: {shown!r}")
    length = _number(header[124:136])
    if kind == "folder" and length:
        raise UserError(f"the archive has a folder with content: {shown!r}")
    return shown, kind, length


def _number(field: bytes) -> int:
    if not NUMBER.fullmatch(field):
        raise UserError("the archive has a header with an invalid number")
    return int(field.rstrip(b"\0 "), 8)


def _require_end(file: BinaryIO, left: int) -> None:
    """Only zeros may follow the end mark; otherwise another reader might see more."""
    file.seek(-left, 2)
    if left < 2 * BLOCK or left > MOST_PADDING or any(file.read(left)):
        raise UserError("the archive does not end after its end mark")
