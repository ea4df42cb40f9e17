"""The load addresses of code in a 64-bit ELF binary: perf identifies code by its file offset, and Go by its address."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LOADED, EXECUTABLE = 1, 1
"""PT_LOAD and PF_X from elf(5)"""
MOST_SEGMENTS = 100


@dataclass(frozen=True)
class Segment:
    """A segment of code: `size` bytes at `offset` of the file are loaded at `address`."""

    offset: int
    size: int
    address: int


def code_of(binary: Path) -> list[Segment]:
    """The code of a binary; empty unless it is a 64-bit little-endian ELF file."""
    try:
        with binary.open("rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
                return []
            table, size, count = *struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54)
            if size < 56 or count > MOST_SEGMENTS:
                return []
            file.seek(table)
            entries = file.read(size * count)
    except OSError:
        return []
    found = []
    for start in range(0, len(entries) - size + 1, size):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", entries, start)
        if kind == LOADED and flags & EXECUTABLE:
            found.append(Segment(offset, length, address))
    return found


def address_of(place: int, code: Sequence[Segment]) -> int:
    """The address of a file offset; `place` itself if it is outside of the code, as from an older perf."""
    for each in code:
        if each.offset <= place < each.offset + each.size:
            return place - each.offset + each.address
    return place
