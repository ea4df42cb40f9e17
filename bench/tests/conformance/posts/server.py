"""A server of posts that keeps every rule, or breaks those that its faults are about.

It shows that each rule can fail, and that none fails without a reason. Every fault is an `if` beside what it spoils.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import struct
from typing import Any, NamedTuple

from tests.conformance.posts.table import Away, Table

BODY_MOST = 65_536
TITLE_MOST, CONTENT_MOST = 200, 10_000
CROWD = 25
"""Open connections from which some faults show, so that only a crowd sees them."""
STOP_SECONDS, LINGER_SECONDS = 0.6, 6.0


class Bad(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, reason: str, *, ends: bool = False) -> None:
        super().__init__(reason)
        self.status, self.reason, self.ends = status, reason, ends


class Request(NamedTuple):
    method: str
    path: str
    fields: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    status: int
    body: bytes = b""
    fields: tuple[tuple[str, str], ...] = ()


class Server:
    """Started by `start`; `faults` name what it does wrong."""

    def __init__(self, name: str, faults: frozenset[str]) -> None:
        self.name, self.faults, self.table = name, faults, Table(faults)
        self.printed = 0
        self.port = 0
        self.connections: dict[asyncio.StreamWriter, bool] = {}
        """whether a request has begun"""
        self._listener: asyncio.Server
        self._bodies = asyncio.Semaphore(20 if "twenty-bodies" in faults else 10_000)
        self._pool = asyncio.Semaphore(10)
        self._waiting = 0
        self._crowded = 0
        self._kept: list[socket.socket] = []
        self._stopping = False

    # Its life

    async def start(self) -> None:
        # asyncio turns Nagle's algorithm off only where the protocol is named.
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
        sock.bind(("127.0.0.1", 0))
        self.port = sock.getsockname()[1]
        self._listener = await asyncio.start_server(self._serve, sock=sock, backlog=500, limit=1 << 20)

    async def stop(self) -> int:
        """The exit code."""
        self._stopping = True
        if "serves-to-the-end" not in self.faults:
            self._listener.close()
        for writer, busy in list(self.connections.items()):
            if "resets-at-the-end" in self.faults and not busy:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            elif not busy or "drops-requests" in self.faults:
                writer.close()
        await asyncio.sleep(LINGER_SECONDS if "lingers" in self.faults else STOP_SECONDS)
        self.kill()
        return 1 if "exits-with-1" in self.faults else 0

    def kill(self) -> None:
        self._listener.close()
        for writer in list(self.connections):
            writer.transport.abort()
        for kept in self._kept:
            kept.close()

    @property
    def queued_bytes(self) -> int:
        """What waits for clients that do not read."""
        return sum(writer.transport.get_write_buffer_size() for writer in self.connections)

    # Its connections

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections[writer] = False
        sock = writer.get_extra_info("socket")
        if "nagles" in self.faults:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        try:
            while await self._exchange(reader, writer):
                self.connections[writer] = False
                if self._stopping and "serves-to-the-end" not in self.faults:
                    break
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            if "leaks-sockets" in self.faults and isinstance(error, ConnectionError):
                self._kept.append(socket.socket())
        finally:
            del self.connections[writer]
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request. Returns whether the connection stays."""
        ends = False
        waited = bool(reader._buffer)  # type: ignore[attr-defined]
        try:
            request = await self._read(reader, writer)
            if request is None:
                return False
            ends = request.fields.get("connection") == "close"
            answer = await self._answer(request)
        except Bad as bad:
            request, ends = None, ends or bad.ends
            answer = self._refusal(bad.status, bad.reason)
        if "logs-requests" in self.faults:
            self.printed += 60
        octets = self._encode(answer, request, ends)
        if request and "answers-backwards" in self.faults and (next_one := await self._one_that_waits(reader, writer)):
            octets = self._encode(await self._answer(next_one), next_one, ends=False) + octets
        writer.write(octets)
        if "buffers-answers" in self.faults:
            await asyncio.sleep(0)
        else:
            await writer.drain()
        if "stops-reading" in self.faults and waited and request and request.path == "/healthz":
            await reader.read()
        return not ends or "ignores-close" in self.faults

    async def _one_that_waits(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
        waits = reader._buffer  # type: ignore[attr-defined]
        return await self._read(reader, writer) if waits else None

    def _encode(self, answer: Answer, request: Request | None, ends: bool) -> bytes:
        fields, body = list(answer.fields), answer.body
        if body:
            fields.append(("Content-Type", "application/json"))
        if "compresses" in self.faults and request and "gzip" in request.fields.get("accept-encoding", ""):
            body = gzip.compress(body)
            fields.append(("Content-Encoding", "gzip"))
        fields.append(("Content-Length", str(len(body))))
        if ends:
            fields.append(("Connection", "close"))
        lines = [f"HTTP/1.1 {answer.status} Whatever", *(f"{name}: {value}" for name, value in fields)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + body

    # What it reads

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
        """None at the end of the stream."""
        first = await reader.read(1)
        if not first:
            return None
        self.connections[writer] = True
        head = (first + await reader.readuntil(b"\r\n\r\n"))[:-4].decode("latin-1").split("\r\n")
        started = re.fullmatch(r"([A-Z]+) (/\S*) HTTP/1\.1", head[0])
        matched = [re.fullmatch(r"([A-Za-z-]+): *(.*)", line) for line in head[1:]]
        fields = [(each[1].lower(), each[2]) for each in matched if each]
        if not started or len(fields) < len(matched) or len({name for name, _ in fields}) < len(fields):
            raise self._broken()
        found = dict(fields)
        async with self._bodies:
            body = await self._body(reader, found)
        return Request(started[1], started[2], found, body)

    async def _body(self, reader: asyncio.StreamReader, fields: dict[str, str]) -> bytes:
        limit = BODY_MOST - ("limits-one-less" in self.faults)
        if "transfer-encoding" in fields:
            body = b""
            while size := await self._chunk_size(reader):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readuntil(b"\r\n")
            if len(body) > limit and "chunks-have-no-limit" not in self.faults:
                raise Bad(413, "too large", ends=True)
            return body
        length = fields.get("content-length", "0")
        if not re.fullmatch(r"[0-9]+", length):
            raise self._broken()
        if int(length) > limit and "limits-nothing" not in self.faults:
            await reader.readexactly(int(length))
            raise Bad(413, "too large", ends=True)
        return await reader.readexactly(int(length))

    async def _chunk_size(self, reader: asyncio.StreamReader) -> int:
        line = (await reader.readuntil(b"\r\n"))[:-2].decode("latin-1")
        pattern = r"[0-9a-f]+" if "lower-case-chunks" in self.faults else r"[0-9A-Fa-f]+"
        if not re.fullmatch(pattern, line):
            raise self._broken()
        return int(line, 16)

    def _broken(self) -> Bad:
        if "dies-of-broken-requests" in self.faults:
            self.kill()
        return Bad(400, "no request", ends=True)

    # What it answers

    async def _answer(self, request: Request) -> Answer:
        allowed = self._allowed(request.path)
        if allowed is None:
            if "any-path" in self.faults:
                return Answer(200, b"{}")
            raise Bad(404, "not found")
        if request.method != allowed:
            fields = () if "no-allow" in self.faults else (("Allow", allowed),)
            return self._refusal(405, "method not allowed")._replace(fields=fields)
        match request.path:
            case "/healthz":
                name = "" if "healthz-is-anonymous" in self.faults else self.name
                return _json({"server": name, "runtime": "Python", "framework": "asyncio"})
            case "/metricz":
                return self._metrics()
            case "/post":
                return await self._create(request)
            case "/actuator":
                return _json({"status": "UP"})
        return self._find(request.path.removeprefix("/post/"))

    def _allowed(self, path: str) -> str | None:
        if path in ("/healthz", "/metricz") or re.fullmatch(r"/post/[^/]+", path):
            return "GET"
        if path == "/actuator" and "serves-more" in self.faults:
            return "GET"
        return "POST" if path == "/post" else None

    def _metrics(self) -> Answer:
        idle = "seems-idle" in self.faults
        return _json(
            {
                "pool_size": 20 if "pool-of-twenty" in self.faults else 10,
                "pool_active": 0 if idle else self.table.active,
                "pool_waiting": 1 if "waits-for-ever" in self.faults else self._waiting,
                "threads": None,
            }
        )

    async def _create(self, request: Request) -> Answer:
        said = request.fields.get("content-type", "").lower()
        kind = said if "exact-types" in self.faults else said.partition(";")[0]
        if kind != "application/json" and not ("takes-forms" in self.faults and "form" in kind):
            raise Bad(415, "no JSON")
        try:
            post = self._parsed(request.body)
        except Bad:
            if "keeps-refused" in self.faults:
                self.table.insert("", "")
            raise
        title, content = post["title"], post["content"]
        if "drops-controls" in self.faults:
            content = content.replace("\x0b", "")
        try:
            no = await self._insert(title, content, post)
        except Away:
            if "outage-is-500" in self.faults:
                raise Bad(500, "broken") from None
            raise Bad(503, "the database does not answer") from None
        if "answers-200" in self.faults:
            return Answer(200)
        body = b"{}" if "created-has-a-body" in self.faults else b""
        host = "http://x" if "absolute-locations" in self.faults else ""
        return Answer(201, body, (("Location", f"{host}/post/{no}"),))

    async def _insert(self, title: str, content: str, post: dict[str, Any]) -> int:
        if "same-post-once" in self.faults:
            for no, row in self.table.rows.items():
                if row == (title, content):
                    return no
        said = post.get("no")
        if "takes-numbers" in self.faults and said:
            return int(said)
        crowded = len(self.connections) > CROWD
        self._crowded += crowded
        fiftieth = crowded and self._crowded % 50 == 0
        if "loses-in-crowds" in self.faults and fiftieth:
            self.table.numbers += 1
            return self.table.numbers
        if "mixes-in-crowds" in self.faults and fiftieth:
            content = self.table.rows[self.table.numbers][1]
        if "doubles-in-crowds" in self.faults and crowded:
            self.table.insert(title, content)
        self._waiting += 1
        async with self._pool:
            self._waiting -= 1
            self.table.active += 1
            self._connect()
            await asyncio.sleep(0.001)
            self.table.active -= 1
            return self.table.insert(title, content)

    def _connect(self) -> None:
        """As a pool does: it grows with what is asked at once, and stays."""
        grown = max(self.table.connections, self.table.active)
        if "one-connection" in self.faults:
            grown = 1
        if "fifty-connections" in self.faults:
            grown = 50
        self.table.connections = grown

    def _find(self, text: str) -> Answer:
        if "crashes-of-words" in self.faults and text == "x":
            raise Bad(500, "broken")
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise Bad(404, "not found")
        try:
            found = self.table.find(int(text))
        except Away:
            raise Bad(503, "the database does not answer") from None
        if found is None:
            raise Bad(404, "not found")
        more = {"id": int(text)} if "adds-a-field" in self.faults else {}
        return _json({"no": int(text), "title": found[0], "content": found[1]} | more)

    def _parsed(self, body: bytes) -> dict[str, Any]:
        def constant(_: str) -> object:
            raise ValueError

        try:
            post = json.loads(body.decode(), parse_constant=constant, parse_int=float)
            json.dumps(post, ensure_ascii=False).encode()
        except ValueError:
            raise Bad(400, "no JSON") from None
        except RecursionError:
            if "dies-of-deep-json" in self.faults:
                self.kill()
            raise Bad(400, "too deep") from None
        if not isinstance(post, dict):
            raise Bad(400, "no object")
        for name, most in (("title", TITLE_MOST), ("content", CONTENT_MOST)):
            if not self._is_text(post.get(name), most):
                raise Bad(400, f"no {name}")
        return post

    def _is_text(self, value: object, most: int) -> bool:
        if not isinstance(value, str) or not value:
            return False
        if "long-titles" in self.faults and most == TITLE_MOST:
            most += 1
        return (len(value.encode("utf-16-le")) // 2 if "counts-units" in self.faults else len(value)) <= most

    def _refusal(self, status: int, reason: str) -> Answer:
        return Answer(status, reason.encode()) if "plain-errors" in self.faults else _json({"error": reason}, status)


def _json(said: object, status: int = 200) -> Answer:
    return Answer(status, json.dumps(said, ensure_ascii=False).encode())
