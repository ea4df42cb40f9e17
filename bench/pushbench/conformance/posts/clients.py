"""The clients of one running server of posts: their actions, in the vocabulary of the rules."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from pushbench.catalog.failures import ServerFailed
from pushbench.conformance.connection import Connection
from pushbench.conformance.http1 import Answer
from pushbench.conformance.rule import Mismatch, escaped
from pushbench.conformance.target import Target
from pushbench.conformance.together import together
from pushbench.drivers.service import Running
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Usage

PROMPT = 5.0
"""Seconds for what a healthy server does at once, a commit to the disk included: a hundred times its usual time."""
JSON_TYPE = ("Content-Type", "application/json")
LOCATION = re.compile(r"/post/([1-9][0-9]{0,18})", re.ASCII)


@dataclass(frozen=True)
class Post:
    title: str
    content: str

    def encode(self, **more: object) -> bytes:
        """The body of a request; `more` are additional fields, or replace existing ones."""
        return json.dumps({"title": self.title, "content": self.content} | more, ensure_ascii=False).encode()


@dataclass(frozen=True)
class Farewell:
    """The end of a server with clients after SIGTERM."""

    late: Answer | Mismatch
    """the answer to a client whose request was half sent at SIGTERM"""
    idle: list[Mismatch]
    """the observations of idle connections that did not see the end of their stream"""
    newcomer_served: bool
    exit: Exit


class Clients:
    """Connections to one server. A rule opens as many as it needs; all are closed at its end."""

    def __init__(self, server: str, target: Target) -> None:
        self.server, self.target = server, target
        self._numbers = itertools.count(1)
        self._present: list[Connection] = []
        self._farewell: Farewell | None = None

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.target.url)
        return parts.hostname or "127.0.0.1", parts.port or 80

    async def connect(self, receive_buffer: int | None = None) -> Connection:
        connection = Connection(self.address, PROMPT, receive_buffer)
        await connection.open()
        self._present.append(connection)
        return connection

    async def connections(self, count: int) -> list[Connection]:
        return await together(self.connect() for _ in range(count))

    async def dismiss(self) -> None:
        """Close all connections."""
        present, self._present = self._present, []
        for connection in present:
            connection.close()

    # Posts

    def post(self, size: int = 40) -> Post:
        """A post that differs from those of all other rules."""
        number = next(self._numbers)
        return Post(f"post {number}", f"what client {number} wrote".ljust(size, "."))

    async def create(self, connection: Connection, post: Post, within: float | None = None) -> int:
        """The number of the new post. Raises Mismatch unless it was created."""
        return created(await connection.ask("POST", "/post", post.encode(), JSON_TYPE, within=within))

    async def read(self, connection: Connection, no: int, within: float | None = None) -> Post:
        """The post with a number. Raises Mismatch unless the answer is exactly that."""
        answer = await connection.ask("GET", f"/post/{no}", within=within)
        if answer.status != 200:
            raise Mismatch(f"status 200 for /post/{no}", answer)
        match answer.json():
            case {"no": int(found), "title": str(title), "content": str(content), **rest} if found == no and not rest:
                return Post(title, content)
        raise Mismatch(f'{{"no":{no},"title":...,"content":...}}', escaped(answer.body))

    async def has(self, connection: Connection, no: int, post: Post) -> None:
        """Raises Mismatch unless the number belongs to this post."""
        found = await self.read(connection, no)
        if found != post:
            raise Mismatch(f"post {no} as it was sent: {difference(post, found)}", difference(found, post))

    # The server's usage

    def usage(self) -> Usage:
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

    # The database, without the server

    @property
    def database(self) -> Running:
        for service in self.target.services:
            if service.name == "mysql":
                return service
        raise Mismatch("a server that needs the service mysql", "a server.yml that does not say so")

    async def rows(self, *numbers: int) -> dict[int, Post]:
        """The posts with these numbers in the table."""
        wanted = ",".join(map(str, numbers)) or "0"
        question = f"SELECT no, HEX(title), HEX(content) FROM post WHERE no IN ({wanted})"  # noqa: S608 - numbers
        lines = (await self._ask(question)).splitlines()
        fields = (line.split("\t") for line in lines)
        return {int(no): Post(_unhex(title), _unhex(content)) for no, title, content in fields}

    async def count(self) -> int:
        """The number of posts in the table."""
        return int(await self._ask("SELECT COUNT(*) FROM post"))

    async def database_connections(self) -> int:
        """The number of the server's connections to the database."""
        connections = f"information_schema.processlist WHERE user = '{self._user}'"
        return int(await self._ask(f"SELECT COUNT(*) FROM {connections}"))  # noqa: S608 - ours

    @property
    def _user(self) -> str:
        return urlsplit(self.database.url).username or ""

    async def _ask(self, question: str) -> str:
        try:
            return await asyncio.to_thread(self.database.ask, question)
        except ServerFailed as failed:
            raise Mismatch("an answer of the database", failed.failure.message) from None

    # The end

    async def farewell(self) -> Farewell:
        """End the server once; every rule about its end judges this one end."""
        if not self._farewell:
            self._farewell = await self._end()
        return self._farewell

    async def _end(self) -> Farewell:
        idle = await self.connections(10)
        for connection in idle:
            await connection.ask("GET", "/healthz")
        late, silent = await self.connections(2)
        request = late.request("POST", "/post", self.post().encode(), JSON_TYPE)
        for connection in (late, silent):  # the silent one never sends the rest
            connection.write(request[:-5])
        await asyncio.sleep(0.1)  # so that the server has read it
        began = time.monotonic()
        ending = asyncio.create_task(asyncio.to_thread(self.target.terminate, 8.0))
        await asyncio.sleep(0.3)
        late.write(request[-5:])
        try:
            said: Answer | Mismatch = await late.answer("a request that was half sent at SIGTERM", within=EXIT_PATIENCE)
        except Mismatch as mismatch:
            said = mismatch
        newcomer_served = await self._newcomer_is_served()
        ends = [await _fault(connection, began + EXIT_PATIENCE - time.monotonic()) for connection in idle]
        return Farewell(said, [fault for fault in ends if fault], newcomer_served, await ending)

    async def _newcomer_is_served(self) -> bool:
        try:
            connection = await self.connect()
            await connection.ask("GET", "/healthz", within=1)
        except (OSError, Mismatch):
            return False
        return True


EXIT_PATIENCE = 8.0


async def _fault(connection: Connection, within: float) -> Mismatch | None:
    try:
        await connection.is_ended("SIGTERM", max(within, 0.1))
    except Mismatch as mismatch:
        return mismatch
    return None


def created(answer: Answer) -> int:
    """The number in the answer for a new post. Raises Mismatch unless it is such an answer."""
    if answer.status != 201:
        raise Mismatch("status 201", answer)
    location = answer.head.value("location")
    matched = LOCATION.fullmatch(location)
    if not matched:
        raise Mismatch("Location: /post/{no}", escaped(location or "none"))
    if answer.body:
        raise Mismatch("no body with 201", escaped(answer.body))
    return int(matched[1])


def refused(answer: Answer, status: int, what: str) -> None:
    """Raises Mismatch unless the answer has this status and {"error": "..."}."""
    if answer.status != status:
        raise Mismatch(f"status {status} for {what}", answer)
    match answer.json():
        case {"error": str(reason)} if reason.strip():
            return
    raise Mismatch(f'{{"error":"..."}} for {what}', escaped(answer.body))


def difference(post: Post, other: Post) -> str:
    """Where a post differs from another one."""
    name, text, rest = next(
        (
            (name, getattr(post, name), getattr(other, name))
            for name in ("title", "content")
            if getattr(post, name) != getattr(other, name)
        ),
        ("content", "", ""),
    )
    at = next((i for i, (a, b) in enumerate(zip(text, rest, strict=False)) if a != b), min(len(text), len(rest)))
    start = max(0, at - 20)
    return f"{name} of {len(text)} characters with {escaped(text[start : at + 20])} at {start}"


async def collected(found: Callable[[], object], within: float, pause: float = 0.02) -> bool:
    """Whether the condition becomes true in time."""
    deadline = time.monotonic() + within
    while not found():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(pause)
    return True


def _unhex(text: str) -> str:
    return bytes.fromhex(text).decode()
