"""One player over one connection of Socket.IO: its messages, and what it receives."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import struct
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from pushbench.conformance import socketio
from pushbench.conformance.rule import Mismatch, escaped

PROMPT = 2.0
"""Seconds for what a healthy server does at once: a thousand times its usual time, so that no rule fails because of a
busy machine."""
QUIET = 0.1
"""Seconds in which a forbidden message would arrive."""
MOST_KEYS = 16
WRONG = "#"
"""A key that the text does not have."""

Message = Mapping[str, object]


@dataclass(frozen=True)
class Event:
    """An event of the server."""

    name: str
    message: object

    def __str__(self) -> str:
        return f"{self.name} {escaped(json.dumps(self.message), 200)}"


@dataclass(frozen=True)
class Strange:
    """A packet that is not in the protocol."""

    packet: str | bytes

    def __str__(self) -> str:
        return f"strange packet {escaped(self.packet)}"


class Player:
    def __init__(self, connection: ClientConnection, user: str) -> None:
        self.connection, self.user = connection, user
        self.opened: object = None
        """The content of the open packet."""
        self.room = ""
        self.text = ""
        self.typed = self.mistakes = 0
        self._seq = itertools.count(1)
        self._ids = itertools.count(1)
        self._asked: dict[int, asyncio.Future[object]] = {}
        self._events: deque[Event | Strange] = deque()
        self._news = asyncio.Event()
        self._closed = False
        self._reading: asyncio.Task[None] | None = None

    async def start(self, within: float) -> None:
        self.opened = await socketio.greet(self.connection, within)
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                packet = await self.connection.recv()
                if packet == socketio.PING:
                    await self.connection.send(socketio.PONG)
                else:
                    self._receive(packet)
        self._closed = True
        self._news.set()
        for asked in self._asked.values():
            if not asked.done():
                asked.set_exception(Mismatch("an acknowledgement", f"the connection's end: {self.closing}"))

    def _receive(self, packet: str | bytes) -> None:
        text = packet if isinstance(packet, str) else ""
        if found := socketio.ACKNOWLEDGEMENT.fullmatch(text):
            asked = self._asked.pop(int(found[1]), None)
            match _parsed(found[2]):
                case [said] if asked and not asked.done():
                    asked.set_result(said)
                    return
        match _parsed(text.removeprefix("42")) if text.startswith("42") else None:
            case [str(name), message]:
                self._events.append(Event(name, message))
            case _:
                self._events.append(Strange(packet))
        self._news.set()

    # Sending

    async def say(self, name: str, message: object) -> None:
        """Send an event without requesting an acknowledgement."""
        await self.connection.send(socketio.event_of(name, json.dumps(message)))

    async def ask(self, name: str, message: object, within: float | None = None) -> object:
        """Send an event and return its acknowledgement."""
        number = next(self._ids)
        asked = self.expects(number)
        await self.connection.send(socketio.event_of(name, json.dumps(message), number))
        return await self.answer(asked, name, within)

    def expects(self, number: int) -> asyncio.Future[object]:
        """The future acknowledgement with a number."""
        asked = self._asked[number] = asyncio.get_running_loop().create_future()
        return asked

    async def answer(self, asked: asyncio.Future[object], name: str, within: float | None = None) -> object:
        within = PROMPT if within is None else within
        try:
            return await asyncio.wait_for(asked, within)
        except TimeoutError:
            raise Mismatch(f"an acknowledgement of {name} within {within:g} s", self.seen) from None

    async def join(self, room: str, within: float | None = None) -> None:
        """Join a room; the player then has its text."""
        said = await self.ask("pvp:join", {"roomId": room, "userId": self.user}, within)
        match said:
            case {"roomId": str(joined), "userId": self.user, "text": str(text)} if joined == room and text:
                self.room, self.text, self.typed, self.mistakes = room, text, 0, 0
            case _:
                raise Mismatch(f"an acknowledgement of the join of {room} with a text", escaped(json.dumps(said), 200))

    async def is_turned_away(self, room: str, what: str) -> None:
        """Raises Mismatch unless the server acknowledges a join with an error."""
        said = await self.ask("pvp:join", {"roomId": room, "userId": self.user})
        match said:
            case {"error": str(reason)} if reason:
                return
        raise Mismatch(f'{{"error": "..."}} for a join of {what}', escaped(json.dumps(said), 200))

    def keystrokes(self, keys: str, **changes: object) -> dict[str, object]:
        """The next message of the player; `changes` replace fields or add unknown ones."""
        seq = next(self._seq)
        fields = {"roomId": self.room, "userId": self.user, "seq": seq, "sentAt": 1_764_000_000_000_000 + seq}
        return {**fields, "keys": keys, **changes}

    async def type(self, keys: str, **changes: object) -> Message:
        """Type keys. Returns the state that is due to every member."""
        said = self.keystrokes(keys, **changes)
        await self.say("pvp:keystrokes", said)
        for key in keys:
            if self.typed < len(self.text):
                right = key == self.text[self.typed]
                self.typed, self.mistakes = self.typed + right, self.mistakes + (not right)
        told = {name: said[name] for name in ("roomId", "userId", "seq", "sentAt")}
        return {**told, "typed": self.typed, "mistakes": self.mistakes}

    async def type_next(self, count: int = 1) -> Message:
        """Type the next right keys."""
        return await self.type(self.text[self.typed : self.typed + count])

    async def finish(self) -> list[Message]:
        """Type the rest of the text. Returns the states that are due to every member."""
        states = []
        while self.typed < len(self.text):
            states.append(await self.type_next(MOST_KEYS))
        return states

    # Receiving

    async def next(self, name: str, within: float | None = None) -> Message:
        """The message of the next event, which must have this name."""
        within = PROMPT if within is None else within
        try:
            async with asyncio.timeout(within):
                while not self._events:
                    if self._closed:
                        raise Mismatch(f"{name} at {self.user}", f"the connection's end: {self.closing}")
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise Mismatch(f"{name} at {self.user} within {within:g} s", "nothing") from None
        event = self._events.popleft()
        if isinstance(event, Strange) or event.name != name or not isinstance(event.message, dict):
            raise Mismatch(f"{name} at {self.user}", event)
        return event.message

    async def receives(self, *states: Message, within: float | None = None) -> None:
        """Raises Mismatch unless the next events are these states; `within` applies to each."""
        for state in states:
            if (seen := await self.next("pvp:state", within)) != state:
                raise Mismatch(f"the state {json.dumps(state)} at {self.user}", escaped(json.dumps(seen), 300))

    async def is_refused(self, what: str) -> None:
        """Raises Mismatch unless the server answers with exactly one error."""
        try:
            error = await self.next("pvp:error")
        except Mismatch as mismatch:
            raise Mismatch(f"pvp:error for {what}", mismatch.seen) from None
        if not isinstance(error.get("reason"), str) or not error["reason"]:
            raise Mismatch(f"a reason in the pvp:error for {what}", escaped(json.dumps(error)))

    async def receives_nothing(self, during: float | None = None) -> None:
        await asyncio.sleep(QUIET if during is None else during)
        if self._events or self._closed:
            raise Mismatch(f"nothing more at {self.user}", self.seen)

    async def is_closed(self, what: str, within: float | None = None) -> int:
        """The code with which the server ends the connection."""
        try:
            async with asyncio.timeout(PROMPT if within is None else within):
                await self.connection.wait_closed()
        except TimeoutError:
            raise Mismatch(f"the end of the connection after {what}", "an open connection") from None
        return self.connection.close_code or 1006

    async def is_closed_with(self, code: int, what: str, within: float | None = None) -> None:
        if (seen := await self.is_closed(what, within)) != code:
            raise Mismatch(f"close code {code} after {what}", seen)

    @property
    def closing(self) -> str:
        return f"{self.connection.close_code or 1006} {escaped(self.connection.close_reason or '')}"

    @property
    def seen(self) -> str:
        """The first events that no rule has read."""
        shown = "; ".join(str(event) for event in itertools.islice(self._events, 3))
        return shown or (f"the connection's end: {self.closing}" if self._closed else "nothing")

    # Disturbing the server

    def acknowledge(self, *, late: bool) -> None:
        """Let the kernel acknowledge arriving data after 40 ms (on Linux), or at once.

        The kernel resets this mode by itself, so a rule calls this before each exchange.
        """
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # acknowledges pending data
        if late:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)

    def stop_reading(self) -> None:
        self.connection.transport.pause_reading()

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

    def close(self) -> None:
        """End the connection, without waiting for anything."""
        with contextlib.suppress(AttributeError):  # asyncio's error for aborting a transport that has closed itself
            self.connection.transport.abort()


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
