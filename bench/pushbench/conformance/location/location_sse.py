"""The protocol `location-sse`: server-sent events. With the rules that only it has."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque

from pushbench.conformance.connection import Closed
from pushbench.conformance.events import Event, Events
from pushbench.conformance.location.clients import JSON, Clients
from pushbench.conformance.location.member import body_of
from pushbench.conformance.location.news import News, news_of
from pushbench.conformance.location.over_http import HTTPMember, require
from pushbench.conformance.location.polls import NO_VERSIONS
from pushbench.conformance.rule import Mismatch, escaped, rule

MEDIA_TYPE = re.compile(r'text/event-stream(?:[ \t]*;[ \t]*charset="?utf-8"?)?', re.IGNORECASE)
FLOOD, BATCH = 60_000, 500
"""Maximum positions until a client that does not read is disconnected: 200 bytes each, 12 MB in all. Kernels hold at
most 6 MB of them."""


class ProtocolMember(HTTPMember):
    _coming: asyncio.Task[bytes] | None = None
    """the part of the stream that is awaited"""

    async def join_group(self, within: float) -> None:
        self._events, self._ready = Events(), deque[Event]()
        self.asks.write(self.asks.request("GET", self.path))
        self.head = await self.asks.head("a request for a stream", within)
        if self.head.status != 200:
            raise Mismatch("status 200 for a stream", self.head.status)
        first = await self.next_news(within)
        if first is None:
            raise Mismatch("the first event at once", f"none within {within:g} s")
        self.first = first

    @property
    def path(self) -> str:
        return f"/groups/{self.group}/events?user={self.user}"

    async def next_news(self, within: float) -> News | None:
        deadline = time.monotonic() + within
        while not self._ready:
            # A piece that is late is not lost: the next call waits for it.
            self._coming = self._coming or asyncio.create_task(self.asks.piece(within=60))
            done, _ = await asyncio.wait({self._coming}, timeout=max(0, deadline - time.monotonic()))
            if not done:
                return None
            piece, self._coming = self._coming.result(), None
            if not piece:
                raise Closed("more events", "the end of the stream")
            self._ready.extend(self._events.feed(piece, time.monotonic()))
        return _news_in(self._ready.popleft())

    async def is_ended(self, within: float) -> None:
        try:
            news = await self.next_news(within)
        except Closed as closed:
            if closed.seen == "the end of the stream":
                return
            raise
        raise Mismatch("the end of the stream", news or "none")

    async def close(self) -> None:
        if self._coming:
            self._coming.cancel()


def _news_in(event: Event) -> News:
    if sorted(name for name, _ in event.fields) != ["data", "id"]:
        raise Mismatch("one id line and one data line in each event", event)
    news = news_of(event.data)
    if event.id != str(news.version):
        raise Mismatch(f"id: {news.version}", event)
    return news


async def listener(clients: Clients, group: str) -> ProtocolMember:
    member = await clients.member(group)
    assert isinstance(member, ProtocolMember)
    return member


@rule("A stream answers 200 with Content-Type text/event-stream, and with Cache-Control no-cache or no-store.")
async def stream_is_declared(clients: Clients) -> None:
    head = (await listener(clients, clients.group())).head
    if not MEDIA_TYPE.fullmatch(head.value("content-type")):
        raise Mismatch("Content-Type: text/event-stream", escaped(head.value("content-type")) or "none")
    if {"no-cache", "no-store"}.isdisjoint(map(str.lower, head.values("cache-control"))):
        raise Mismatch("Cache-Control: no-cache", escaped(", ".join(sorted(head.values("cache-control"))) or "none"))


@rule("Last-Event-ID: the first event has what is newer alone; anything that is no version answers 400.")
async def last_event_id_resumes(clients: Clients) -> None:
    group = clients.group()
    reader, other = await listener(clients, group), await listener(clients, group)
    await other.share()
    for last, expected in ((0, 1), (1, 0), (7, 1)):
        connection = await clients.connect()
        connection.write(connection.request("GET", reader.path, None, ("Last-Event-ID", str(last))))
        await connection.head("a request for a stream")
        [event] = Events().feed(await connection.piece(), 0.0)
        if (seen := len(_news_in(event).positions)) != expected:
            raise Mismatch(f"{expected} positions after Last-Event-ID {last} of 1", seen)
    for bad in NO_VERSIONS:
        answer = await clients.ask("GET", reader.path, None, ("Last-Event-ID", bad))
        require(400, answer, f"Last-Event-ID: {bad}")


@rule("A client that stops reading its stream is disconnected, and delays nobody.", limit_seconds=30)
async def silent_listener_is_disconnected(clients: Clients) -> None:
    group, silent = clients.group(), await clients.connect(receive_buffer=4096)
    silent.write(silent.request("GET", f"/groups/{group}/events?user=silent"))
    await silent.head("a request for a stream")
    silent.stop_reading()
    _, listeners = await clients.metrics()
    user, connection = "x" * 60, await clients.connect()
    place = {"user": user, "lat": -52.123456789012345, "lon": -113.12345678901234, "sentAt": 2**53 - 1}
    for number in range(0, FLOOD, BATCH):
        body = body_of({**place, "seq": 2**52 + number}).encode()
        connection.write(connection.request("PUT", f"/groups/{group}/positions/{user}", body, JSON) * BATCH)
        for _ in range(BATCH):
            require(204, await connection.answer("a position"), "a position")
        if (await clients.metrics())[1] < listeners:
            return
    raise Mismatch("the end of a client that does not read", f"a listener after {FLOOD:,} positions")
