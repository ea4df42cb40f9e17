"""An HTTP/1.1 connection for the rules of suites: requests may be malformed or incomplete, answers are read in parts.

It raises Mismatch if an answer is not HTTP or is late. It is independent of suites, so each suite sets how long a
healthy server may take.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable
from typing import TypeVar

from pushbench.conformance.http1 import (
    MOST_BODY,
    MOST_HEAD,
    MOST_LINE,
    Answer,
    Body,
    Field,
    Head,
    body_of,
    chunk_size_of,
    field_of,
    status_of,
)
from pushbench.conformance.rule import Mismatch, escaped

T = TypeVar("T")


class Closed(Mismatch):
    """The server ended the connection although an answer, or more of one, was due."""


class Connection:
    """A client of the server. It writes requests unchanged, and reads the answers in order."""

    def __init__(
        self, address: tuple[str, int], prompt: float, receive_buffer: int | None = None, *, plain: bool = False
    ) -> None:
        """`prompt` is the time limit in seconds for an answer, or for each part of an answer that is read in parts.

        A small receive buffer, in bytes, leaves little room in the kernel for unread data. A `plain` client accepts
        HTTP/1.0, and bodies that end with the connection, as all HTTP clients do.
        """
        self._address, self._prompt, self._receive_buffer, self._plain = address, prompt, receive_buffer, plain
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter
        self._received = b""
        self._body: Body | None = None
        self._ended = False
        """the connection ends with the last answer"""
        self.opened = 0
        """number of times"""

    async def open(self) -> None:
        # asyncio turns Nagle's algorithm off only if the protocol is specified.
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setblocking(False)
        try:
            if self._receive_buffer:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
            await asyncio.get_running_loop().sock_connect(sock, self._address)
            self._reader, self._writer = await asyncio.open_connection(sock=sock)
        except BaseException:
            sock.close()
            raise
        self._received, self._body, self._ended = b"", None, False
        self.opened += 1

    async def renew(self) -> None:
        """Connect again if the last answer ended the connection."""
        if self._ended:
            self.close()
            await self.open()

    # Sending

    def head_of(self, method: str, path: str, *fields: Field) -> bytes:
        """The head of a request."""
        host = f"{self._address[0]}:{self._address[1]}"
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in fields)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def request(self, method: str, path: str, body: bytes | None = None, *fields: Field) -> bytes:
        """A request with its Content-Length, or without one if it has no body."""
        length = () if body is None else (("Content-Length", str(len(body))),)
        return self.head_of(method, path, *fields, *length) + (body or b"")

    def write(self, octets: bytes) -> None:
        self._writer.write(octets)

    async def ask(
        self, method: str, path: str, body: bytes | None = None, *fields: Field, within: float | None = None
    ) -> Answer:
        """Send a request and read its answer, over a new connection if the last answer had `Connection: close`."""
        await self.renew()
        self.write(self.request(method, path, body, *fields))
        return await self.answer(f"{method} {path}", within)

    # Receiving

    async def answer(self, to: str = "a request", within: float | None = None) -> Answer:
        """The next answer with its complete body."""
        return await self._in_time(self._read_answer(to), f"an answer to {to}", within)

    async def head(self, to: str = "a request", within: float | None = None) -> Head:
        """The head of the next answer. Its body is then read with `piece`."""
        return await self._in_time(self._read_head(to), f"the head of an answer to {to}", within)

    async def piece(self, within: float | None = None) -> bytes:
        """The next part of the answer's body; empty at its end. Raises Closed if the end never arrives."""
        return await self._in_time(self._read_piece(), "more of the answer", within)

    async def is_ended(self, what: str, within: float | None = None) -> None:
        """Raises Mismatch unless the server properly ends the stream, without sending anything more."""
        try:
            if not self._received:
                coming = self._reader.read(4096)
                self._received = await self._in_time(coming, f"the connection's end after {what}", within)
        except Closed:
            raise Mismatch(f"the end of the stream after {what}", "a reset") from None
        if self._received:
            raise Mismatch(f"the end of the stream after {what}", escaped(self._received))

    async def _in_time(self, coming: Awaitable[T], expected: str, within: float | None) -> T:
        within = within or self._prompt
        try:
            async with asyncio.timeout(within) as limit:
                return await coming
        except TimeoutError:
            if not limit.expired():
                raise
            raise Mismatch(f"{expected} within {within:g} s", "none") from None
        except ConnectionError as error:
            raise Closed(expected, f"the connection's end: {type(error).__name__}") from None

    async def _read_answer(self, to: str) -> Answer:
        head, body = await self._read_head(to), b""
        while piece := await self._read_piece():
            body += piece
            if len(body) > MOST_BODY:
                raise Mismatch(f"a body of at most {MOST_BODY:,} bytes", "more")
        return Answer(head, body)

    async def _read_head(self, to: str) -> Head:
        """The next head, skipping those with status 1xx."""
        while True:
            status = status_of(await self._line(f"a status line for {to}"), old=self._plain)
            head = Head(status, await self._fields())
            if head.status >= 200:
                self._body = body_of(head, until_the_end=self._plain)
                self._ended = head.ends_connection or self._body.left is None
                return head

    async def _read_piece(self) -> bytes:
        body = self._body
        if body is None:
            return b""
        if body.chunked and not body.left:
            body.left = chunk_size_of(await self._line("the size of a chunk"))
            if not body.left:
                await self._fields()
        if body.left == 0:
            self._body = None
            return b""
        return await (self._until_the_end() if body.left is None else self._some_of(body, body.left))

    async def _some_of(self, body: Body, left: int) -> bytes:
        octets = self._received or await self._read(f"{left} more bytes of a body")
        piece, self._received = octets[:left], octets[left:]
        body.left = left - len(piece)
        if body.chunked and not body.left and await self._line("the end of a chunk"):
            raise Mismatch("the end of a chunk", "more bytes")
        return piece

    async def _until_the_end(self) -> bytes:
        piece, self._received = self._received or await self._reader.read(1 << 16), b""
        if not piece:
            self._body = None
        return piece

    async def _fields(self) -> list[Field]:
        fields, size = [], 0
        while line := await self._line("a header field"):
            size += len(line)
            if size > MOST_HEAD:
                raise Mismatch(f"header fields of at most {MOST_HEAD:,} bytes", "more")
            fields.append(field_of(line))
        return fields

    async def _line(self, expected: str) -> bytes:
        while b"\n" not in self._received:
            if len(self._received) > MOST_LINE:
                raise Mismatch(expected, f"a line that does not end: {escaped(self._received)}")
            self._received += await self._read(expected)
        line, _, self._received = self._received.partition(b"\n")
        if not line.endswith(b"\r"):
            raise Mismatch("a line that ends with CR LF", escaped(line))
        return line[:-1]

    async def _read(self, expected: str) -> bytes:
        octets = await self._reader.read(1 << 16)
        if not octets:
            raise Closed(expected, f"the connection's end after {escaped(self._received)}")
        return octets

    # Disturbing the server

    def stop_reading(self) -> None:
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    def acknowledge(self) -> None:
        """Let the kernel acknowledge received data, and the data that arrives next, at once.

        The kernel resets this mode by itself, so a rule calls this before each exchange.
        """
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def delay_acknowledgements(self) -> None:
        """Let the kernel wait (40 ms on Linux) before it acknowledges; repeat the call as for `acknowledge`."""
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        """End the connection, without waiting for unsent or unread data."""
        self._writer.transport.abort()

    @property
    def _socket(self) -> socket.socket:
        return self._writer.get_extra_info("socket")  # type: ignore[no-any-return]
