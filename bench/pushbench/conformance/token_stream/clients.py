"""The clients of one running server of token streams: each rule gets connections of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pushbench.conformance.connection import Connection
from pushbench.conformance.events import Event, Events
from pushbench.conformance.http1 import Answer, Field, Head
from pushbench.conformance.rule import Mismatch, escaped
from pushbench.conformance.target import Target
from pushbench.conformance.together import together
from pushbench.conformance.token_stream.arrivals import Arrivals
from pushbench.conformance.token_stream.text import LAST
from pushbench.conformance.waiting import begins_to_end, only_waits
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Usage

PROMPT = 2.0
"""Seconds for what a healthy server does at once: a thousand times its usual time, so that no rule fails because of a
busy machine."""
READERS, IDLE = 20, 5
"""Clients that read a stream when the server ends, and connections without a request."""
SLOW = 2
"""The pace of the streams that the server's end interrupts: none would finish within a minute."""


PACE, SEEN = 50, 21
"""The pace of the stream whose characters are timed one by one, for 0.4 s."""
FAST = 300
"""A pace whose period is not a whole number of milliseconds; the text takes 0.7 s."""


@dataclass(frozen=True)
class Paced:
    """Two paced streams, read at the same time."""

    slow: Arrivals
    fast: Arrivals
    """up to its last character"""


@dataclass(frozen=True)
class Farewell:
    """The end of a server with clients after SIGTERM."""

    ends: list[str]
    """For each stream, the fault in its end; empty if it ended as HTTP requires."""
    latecomer_served: bool
    """A client that connected after the first end still got a character."""
    exit: Exit


@dataclass
class Stream:
    """One answer to a request for the text: its events as they arrive."""

    connection: Connection
    asked: float
    """time.monotonic() when the request was sent"""
    head: Head
    began: float
    """time.monotonic() when the head of the answer arrived"""
    _events: Events = field(default_factory=Events)
    _ready: list[Event] = field(default_factory=list)

    async def next(self, within: float = PROMPT) -> Event | None:
        """The next event; None at the end of the answer. `within` applies to each part of the answer."""
        while not self._ready:
            piece = await self.connection.piece(within)
            if not piece:
                return None
            self._ready = list(self._events.feed(piece, time.monotonic()))
        return self._ready.pop(0)

    async def text(self, within: float = PROMPT) -> list[Event]:
        """The events up to the last character, or to the end of the answer if that is earlier."""
        events = []
        while event := await self.next(within):
            events.append(event)
            if event.number == LAST:
                break
        return events

    async def rest(self, within: float = PROMPT) -> list[Event]:
        """The events up to the end of the answer."""
        events = []
        while event := await self.next(within):
            events.append(event)
        return events

    async def some(self, count: int, within: float = PROMPT) -> list[Event]:
        """The next `count` events. Raises Mismatch if the answer ends before."""
        events: list[Event] = []
        while len(events) < count:
            event = await self.next(within)
            if event is None:
                raise Mismatch(f"{count} events", f"the end of the stream after {len(events)}")
            events.append(event)
        return events


class Clients:
    def __init__(self, server: str, target: Target, path: str) -> None:
        self.server, self.target, self.path = server, target, path
        self._present: list[Connection] = []
        self._paced: Paced | None = None
        self._farewell: Farewell | None = None

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.target.url)
        return parts.hostname or "127.0.0.1", parts.port or 80

    def usage(self) -> Usage:
        """The server's current usage."""
        usage = self.target.tree.usage()
        if not usage:
            raise Mismatch("a running server", "its end")
        return usage

    def open_sockets(self) -> int:
        """The number of sockets of any kind that the server's processes hold."""
        return self.target.tree.open_sockets()

    async def output_bytes(self) -> int:
        """The size of the server's output that is kept."""
        return await asyncio.to_thread(self.target.output_bytes)

    async def connect(self, *, receive_buffer: int | None = None) -> Connection:
        connection = Connection(self.address, PROMPT, receive_buffer)
        await connection.open()
        self._present.append(connection)
        return connection

    async def ask(self, method: str, target: str, body: bytes | None = None, *fields: Field) -> Answer:
        """The answer to one request, on a connection of its own."""
        return await (await self.connect()).ask(method, target, body, *fields)

    def target_of(self, pace: str | int | None) -> str:
        return self.path if pace is None else f"{self.path}?pace={pace}"

    async def stream(
        self,
        *,
        pace: str | int | None = None,
        last: str | int | None = None,
        connection: Connection | None = None,
        within: float = PROMPT,
    ) -> Stream:
        """Request the text, on a new connection unless one is given, and wait for the head of the answer.

        `last` is the value of the field Last-Event-ID.
        """
        connection = connection or await self.connect()
        asked = time.monotonic()
        fields = [] if last is None else [("Last-Event-ID", str(last))]
        connection.write(connection.request("GET", self.target_of(pace), None, *fields))
        head = await connection.head(f"GET {self.path}", within)
        return Stream(connection, asked, head, time.monotonic())

    async def active_streams(self) -> int:
        """The number in /metricz."""
        answer = await self.ask("GET", "/metricz")
        with contextlib.suppress(ValueError):
            match json.loads(answer.body):
                case {"active_streams": int(count)} if type(count) is int:
                    return count
        raise Mismatch('{"active_streams": 0}, or another number', f"status {answer.status}, {escaped(answer.body)}")

    async def wait_for_active(self, count: int, what: str, within: float) -> None:
        """Wait until /metricz reports this number of streams."""
        deadline = time.monotonic() + within
        while (active := await self.active_streams()) != count:
            if time.monotonic() > deadline:
                raise Mismatch(f"{count} active_streams within {within:g} s after {what}", active)
            await asyncio.sleep(0.02)

    async def dismiss(self) -> None:
        """Close all connections."""
        present, self._present = self._present, []
        for connection in present:
            connection.close()
        await asyncio.sleep(0)  # lets the transports close

    async def paced(self) -> Paced:
        """Read paced streams once; every rule about their times judges these."""
        if not self._paced:
            self._paced = Paced(*await together([self._arrivals(PACE, SEEN), self._arrivals(FAST)]))
        return self._paced

    async def _arrivals(self, pace: int, count: int | None = None) -> Arrivals:
        """Read a paced stream up to its last character, or up to `count` of them."""
        stream = await self.stream(pace=pace)
        events = await (stream.text() if count is None else stream.some(count))
        return Arrivals(pace, stream.asked, stream.began, [event.at for event in events])

    async def farewell(self) -> Farewell:
        """End the server once; every rule about its end judges this one end."""
        if not self._farewell:
            self._farewell = await self._end()
        return self._farewell

    async def _end(self) -> Farewell:
        for _ in range(IDLE):
            await self.ask("GET", "/healthz")
        readers = await together(self.stream(pace=SLOW) for _ in range(READERS))
        silent = await self.connect(receive_buffer=4096)
        await self.stream(pace=SLOW, connection=silent)
        silent.stop_reading()
        ending = asyncio.create_task(asyncio.to_thread(self.target.terminate, 8.0))
        ends = [asyncio.create_task(_end_of(reader)) for reader in readers]
        await begins_to_end(ends, ending, self.target.replicas)
        try:
            latecomer_served = await (await self.stream(pace=SLOW, within=1.0)).next(within=1.0) is not None
        except (OSError, Mismatch):
            latecomer_served = False
        ended = await asyncio.gather(*ends)
        only_waits()
        return Farewell(ended, latecomer_served, await ending)


async def _end_of(stream: Stream) -> str:
    """The fault in the end of a stream; empty if there is none."""
    try:
        await stream.rest(within=10)
    except Mismatch as mismatch:
        return mismatch.seen
    return ""
