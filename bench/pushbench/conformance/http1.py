"""Requests and answers of HTTP/1.1 as bytes. Unlike libraries, it tolerates no fault in an answer. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pushbench.conformance.rule import Mismatch, escaped

MOST_LINE, MOST_HEAD, MOST_BODY = 8192, 16 << 10, 1 << 20
"""Bytes of the longest line of an answer, of its head, and of a body that is read as a whole."""
STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?")
FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*")
LENGTH = re.compile(r"[0-9]{1,9}", re.ASCII)
CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?")
WITHOUT_BODY = (204, 304)

Field = tuple[str, str]


@dataclass(frozen=True)
class Head:
    """The status and the header fields of an answer."""

    status: int
    fields: Sequence[Field]
    """names in lower case"""

    def value(self, name: str) -> str:
        """The value of a field; empty if it is missing. Raises Mismatch if it occurs more than once."""
        found = [value for each, value in self.fields if each == name]
        if len(found) > 1:
            raise Mismatch(f"one header {name}", f"{len(found)}: {escaped(', '.join(found))}")
        return found[0] if found else ""

    def values(self, name: str) -> set[str]:
        """The members of a list, such as the methods of `Allow`."""
        listed = ",".join(value for each, value in self.fields if each == name)
        return {member.strip() for member in listed.split(",")} - {""}

    @property
    def media_type(self) -> str:
        """The media type in lower case and without parameters."""
        return self.value("content-type").partition(";")[0].strip().lower()

    @property
    def ends_connection(self) -> bool:
        """Whether the head announces that the connection ends with the answer."""
        return "close" in map(str.lower, self.values("connection"))


@dataclass(frozen=True)
class Answer:
    head: Head
    body: bytes

    @property
    def status(self) -> int:
        return self.head.status

    def json(self) -> object:
        """The body's value. Raises Mismatch unless it is JSON and is declared as JSON."""
        if self.head.media_type != "application/json":
            raise Mismatch("Content-Type: application/json", escaped(self.head.media_type or "none"))
        try:
            return json.loads(self.body.decode())
        except ValueError:
            raise Mismatch("a JSON body", escaped(self.body)) from None

    def __str__(self) -> str:
        return f"{self.status} {escaped(self.body)}" if self.body else f"{self.status} without a body"


@dataclass
class Body:
    """The remaining length of a body: of the current chunk, of all, or all until the connection ends (None)."""

    chunked: bool
    left: int | None


def body_of(head: Head, *, until_the_end: bool = False) -> Body:
    """The framing of an answer's body. Raises Mismatch if the head does not define exactly one.

    HTTP allows a body that ends with the connection without announcing it; so does `until_the_end`.
    """
    coding, length = head.value("transfer-encoding").lower(), head.value("content-length")
    if coding and length:
        raise Mismatch("Content-Length or Transfer-Encoding", "both")
    if head.status in WITHOUT_BODY:
        return Body(chunked=False, left=0)
    if coding:
        if coding != "chunked":
            raise Mismatch("Transfer-Encoding: chunked", escaped(coding))
        return Body(chunked=True, left=0)
    if not length and (head.ends_connection or until_the_end):
        return Body(chunked=False, left=None)
    if not LENGTH.fullmatch(length):
        raise Mismatch("an answer that says where it ends", f"Content-Length: {escaped(length or 'none')}")
    return Body(chunked=False, left=int(length))


def status_of(line: bytes, *, old: bool = False) -> int:
    """The status; `old` allows HTTP/1.0."""
    matched = STATUS_LINE.fullmatch(line)
    if not matched or (matched[1] == b"0" and not old):
        raise Mismatch("a status line of HTTP/1.1", escaped(line))
    return int(matched[2])


def field_of(line: bytes) -> Field:
    matched = FIELD.fullmatch(line)
    if not matched:
        raise Mismatch("a header field", escaped(line))
    return matched[1].decode().lower(), matched[2].decode("latin-1")


def chunk_size_of(line: bytes) -> int:
    matched = CHUNK_SIZE.fullmatch(line)
    if not matched:
        raise Mismatch("the size of a chunk", escaped(line))
    return int(matched[1], 16)


def in_chunks(body: bytes, most: int = 8192) -> bytes:
    """A body in chunks of at most `most` bytes, and its end."""
    pieces = [body[at : at + most] for at in range(0, len(body), most)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
