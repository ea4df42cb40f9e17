"""MessagePack for JSON, as in declarations: https://github.com/msgpack/msgpack/blob/master/spec.md. Pure.

`k6/internal/msgpack` does the same for the load; its `testdata/values.json` has the cases of both.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

DEEPEST = 100
MOST_WHOLE = 1e18
"""the largest float that is converted to an integer"""
_UNSIGNED = ((0xCC, 1, 0xFF), (0xCD, 2, 0xFFFF), (0xCE, 4, 0xFFFF_FFFF), (0xCF, 8, 2**64 - 1))
_SIGNED = ((0xD0, 1, 2**7), (0xD1, 2, 2**15), (0xD2, 4, 2**31), (0xD3, 8, 2**63))


def packed(text: str) -> bytes:
    """JSON text as MessagePack. Raises ValueError if it is not JSON, or has numbers out of range."""
    return _pack(json.loads(text))


def unpacked(data: bytes) -> str:
    """One MessagePack value as JSON text. Raises ValueError for other data.

    Binary parts, extensions and numbers that are not finite become null; numbers as keys become strings.
    """
    reader = _Reader(data)
    value = reader.value(0)
    if reader.left:
        raise ValueError("more than one value")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _pack(value: Any) -> bytes:
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return _integer(value)
        case float():
            return b"\xcb" + struct.pack(">d", value)
        case str():
            text = value.encode()
            return _head(len(text), (0xA0, 32), (0xD9, 0xDA, 0xDB)) + text
        case list():
            return _head(len(value), (0x90, 16), (None, 0xDC, 0xDD)) + b"".join(map(_pack, value))
    members = b"".join(_pack(each) for pair in value.items() for each in pair)
    return _head(len(value), (0x80, 16), (None, 0xDE, 0xDF)) + members


def _head(length: int, short: tuple[int, int], codes: tuple[int | None, int, int]) -> bytes:
    """The header of that many bytes, items or members."""
    if length < short[1]:
        return bytes([short[0] | length])
    for code, size in zip(codes, (1, 2, 4), strict=True):
        if code is not None and length < 256**size:
            return bytes([code]) + length.to_bytes(size, "big")
    raise ValueError("too long")


def _integer(value: int) -> bytes:
    if -32 <= value < 128:
        return value.to_bytes(1, "big", signed=True)
    if value >= 0:
        for code, size, most in _UNSIGNED:
            if value <= most:
                return bytes([code]) + value.to_bytes(size, "big")
    for code, size, least in _SIGNED:
        if -least <= value < 0:
            return bytes([code]) + value.to_bytes(size, "big", signed=True)
    return b"\xcb" + struct.pack(">d", float(value))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def value(self, depth: int) -> Any:
        code = self._number(1)
        if depth > DEEPEST:
            raise ValueError("too deep")
        if code < 0x80:
            return code
        if code < 0x90:
            return self._members(code & 0xF, depth)
        if code < 0xA0:
            return self._items(code & 0xF, depth)
        if code < 0xC0:
            return self._text(code & 0x1F)
        return code - 0x100 if code >= 0xE0 else self._long(code, depth)

    def _long(self, code: int, depth: int) -> Any:
        constants = {0xC0: None, 0xC2: False, 0xC3: True}
        if code in constants:
            return constants[code]
        readers: dict[range, Callable[[int], Any]] = {
            range(0xC4, 0xC7): lambda place: self._skip(self._number(1 << place)),
            range(0xC7, 0xCA): lambda place: self._skip(self._number(1 << place) + 1),
            range(0xCA, 0xCC): lambda place: self._float(4 << place),
            range(0xCC, 0xD0): lambda place: self._number(1 << place),
            range(0xD0, 0xD4): lambda place: self._number(1 << place, signed=True),
            range(0xD4, 0xD9): lambda place: self._skip(1 + (1 << place)),
            range(0xD9, 0xDC): lambda place: self._text(self._number(1 << place)),
            range(0xDC, 0xDE): lambda place: self._items(self._number(2 << place), depth),
            range(0xDE, 0xE0): lambda place: self._members(self._number(2 << place), depth),
        }
        for codes, read in readers.items():
            if code in codes:
                return read(code - codes.start)
        raise ValueError("a byte that no value begins with")

    def _take(self, length: int) -> bytes:
        if length > self.left:
            raise ValueError("a value that does not end")
        self._at += length
        return self._data[self._at - length : self._at]

    def _number(self, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self._take(size), "big", signed=signed)

    def _float(self, size: int) -> float | int | None:
        [value] = struct.unpack(">f" if size == 4 else ">d", self._take(size))
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < MOST_WHOLE else float(value)

    def _skip(self, length: int) -> None:
        self._take(length)

    def _text(self, length: int) -> str:
        return self._take(length).decode()

    def _items(self, count: int, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(count)]

    def _members(self, count: int, depth: int) -> dict[str, Any]:
        return {self._key(): self.value(depth + 1) for _ in range(count)}

    def _key(self) -> str:
        key = self.value(DEEPEST)
        match key:
            case str():
                return key
            case int() | float() if key is not True and key is not False:
                return str(key)
        raise ValueError("a key that is no string")
