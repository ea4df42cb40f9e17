"""Server-sent events from arriving bytes, https://html.spec.whatwg.org/multipage/server-sent-events.html."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pushbench.conformance.rule import Mismatch, escaped

LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""A CR at the end of the received data may be half of a CRLF."""
MOST_BYTES = 8192
"""of an event in the suites' protocols; a character and its number take 30 bytes and two lines"""
LINE_BYTES = 64
"""that a line counts in addition to its own, so that short lines do not need much more memory than `most`"""


@dataclass(frozen=True)
class Event:
    """The lines of one event, without comments."""

    fields: tuple[tuple[str, str], ...]
    at: float
    """time.monotonic() when its end arrived"""

    def values(self, name: str) -> list[str]:
        return [value for each, value in self.fields if each == name]

    @property
    def id(self) -> str | None:
        return self.values("id")[-1] if self.values("id") else None

    @property
    def number(self) -> int | None:
        """The id as the number of a character; None if it is not a number."""
        return int(self.id) if self.id is not None and re.fullmatch("0|[1-9][0-9]{0,3}", self.id) else None

    @property
    def data(self) -> str:
        return "\n".join(self.values("data"))

    def __str__(self) -> str:
        return escaped("\n".join(f"{name}: {value}" for name, value in self.fields))


class Events:
    """Assembles events from bytes."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """`most` is the largest number of bytes in an event."""
        self._most = most
        self._held = 0
        self._bytes = b""
        self._fields: list[tuple[str, str]] = []

    def feed(self, octets: bytes, at: float) -> Iterator[Event]:
        """The events that these bytes complete. Raises Mismatch if they are not UTF-8, or an event has no end."""
        self._bytes += octets
        while line_end := LINE_END.search(self._bytes):
            line, self._bytes = self._bytes[: line_end.start()], self._bytes[line_end.end() :]
            if line:
                self._add(line)
            elif self._fields:
                yield Event(tuple(self._fields), at)
                self._fields, self._held = [], 0
        self._require_small(len(self._bytes), self._bytes)

    def _add(self, line: bytes) -> None:
        try:
            name, _, value = line.decode().partition(":")
        except UnicodeDecodeError:
            raise Mismatch("a stream in UTF-8", escaped(line)) from None
        if name:
            self._fields.append((name, value.removeprefix(" ")))
            self._held += len(line) + LINE_BYTES
            self._require_small(self._held, line)

    def _require_small(self, octets: int, last: bytes) -> None:
        if octets > self._most:
            raise Mismatch(f"events of at most {self._most:,} bytes", f"one that does not end: {escaped(last)}")
