"""The code of a binary is found where it is loaded."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from pushbench.profiling.elf import Segment, address_of, code_of


def elf(*segments: tuple[int, int, int, int, int]) -> bytes:
    """A binary with only headers: kind, flags, offset, address and size of each segment."""
    head = b"\x7fELF\x02\x01" + bytes(26) + struct.pack("<Q", 64) + bytes(14) + struct.pack("<HH", 56, len(segments))
    entries = b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size, size, 0x1000)
        for kind, flags, offset, address, size in segments
    )
    return head.ljust(64, b"\0") + entries


def test_only_code_is_found(tmp_path: Path) -> None:
    path = tmp_path / "server"
    path.write_bytes(elf((6, 4, 0, 0, 9), (1, 5, 0x1000, 0x401000, 0x500), (1, 4, 0x2000, 0x402000, 0x100)))
    assert code_of(path) == [Segment(0x1000, 0x500, 0x401000)]


def test_a_place_in_the_code_has_an_address_and_another_place_is_one() -> None:
    code = [Segment(0x1000, 0x500, 0x401000)]
    assert (address_of(0x1010, code), address_of(0x401010, code)) == (0x401010, 0x401010)


@pytest.mark.parametrize("content", [b"", b"\x7fELF\x01\x01" + bytes(58), elf() + b"x", b"#!/bin/sh\n" * 20])
def test_what_is_no_such_binary_has_no_code(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "server"
    path.write_bytes(content)
    assert code_of(path) == []
    assert code_of(tmp_path / "none") == []
