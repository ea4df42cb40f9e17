"""The clients of one running server that declares its requests: each has a connection of its own."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from pushbench.conformance.connection import Connection
from pushbench.conformance.declared_reader import PER_CLIENT, Kind, Meaning, Reader, Values
from pushbench.conformance.events import Event, Events
from pushbench.conformance.http1 import MOST_BODY, Field
from pushbench.conformance.rule import Mismatch, NotAsked, escaped
from pushbench.conformance.target import Declared, Target
from pushbench.conformance.together import together
from pushbench.machine.resources import Usage

PROMPT = 5.0
"""Seconds until an answer begins, and for each part of one that has begun: a stream may be as slow as speech."""
MOST_EVENT = 64 << 10
"""Bytes of an event."""
CLIENTS, EACH = 16, 3
"""Clients that send requests at the same time, and requests of each, for the rules about answers."""


@dataclass
class Answer:
    """The answer to one request."""

    name: str
    """of the request"""
    status: int = 0
    numbers: list[int | None] = field(default_factory=list)
    """of its receipts, in order of arrival; None if it has no number"""
    altered: list[str] = field(default_factory=list)
    """parts of receipts that differ from the request"""
    rest: list[str] = field(default_factory=list)
    """errors, and undeclared messages"""
    ended: bool = False
    """in the declared way"""


class Asker:
    """One client."""

    def __init__(self, connection: Connection, declared: Declared, secrets: dict[str, str], client: int) -> None:
        self.connection = connection
        self._declaration = declared.protocol.declaration
        self._own = Values(f"b-{client}", client)
        self._reader = Reader(self._declaration, secrets, self._own)
        self._asked = itertools.count()

    def send(self) -> Values:
        """Send the next request; returns its values."""
        number = next(self._asked)
        asked = Values(
            self._own.group, self._own.client, self._own.client * PER_CLIENT + number, time.time_ns() // 1000
        )
        self.connection.write(self._request(asked))
        return asked

    async def ask(self, within: float | None = None) -> Answer:
        """Send the next request, and read its whole answer. Raises Mismatch if there is none."""
        await self.connection.renew()
        asked = self.send()
        answer = await self.begin(asked, within)
        await self.finish(answer, asked)
        return answer

    async def begin(self, asked: Values, within: float | None = None) -> Answer:
        """Read the head of an answer."""
        name = f"request {asked.id % PER_CLIENT} of client {asked.client}"
        return Answer(name, (await self.connection.head(name, within)).status)

    async def finish(self, answer: Answer, asked: Values) -> None:
        request = self._declaration.request
        assert request
        if answer.status != request.status:
            body = await self._body()
            answer.rest.append(f"HTTP {answer.status} {escaped(body)}".rstrip())
        elif request.stream is None:
            self._understand(answer, (await self._body()).decode(errors="replace"), None, asked)
            answer.ended = True
        else:
            await self._stream(answer, request.stream.end, asked)

    async def _stream(self, answer: Answer, end: str, asked: Values) -> None:
        events = Events(MOST_EVENT)
        while piece := await self.connection.piece():
            for event in events.feed(piece, 0.0):
                if answer.ended and end:
                    answer.rest.append(f"{event} after the end of the stream")
                elif end and event.data == end:
                    answer.ended = True
                else:
                    self._event(answer, event, asked)
        answer.ended = answer.ended or not end

    def _event(self, answer: Answer, event: Event, asked: Values) -> None:
        if event.values("data"):
            self._understand(answer, event.data, event.id, asked)

    def _understand(self, answer: Answer, text: str, event_id: str | None, asked: Values) -> None:
        meaning: Meaning = self._reader.answer(text, asked)
        match meaning.kind:
            case Kind.DELIVERED:
                answer.numbers.append(self._reader.number(text, event_id))
                answer.altered += [meaning.altered] if meaning.altered else []
            case Kind.REFUSED:
                answer.rest.append(f"an error, {escaped(text)}")
            case Kind.FOREIGN:
                answer.rest.append(f"{escaped(text)}, which is not declared")

    async def _body(self) -> bytes:
        body = b""
        while piece := await self.connection.piece():
            body += piece
            if len(body) > MOST_BODY:
                raise Mismatch(f"a body of at most {MOST_BODY:,} bytes", "more")
        return body

    def _request(self, asked: Values) -> bytes:
        """The request as the generator writes it."""
        declaration, reader = self._declaration, self._reader
        assert declaration.request
        path, query = (
            reader.filled(part, asked, escape=lambda text: quote(text, safe=""))
            for part in (declaration.path, declaration.query)
        )
        body = reader.filled(declaration.message.send, asked).encode() if declaration.message.send else None
        headers = {
            header.name.lower(): (header.name, reader.filled(header.value, asked, escape=str))
            for header in declaration.headers
        }
        headers.setdefault("accept", ("Accept", "text/event-stream" if declaration.request.stream else "*/*"))
        if body is not None:
            kind = "application/json" if declaration.format == "json" else "text/plain; charset=utf-8"
            headers.setdefault("content-type", ("Content-Type", kind))
        fields: list[Field] = list(headers.values())
        return self.connection.request(declaration.request.method, f"{path}?{query}" if query else path, body, *fields)


class Clients:
    def __init__(self, server: str, target: Target, declared: Declared) -> None:
        self.server, self.target, self.declared = server, target, declared
        self.declaration = declared.protocol.declaration
        self._secrets = declared.protocol.secrets()
        self._numbers = itertools.count()
        self._present: list[Connection] = []
        self._traffic: list[Answer] | None = None

    @property
    def owes(self) -> int:
        """The number of receipts that an answer owes."""
        request = self.declaration.request
        return request.stream.receipts if request and request.stream else 1

    async def asker(self, *, receive_buffer: int | None = None) -> Asker:
        """A client with a new number."""
        parts = urlsplit(self.target.url)
        address = parts.hostname or "127.0.0.1", parts.port or 80
        connection = Connection(address, PROMPT, receive_buffer, plain=True)
        await connection.open()
        self._present.append(connection)
        return Asker(connection, self.declared, self._secrets, next(self._numbers))

    async def askers(self, count: int) -> list[Asker]:
        return await together(self.asker() for _ in range(count))

    def whole(self, answer: Answer) -> None:
        """Raises Mismatch unless an answer has each receipt exactly once, and ended in the declared way."""
        expected = f"{self.owes} tokens for {answer.name}" if self.owes > 1 else f"the answer to {answer.name}"
        if len(answer.numbers) != self.owes:
            raise Mismatch(expected, answer.rest[0] if answer.rest else len(answer.numbers))
        told = [number for number in answer.numbers if number is not None]
        missing = sorted(set(range(self.owes)) - set(told))
        if told and missing:
            raise Mismatch(expected, f"no token {missing[0]}")
        if not answer.ended:
            raise Mismatch(expected, "a stream without its end")

    async def traffic(self) -> list[Answer]:
        """The answers to some requests, made once; every rule about answers judges these."""
        if self._traffic is None:
            self._traffic = [
                answer for each in await together(map(_several, await self.askers(CLIENTS))) for answer in each
            ]
        return self._traffic

    def usage(self) -> Usage:
        """The server's current usage."""
        usage = self.target.tree.usage()
        if not usage:
            raise Mismatch("a running server", "its end")
        return usage

    async def dismiss(self) -> None:
        """Close all connections."""
        present, self._present = self._present, []
        for connection in present:
            connection.close()
        await asyncio.sleep(0)  # lets the transports close

    def require(self, present: object, key: str) -> None:
        """Raises NotAsked if the protocol does not declare something."""
        if not present:
            raise NotAsked(f"the protocol declares no `{key}`")


async def _several(asker: Asker) -> list[Answer]:
    return [await asker.ask() for _ in range(EACH)]
