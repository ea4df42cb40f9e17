"""Where the code of a 64-bit ELF binary is loaded: perf names code by its place in the file, and Go by its address."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LOADED, EXECUTABLE = 1, 1
"""PT_LOAD and PF_X of elf(5)"""
MOST_SEGMENTS = 100


@dataclass(frozen=True)
class Segment:
    """A piece of code: `size` bytes at `offset` of the file are loaded at `address`."""

    offset: int
    size: int
    address: int


def code_of(binary: Path) -> list[Segment]:
    """The code of a binary; nothing for what is no 64-bit little-endian ELF file."""
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
    """The address of a place in the file; `place` itself where it is in no code, as by an older perf."""
    for each in code:
        if each.offset <= place < each.offset + each.size:
            return place - each.offset + each.address
    return place
