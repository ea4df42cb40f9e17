"""One simulated user of a whiteboard over one connection: the language of the rules, whatever the protocol.

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
"""Seconds for what a healthy server does at once: a thousand times what it takes, so that a busy machine breaks no
rule, and well below the send timeouts (10 s and more) of servers that block on a slow reader."""


class Client(ABC):
    path: ClassVar[str]
    subprotocols: ClassVar[Sequence[Subprotocol] | None] = None
    noun: ClassVar[str] = "draw"
    """what people call a message to a board"""
    carries_any_text: ClassVar[bool] = True
    """Whether a message can carry a text that is no JSON."""

    def __init__(self, connection: ClientConnection, user: str) -> None:
        self.connection, self.user = connection, user
        self.inbox = Inbox()
        self._seq = 0
        self._reading: asyncio.Task[None] | None = None

    # What a protocol says

    async def greet(self, within: float) -> None:  # noqa: B027 - most protocols have no such thing
        """Exchange what comes before the first message."""

    @abstractmethod
    def message(self, board: str, text: str) -> str:
        """The WebSocket message that carries a text to a board."""

    @abstractmethod
    async def ask_to_join(self, board: str) -> None:
        """Send what makes the server acknowledge a membership; do not wait."""

    @abstractmethod
    async def leave(self, board: str) -> None: ...

    @abstractmethod
    def event(self, message: str | bytes) -> Event | None:
        """What a received message means; None when it is not meant for this user."""

    def answer(self, message: str | bytes) -> str | None:
        """What the protocol has a client send at once when it receives a message; None for nothing."""
        return None

    def same(self, sent: str, arrived: str) -> bool:
        """Whether a draw arrived as the protocol promises, which most do byte for byte."""
        return sent == arrived

    # What a client does

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

    # What a client sees

    async def receives(self, *texts: str, within: float = PROMPT) -> None:
        """The next draws are these, unchanged and in this order; `within` is for each."""
        for text in texts:
            drawn = await self.next_drawn(f"{self.noun} {escaped(text)}", within)
            if not self.same(text, drawn):
                raise Mismatch(f"{self.noun} {difference(text, drawn)}", f"{self.noun} {difference(drawn, text)}")

    async def next_drawn(self, expected: str = "a draw", within: float = PROMPT) -> str:
        return (await self.inbox.take(Drawn, f"{expected} at {self.user}", within)).text

    async def is_refused(self, what: str) -> None:
        """The server answers with an error, and with nothing else."""
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
        """The server ends the connection, in any way, because of `what` the client did."""
        return await self.inbox.wait_closed(f"the connection to be closed after {what}", within)

    async def is_closed_with(self, code: int, what: str) -> None:
        closed = await self.is_closed(what)
        if closed.code != code:
            raise Mismatch(f"close code {code} after {what}", closed)

    # What a client does to others

    def delay_acknowledgements(self, *, delay: bool) -> None:
        """Let the kernel wait (40 ms on Linux) before it acknowledges what arrives, or acknowledge at once.

        The kernel changes the mode by itself later, so a rule asks for it before each exchange.
        """
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # acknowledges what is still waiting
        if delay:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)

    def stop_reading(self) -> None:
        self.connection.transport.pause_reading()

    def read_again(self) -> None:
        """With a receive buffer that empties a backlog fast."""
        if self.connection.transport.is_closing():
            return
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.connection.transport.resume_reading()

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.transport.abort()

    def write_raw(self, octets: bytes) -> None:
        """Bypass the WebSocket library."""
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
    """What a message says as JSON; None when that is nothing. Works with all that `extreme_json_is_harmless` draws."""
    try:
        return json.loads(message, parse_int=str) if isinstance(message, str) else None
    except ValueError:
        return None
    except RecursionError:
        return {"type": "draw"}  # nothing else is nested that deep


def difference(text: str, other: str) -> str:
    """The part of a text around its first difference from another, escaped."""
    at = in_common(text, other)
    start = max(0, at - 40)
    return f"{'...' if start else ''}{escaped(text[start : at + 40])} of {len(text.encode(errors='replace'))} bytes"


def in_common(text: str, other: str) -> int:
    """How many characters of two texts are the same from their beginnings on."""
    pairs = zip(text, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))
