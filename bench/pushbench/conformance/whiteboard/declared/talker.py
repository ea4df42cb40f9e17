"""One client of a declared protocol, in one group."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from pushbench.catalog.declaration import Declaration, KeepAlive
from pushbench.conformance.declared_reader import PER_CLIENT, Kind, Meaning, Reader, Values
from pushbench.conformance.msgpack import packed, unpacked
from pushbench.conformance.rule import Mismatch
from pushbench.conformance.whiteboard.client import PROMPT, Client
from pushbench.conformance.whiteboard.inbox import Drawn, Event, Joined, Refused, Strange

SETTLE = 0.1
"""Seconds until a client counts as a member without an acknowledgement: `settle` in k6/internal/conversation."""


@dataclass(frozen=True)
class Delivered(Drawn):
    """A member's message; its text names it."""

    id: int
    altered: str = ""
    """how it differs from what was sent"""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Sent:
    group: str
    time: int


class Ledger:
    """All clients' sent messages, by their ids."""

    def __init__(self) -> None:
        self.sent: dict[int, Sent] = {}
        self._numbers = Counter[int]()

    def add(self, client: int, group: str) -> Values:
        """Add a client's next message. A returning client continues counting."""
        number = client * PER_CLIENT + self._numbers[client]
        self._numbers[client] += 1
        self.sent[number] = Sent(group, time.time_ns() // 1000)
        return Values(group, client, number, self.sent[number].time)


def name_of(number: int) -> str:
    """`message 3 of client 12`"""
    return f"message {number % PER_CLIENT} of client {number // PER_CLIENT}"


class Talker(Client):
    noun = "the message"

    def __init__(
        self, connection: ClientConnection, own: Values, declaration: Declaration, reader: Reader, ledger: Ledger
    ) -> None:
        super().__init__(connection, f"client {own.client}")
        self.own = own
        self._declaration, self._reader, self._ledger = declaration, reader, ledger
        self._packed = declaration.format == "msgpack"
        self._joined = False
        self._steps: int | None = 0
        """completed steps of the opening; None once all are completed"""
        self._keeping: asyncio.Task[None] | None = None
        self._last: tuple[str | bytes, Meaning] = "", Meaning(Kind.FOREIGN)

    async def greet(self, within: float) -> None:
        try:
            async with asyncio.timeout(within):
                for number, step in enumerate(self._declaration.open):
                    self._steps = number
                    if step.send:
                        await self._say(self._reader.filled(step.send))
                    while step.acknowledged and self._steps == number:
                        await self.hear(await self.connection.recv())
        except TimeoutError:
            raise Mismatch(f"what acknowledges the opening within {within:g} s", self.inbox) from None
        self._steps = None

    async def _say(self, text: str) -> None:
        await self.connection.send(packed(text) if self._packed else text)

    async def hear(self, message: str | bytes) -> None:
        if self._packed and isinstance(message, bytes):
            with contextlib.suppress(ValueError, RecursionError):
                message = unpacked(message)
        elif self._packed and isinstance(message, str):
            message = message.encode()  # the declaration has no text frames
        separator = self._declaration.separator
        for each in message.split(separator) if separator and isinstance(message, str) else [message]:
            if each or not separator:
                await super().hear(each)

    def message(self, board: str, text: str) -> str:
        return text

    async def ask_to_join(self, board: str) -> None:
        if (join := self._declaration.join) and join.send:
            await self._say(self._reader.filled(join.send))

    async def join(self, board: str, within: float = PROMPT) -> None:
        await self.ask_to_join(board)
        if acknowledges_joins(self._declaration):
            await self.inbox.take(Joined, f"what acknowledges the join of {board}", within)
        else:
            await asyncio.sleep(SETTLE)
        self._joined = True
        alive = self._declaration.keep_alive
        if alive and alive.send and alive.every_seconds and not self._keeping:
            self._keeping = asyncio.create_task(self._keep_alive(alive))

    async def _keep_alive(self, alive: KeepAlive) -> None:
        """Send the keep-alive message at intervals, as members do, until the connection ends."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(alive.every_seconds)
                await self._say(self._reader.filled(alive.send))

    async def _stop_keeping(self) -> None:
        if self._keeping:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
            self._keeping = None

    async def close(self) -> None:
        await self._stop_keeping()
        await super().close()

    async def leave(self, board: str) -> None:
        await self._stop_keeping()
        await self._say(self._reader.filled(self._declaration.leave))

    async def draw(self, board: str, **_: object) -> str:
        values = self._ledger.add(self.own.client, board)
        await self._say(self._reader.filled(self._declaration.message.send, values))
        return name_of(values.id)

    def answer(self, message: str | bytes) -> str | None:
        alive = self._declaration.keep_alive
        return self._reader.filled(alive.answer) if alive and self._meaning(message).kind is Kind.ASKED else None

    def event(self, message: str | bytes) -> Event | None:
        meaning = self._meaning(message)
        match meaning.kind:
            case Kind.DELIVERED:
                return self._delivered(message, meaning)
            case Kind.OPENED:
                self._steps = (self._steps or 0) + 1
            case Kind.JOINED if not self._joined:
                return Joined(self.own.group, self.user)
            case Kind.REFUSED:
                return Refused(str(message))
            case Kind.FOREIGN:
                return Strange(message)
        return None

    def _delivered(self, message: str | bytes, meaning: Meaning) -> Event:
        sent = self._ledger.sent.get(meaning.id)
        if not sent:
            return Strange(message)
        altered = meaning.altered
        if not altered and meaning.time not in (None, sent.time):
            altered = "its time"
        return Delivered(name_of(meaning.id), meaning.id, altered if sent.group == self.own.group else "")

    def _meaning(self, message: str | bytes) -> Meaning:
        """The meaning of a message, kept because `event` and `answer` both need it."""
        if self._last[0] is not message:
            self._last = (
                message,
                self._reader.read(message, self._steps) if isinstance(message, str) else Meaning(Kind.FOREIGN),
            )
        return self._last[1]


def acknowledges_joins(declaration: Declaration) -> bool:
    return bool(declaration.join and declaration.join.acknowledged)
