"""One simulated user of a whiteboard over one connection: the vocabulary of the rules, whatever the protocol.

A protocol is a module of this package, named after it, whose class `ProtocolClient` derives from `Client`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from pushbench.conformance.rule import Mismatch, escaped
from pushbench.conformance.whiteboard.draws import draw_text
from pushbench.conformance.whiteboard.inbox import Closed, Drawn, Event, Inbox, Joined, Refused

PROMPT = 2.0
"""Seconds for what a healthy server does at once: a thousand times its usual time, so that no rule fails because of a
busy machine. It is well below the send timeouts (10 s and more) of servers that block on a slow reader."""


class Client(ABC):
    path: ClassVar[str]
    subprotocols: ClassVar[Sequence[Subprotocol] | None] = None
    noun: ClassVar[str] = "draw"
    """the usual word for a message to a board"""
    carries_any_text: ClassVar[bool] = True
    """Whether a message can carry a text that is not JSON."""

    def __init__(self, connection: ClientConnection, user: str) -> None:
        self.connection, self.user = connection, user
        self.inbox = Inbox()
        self._seq = 0
        self._reading: asyncio.Task[None] | None = None

    # Defined by the protocol

    async def greet(self, within: float) -> None:  # noqa: B027 - most protocols have no greeting
        """Complete the exchange before the first message."""

    @abstractmethod
    def message(self, board: str, text: str) -> str:
        """The WebSocket message that carries a text to a board."""

    @abstractmethod
    async def ask_to_join(self, board: str) -> None:
        """Send the message whose acknowledgement confirms a membership; do not wait."""

    @abstractmethod
    async def leave(self, board: str) -> None: ...

    @abstractmethod
    def event(self, message: str | bytes) -> Event | None:
        """The meaning of a received message; None if it is not meant for this user."""

    def answer(self, message: str | bytes) -> str | None:
        """The protocol's immediate answer to a received message; None if there is none."""
        return None

    def same(self, sent: str, arrived: str) -> bool:
        """Whether a draw arrived as the protocol promises, in most protocols byte for byte."""
        return sent == arrived

    # Sending

    async def start(self, within: float) -> None:
        await self.greet(within)
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            while True:
                await self.hear(await self.connection.recv())
        except ConnectionClosed:
            self.inbox.close(Closed(self.connection.close_code or 1006, self.connection.close_reason or ""))

    async def _say(self, text: str) -> None:
        await self.connection.send(text)

    async def hear(self, message: str | bytes) -> None:
        if answer := self.answer(message):
            await self._say(answer)
        if event := self.event(message):
            self.inbox.put(event)

    async def join(self, board: str, within: float = PROMPT) -> None:
        await self.ask_to_join(board)
        joined = await self.inbox.take(Joined, f"`joined` of {board}", within)
        if joined != Joined(board, self.user):
            raise Mismatch(f"`joined` of {board} for {self.user}", f"{joined.board} for {joined.user}")

    async def say(self, board: str, text: str) -> str:
        """Send a text, well-formed or not, to a board."""
        await self.connection.send(self.message(board, text))
        return text

    async def draw(self, board: str, **changes: object) -> str:
        return await self.say(board, self.next_draw(board, **changes))

    def next_draw(self, board: str, **changes: object) -> str:
        self._seq += 1
        return draw_text(board, self.user, self._seq, **changes)

    def next_draw_of(self, board: str, size: int) -> str:
        """A draw whose WebSocket message has `size` bytes."""
        pad = 0
        self._seq += 1
        while True:
            text = draw_text(board, self.user, self._seq, pad="x" * pad)
            missing = size - len(self.message(board, text).encode())
            if not missing:
                return text
            pad += missing

    # Receiving

    async def receives(self, *texts: str, within: float = PROMPT) -> None:
        """Raises Mismatch unless the next draws are these, unchanged and in this order; `within` applies to each."""
        for text in texts:
            drawn = await self.next_drawn(f"{self.noun} {escaped(text)}", within)
            if not self.same(text, drawn):
                raise Mismatch(f"{self.noun} {difference(text, drawn)}", f"{self.noun} {difference(drawn, text)}")

    async def next_drawn(self, expected: str = "a draw", within: float = PROMPT) -> str:
        return (await self.inbox.take(Drawn, f"{expected} at {self.user}", within)).text

    async def is_refused(self, what: str) -> None:
        """Raises Mismatch unless the server answers with exactly one error."""
        event = await self.inbox.next(f"an error for {what}", PROMPT)
        if not isinstance(event, Refused):
            raise Mismatch(f"an error for {what}", event)

    async def receives_nothing(self, during: float = 0.1) -> None:
        await asyncio.sleep(during)
        if self.inbox:
            raise Mismatch(f"nothing more at {self.user}", self.inbox)
        if self.inbox.closed:
            raise Mismatch("an open connection", self.inbox.closed)

    async def is_closed(self, what: str, within: float = PROMPT) -> Closed:
        """The way in which the server ends the connection because of `what` the client did."""
        return await self.inbox.wait_closed(f"the connection to be closed after {what}", within)

    async def is_closed_with(self, code: int, what: str) -> None:
        closed = await self.is_closed(what)
        if closed.code != code:
            raise Mismatch(f"close code {code} after {what}", closed)

    # Disturbing the server

    def delay_acknowledgements(self, *, delay: bool) -> None:
        """Let the kernel wait (40 ms on Linux) before it acknowledges received data, or acknowledge at once.

        The kernel resets this mode by itself, so a rule calls this before each exchange.
        """
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # acknowledges pending data
        if delay:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)

    def stop_reading(self) -> None:
        self.connection.transport.pause_reading()

    def read_again(self) -> None:
        """Read again, with a receive buffer that drains a backlog fast."""
        if self.connection.transport.is_closing():
            return
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.connection.transport.resume_reading()

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.transport.abort()

    def write_raw(self, octets: bytes) -> None:
        """Send bytes without the WebSocket library."""
        self.connection.transport.write(octets)

    @property
    def _socket(self) -> socket.socket:
        return self.connection.transport.get_extra_info("socket")  # type: ignore[no-any-return]

    async def close(self) -> None:
        self.connection.transport.resume_reading()
        with contextlib.suppress(AttributeError):  # asyncio: aborting a transport that has flushed and closed itself
            await self.connection.close()
        if self._reading:
            await self._reading


def parsed(message: str | bytes) -> object:
    """A message's JSON value; None if it is not JSON. Handles all draws of `extreme_json_is_harmless`."""
    try:
        return json.loads(message, parse_int=str) if isinstance(message, str) else None
    except ValueError:
        return None
    except RecursionError:
        return {"type": "draw"}  # no other message is nested that deeply


def difference(text: str, other: str) -> str:
    """The part of a text around its first difference from another, escaped."""
    at = in_common(text, other)
    start = max(0, at - 40)
    return f"{'...' if start else ''}{escaped(text[start : at + 40])} of {len(text.encode(errors='replace'))} bytes"


def in_common(text: str, other: str) -> int:
    """The length of the common prefix of two texts, in characters."""
    pairs = zip(text, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))
