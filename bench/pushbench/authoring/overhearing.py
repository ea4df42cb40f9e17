"""A proxy on this machine that records conversations between clients and a server. The only module that listens."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import h11

from pushbench.authoring.overheard import Conversation, chosen_headers, most_asked
from pushbench.authoring.unpacking import Body, Messages, Stream, Unpacking
from pushbench.catalog.addresses import is_secure
from pushbench.foundation.errors import UserError

CLIENTS = 2
"""whose conversations over WebSocket are enough for a draft"""
REQUESTS = 3
"""of one kind that are enough for a draft: two that differ by chance are less reliable"""
HOST = "127.0.0.1"
MOST_KEPT = 10_000
"""messages of a conversation; later ones are only forwarded"""
MOST_OCTETS = 16 << 20
"""that are kept of all conversations; a draft of them needs many times as much memory"""
OWN_OCTETS = 200
"""overhead of each recorded item, in addition to its text"""
MOST_CONNECTIONS = 64
"""at once: a browser opens six for the requests of a page"""
CHUNK = 1 << 16
MOST_BESIDE = CHUNK
"""bytes that a client may send while the answer to its request is still arriving"""
PATIENCE_SECONDS = 1.0
"""for data that a client no longer reads"""
NOT_PASSED = (
    b"host",
    b"accept-encoding",
    b"sec-websocket-extensions",
    b"expect",
    b"if-none-match",
    b"if-modified-since",
)
"""Headers that would make the server compress or omit its answers. `Host` is replaced by the server's."""

Note = Callable[[str], None]
Headers = list[tuple[bytes, bytes]]


class _Side:
    """The connection to a client, or the connection to the server."""

    def __init__(
        self, role: type[h11.CLIENT] | type[h11.SERVER], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.http = h11.Connection(role)
        self.reader, self._writer = reader, writer

    async def event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The peer's next event. Raises h11.RemoteProtocolError if it is not HTTP."""
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(await self.reader.read(CHUNK))
        return event

    async def say(self, event: h11.Event) -> None:
        await self.write(self.http.send(event) or b"")

    async def write(self, octets: bytes) -> None:
        self._writer.write(octets)
        await self._writer.drain()

    async def leaves(self) -> None:
        """Returns when the peer has closed its connection. Data received before that is kept for later.

        Raises ConnectionError if there is too much to keep.
        """
        beside = 0
        while octets := await self.reader.read(CHUNK):
            beside += len(octets)
            if beside > MOST_BESIDE:
                raise ConnectionError(f"the client sent more than {MOST_BESIDE:,} bytes before its answer had ended")
            self.http.receive_data(octets)

    async def close(self) -> None:
        """Close the connection once the peer has received the written data, or does not read it."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await asyncio.wait_for(self._writer.wait_closed(), PATIENCE_SECONDS)


class Proxy:
    """Forwards everything between clients and the server at `to`, and records what a draft needs.

    It records WebSocket conversations if `to` begins with ws, otherwise requests.
    """

    def __init__(self, to: str, note: Note, authorities: Path | None = None) -> None:
        """`authorities` is a file of certificates that replace the system's trusted ones."""
        self._to, self._url, self._note = to, urlsplit(to), note
        self._trusted = ssl.create_default_context(cafile=authorities) if is_secure(to) else None
        self.scheme = "ws" if self._url.scheme in ("ws", "wss") else "http"
        self._talks: list[Conversation] = []
        self._open: set[asyncio.Task[None]] = set()
        self._octets = 0
        self.ended = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached, so that nothing more is recorded."""
        return self._octets > MOST_OCTETS

    @property
    def heard(self) -> list[Conversation]:
        """The conversations for a draft, as far as they have ended."""
        ended = [each for each in self._talks if each.ended]
        if self.scheme == "http":
            return most_asked(ended)
        return [each for each in ended if each.over == "websocket"]

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client's connection, unless there are too many."""
        if len(self._open) >= MOST_CONNECTIONS:
            self._note(f"a connection is refused: there are {MOST_CONNECTIONS} already")
            writer.close()
            return
        task = asyncio.create_task(self._serve(_Side(h11.SERVER, reader, writer)))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def leave(self) -> None:
        """Close all connections."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, client: _Side) -> None:
        server = None
        try:
            while isinstance(asked := await client.event(), h11.Request):
                server = server or await self._connect()
                talk = self._conversation(asked)
                try:
                    await self._exchange(talk, asked, client, server)
                finally:
                    self._end(talk)
                if not client.http.our_state is server.http.our_state is server.http.their_state is h11.DONE:
                    break
                client.http.start_next_cycle()
                server.http.start_next_cycle()
        except (OSError, h11.ProtocolError) as error:
            self._note(f"a connection ends: {error}")
        finally:
            for side in (client, server):
                if side:
                    await side.close()

    async def _connect(self) -> _Side:
        port = self._url.port or (443 if self._trusted else 80)
        try:
            reader, writer = await asyncio.open_connection(self._url.hostname, port, ssl=self._trusted)
        except ssl.SSLCertVerificationError as error:
            why = f"its certificate is not trusted, {error.verify_message}; --ca FILE trusts another authority"
            raise ConnectionError(f"{self._to} cannot be reached: {why}") from None
        except OSError as error:
            raise ConnectionError(f"{self._to} cannot be reached: {error}") from None
        return _Side(h11.CLIENT, reader, writer)

    def _conversation(self, asked: h11.Request) -> Conversation:
        pairs = ((name.decode(), value.decode("latin-1")) for name, value in asked.headers.raw_items())
        headers, secret = chosen_headers(pairs)
        method, path = asked.method.decode(), asked.target.decode()
        self._count(path, *headers, *headers.values(), *secret)
        return Conversation(path, "http", method, 0, headers=headers, secret_headers=secret)

    async def _exchange(self, talk: Conversation, asked: h11.Request, client: _Side, server: _Side) -> None:
        await server.say(self._directed(asked))
        if client.http.they_are_waiting_for_100_continue:
            await client.say(h11.InformationalResponse(status_code=100, headers=Headers()))
        await self._body(talk, client, server, Body(sent=True))
        ways = [asyncio.create_task(self._answer(talk, client, server)), asyncio.create_task(client.leaves())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)
            talk.cut = talk.cut or ways[0].cancelled() or ways[0].exception() is not None
        ended = ways[1] if ways[0].cancelled() else ways[0]
        ended.result()
        if talk.over == "websocket":
            await self._relay(talk, client, server)

    def _directed(self, asked: h11.Request) -> h11.Request:
        """The request as it is forwarded to the server."""
        headers = [(name, value) for name, value in asked.headers.raw_items() if name.lower() not in NOT_PASSED]
        if [value.lower() for name, value in asked.headers if name == b"upgrade"] != [b"websocket"]:
            headers = [(name, value) for name, value in headers if name.lower() != b"upgrade"]
        headers.append((b"Host", self._url.netloc.encode()))
        return h11.Request(method=asked.method, target=self._url.path.encode() + asked.target, headers=headers)

    async def _answer(self, talk: Conversation, client: _Side, server: _Side) -> None:
        """Forward an answer to its end, or up to the switch to WebSocket."""
        event = await server.event()
        while isinstance(event, h11.InformationalResponse) and event.status_code != 101:
            await client.say(event)
            event = await server.event()
        if not isinstance(event, h11.Response | h11.InformationalResponse):
            raise ConnectionError("the server closed the connection without an answer")
        headers = {name: value.decode("latin-1") for name, value in event.headers}
        talk.status = event.status_code
        if isinstance(event, h11.InformationalResponse):
            talk.over, talk.subprotocol = "websocket", headers.get(b"sec-websocket-protocol")
        elif headers.get(b"content-type", "").partition(";")[0].strip().lower() == "text/event-stream":
            talk.over = "sse"
        self._talks.append(talk)
        await client.say(event)
        if talk.over != "websocket":
            await self._body(talk, server, client, Stream() if talk.over == "sse" else Body(sent=False))

    async def _body(self, talk: Conversation, source: _Side, target: _Side, unpacking: Unpacking) -> None:
        while isinstance(event := await source.event(), h11.Data):
            self._keep(talk, unpacking, bytes(event.data))
            await target.say(event)
        self._keep(talk, unpacking, b"")
        assert isinstance(event, h11.EndOfMessage)
        await target.say(event)

    async def _relay(self, talk: Conversation, client: _Side, server: _Side) -> None:
        """Forward WebSocket data until one side leaves."""
        self._note(f"client {self._number(talk)} has connected")
        ways = [
            asyncio.create_task(self._pass(talk, client, server, Messages(sent=True))),
            asyncio.create_task(self._pass(talk, server, client, Messages(sent=False))),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass(self, talk: Conversation, source: _Side, target: _Side, unpacking: Unpacking) -> None:
        octets, _ = source.http.trailing_data
        while octets or (octets := await source.reader.read(CHUNK)):
            self._keep(talk, unpacking, octets)
            await target.write(octets)
            octets = b""

    def _end(self, talk: Conversation) -> None:
        talk.ended = True
        if talk.over == "websocket":
            self._note(f"client {self._number(talk)} has disconnected after {len(talk.said)} messages")
        else:
            answer = f"HTTP {talk.status}" if talk.status else "no answer"
            left = ", incomplete" if talk.cut and talk.status else ""
            self._note(f"{talk.method} {talk.path.partition('?')[0]}: {answer}{left}")
        if len(self.heard) >= (REQUESTS if self.scheme == "http" else CLIENTS):
            self.ended.set()

    def _number(self, talk: Conversation) -> int:
        """The number of a WebSocket client, in the order of their connections."""
        return [each for each in self._talks if each.over == "websocket"].index(talk)

    def _keep(self, talk: Conversation, unpacking: Unpacking, octets: bytes) -> None:
        """Record the items that these bytes complete, as far as the limits allow."""
        for said in unpacking.feed(octets, time.monotonic()):
            if len(talk.said) < MOST_KEPT and not self.is_full:
                talk.said.append(said)
                self._count(said.text or "", said.id or "")
            elif not talk.cut:
                talk.cut = True
                self._note(f"only the first {len(talk.said):,} messages of one conversation are kept")

    def _count(self, *texts: str) -> None:
        self._octets += OWN_OCTETS + sum(map(sys.getsizeof, texts))
        if self.is_full:
            self.ended.set()


async def overhear(to: str, port: int, note: Note, authorities: Path | None = None) -> list[Conversation]:
    """The conversations for a draft, once there are enough.

    Raises UserError if the port is taken, or if the conversations exceed the limits.
    """
    proxy = Proxy(to, note, authorities)
    try:
        server = await asyncio.start_server(proxy.take, HOST, port)
    except OSError as error:
        raise UserError(f"port {port} cannot be used: {error.strerror}", hint="choose another with --port") from None
    own = f"{proxy.scheme}://{HOST}:{server.sockets[0].getsockname()[1]}"
    if proxy.scheme == "http":
        note(f"send three requests of the same kind to {own}, each with different content")
    else:
        note(f"connect two clients to {own}, in one room; let each send some messages, and leave")
    try:
        await proxy.ended.wait()
    finally:
        server.close()
        await proxy.leave()
    if proxy.is_full:
        hint = "start again, with clients that send only the messages to draft"
        raise UserError(f"more than {MOST_OCTETS >> 20} MiB were exchanged before there was a draft", hint=hint)
    return proxy.heard
