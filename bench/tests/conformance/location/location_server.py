"""A server of positions over HTTP that keeps every rule, or breaks those that its faults are about.

It shows that each rule can fail, and that none fails without a reason. Every fault is an `if` beside what it spoils.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import Collection
from urllib.parse import parse_qs, unquote, urlsplit

from tests.conformance.location.fleet import ID, Fleet, Position, Refused, news, version_of

MOST_BODY = 65_536
QUEUED_MOST = 1 << 20
JSON = "Content-Type: application/json\r\n"


class HTTPServer:
    """Serves in the loop in which it is started."""

    def __init__(self, name: str, faults: Collection[str]) -> None:
        self.name, self.faults, self.fleet = name, faults, Fleet(faults)
        self.printed = 0
        self._sessions: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._busy: set[asyncio.Task[None] | None] = set()
        self._ended = asyncio.Event()
        self._server: asyncio.Server

    async def start(self) -> int:
        """Listen, and return the port."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
        listener.bind(("127.0.0.1", 0))
        self._server = await asyncio.start_server(self._connected, sock=listener, limit=1 << 20, backlog=1000)
        return int(listener.getsockname()[1])

    async def stop(self) -> None:
        stays = "accepts-to-the-end" in self.faults
        if not stays:
            self._server.close()
        if "cuts-at-the-end" in self.faults:
            for writer in self._sessions.values():
                writer.transport.abort()
        self._ended.set()
        for task in set(self._sessions) - self._busy:
            task.cancel()
        if stays:
            await asyncio.sleep(0.2)
            self._server.close()
        await asyncio.gather(*self._sessions, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._sessions[task] = writer
        with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError, ValueError):
            await self._converse(reader, writer)
        del self._sessions[task]
        writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served = 0
        while not self._ended.is_set() or "accepts-to-the-end" in self.faults:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            self._busy.add(asyncio.current_task())
            try:
                body = await self._body(reader, fields)
                await self._respond(method, target, fields, body, reader, writer)
            except Refused as refused:
                self._refuse(refused, writer)
            finally:
                self._busy.discard(asyncio.current_task())
            await writer.drain()
            if "logs-requests" in self.faults:
                self.printed += 20
            served += 1
            if "hundred-requests" in self.faults and served == 100:
                return

    async def _body(self, reader: asyncio.StreamReader, fields: dict[str, str]) -> bytes:
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        if "transfer-encoding" in fields:
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        most = MOST_BODY - ("limits-one-less" in self.faults)
        if len(body) > most and "limits-nothing" not in self.faults:
            raise Refused(413)
        return body

    async def _respond(
        self,
        method: str,
        target: str,
        fields: dict[str, str],
        body: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        parts = urlsplit(target)
        query = parse_qs(parts.query, keep_blank_values=True)
        if ("%" in parts.path and len(parts.path) < 3) or "%00" in parts.path:
            raise Refused(400)
        match [unquote(part) for part in parts.path.split("/")[1:]]:
            case ["healthz"]:
                self._only(method, "GET")
                framework = "" if "healthz-is-anonymous" in self.faults else "asyncio"
                self._answer(writer, {"server": self.name, "runtime": "Python", "framework": framework})
            case ["metricz"]:
                self._only(method, "GET")
                groups = 1 if "counts-one-group" in self.faults else len(self.fleet.groups)
                listeners = self.fleet.listeners
                self._answer(writer, {"groups": groups, "listeners": listeners})
            case ["groups", group, "positions", user]:
                self._only(method, "PUT")
                kind = fields.get("content-type", "").partition(";")[0]
                if kind != "application/json" and "takes-any-type" not in self.faults:
                    raise Refused(415)
                self.fleet.put(group, user, body)
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            case ["groups", group, "positions"]:
                self._only(method, "GET")
                await self._poll(group, self._user(query), query, writer)
            case ["groups", group, "events"]:
                self._only(method, "GET")
                await self._stream(group, self._user(query), fields.get("last-event-id"), reader, writer)
            case ["nothing-here"] if "any-path" in self.faults:
                self._answer(writer, {})
            case ["error"] if "serves-more" in self.faults:
                self._answer(writer, {})
            case _:
                raise Refused(404)

    def _only(self, method: str, right: str) -> None:
        if method != right and "any-method" not in self.faults:
            raise Refused(405, "" if "allows-nothing" in self.faults else f"Allow: {right}\r\n")

    def _user(self, query: dict[str, list[str]]) -> str:
        user = query.get("user", [""])[0]
        if not ID.fullmatch(user) and "forgives-ids" not in self.faults and "forgives-users" not in self.faults:
            raise Refused(400)
        return user

    async def _poll(self, group: str, user: str, query: dict[str, list[str]], writer: asyncio.StreamWriter) -> None:
        since = version_of(query["since"][0], self.faults) if "since" in query else None
        wait = self._wait(query["wait"][0]) if "wait" in query else 0
        if "answers-polls-late" in self.faults:
            await asyncio.sleep(0.6)
        version, positions = self.fleet.since(group, user, since or 0)
        known = (since is not None and since <= version) or "holds-first-polls" in self.faults
        if wait and known and (not positions or "holds-all" in self.faults):
            await self._held(group, user, wait)
            version, positions = self.fleet.since(group, user, since or 0)
        caching = "" if "may-be-stored" in self.faults else "Cache-Control: no-store\r\n"
        self._write(writer, "200 OK", JSON + caching, news(version, positions))

    def _wait(self, text: str) -> int:
        if not text.isdigit() or not 1 <= int(text) <= 25:
            if "forgives-wait" in self.faults:
                return 1
            raise Refused(400)
        return int(text)

    async def _held(self, group: str, user: str, wait: int) -> None:
        if "holds-nothing" in self.faults:
            return
        came, key = asyncio.Event(), object()
        woken = "" if "own-positions-wake" in self.faults else user
        listeners = self.fleet.group(group).listeners
        listeners[key] = (woken, lambda _, __: came.set())
        waiting = [asyncio.ensure_future(event.wait()) for event in (came, self._ended)]
        await asyncio.wait(waiting, timeout=wait, return_when="FIRST_COMPLETED")
        for each in waiting:
            each.cancel()
        del listeners[key]
        if "wakes-late" in self.faults and came.is_set():
            await asyncio.sleep(2.5)

    async def _stream(
        self, group: str, user: str, last: str | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        since = 0 if last is None else version_of(last, self.faults)
        version, positions = self.fleet.since(group, user, 0 if "starts-anew" in self.faults else since)
        kind = "text/plain" if "is-plain-text" in self.faults else "text/event-stream"
        fields = f"Content-Type: {kind}\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n"
        writer.write(f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode())
        left, key, name = asyncio.Event(), object(), "event: news\n" if "names-events" in self.faults else ""

        def tell(version: int, positions: list[Position]) -> None:
            if writer.transport.get_write_buffer_size() > QUEUED_MOST and "queues-all" not in self.faults:
                writer.transport.abort()
                left.set()
                return
            number = version + ("ids-are-others" in self.faults)
            text = f"{name}id: {number}\ndata: {news(version, positions)}\n\n".encode()
            writer.write(b"%x\r\n%b\r\n" % (len(text), text))

        tell(version, positions)
        listeners = self.fleet.group(group).listeners
        listeners[key] = (user, tell)
        gone = asyncio.ensure_future(reader.read())
        waiting = [gone, *(asyncio.ensure_future(event.wait()) for event in (left, self._ended))]
        await asyncio.wait(waiting, return_when="FIRST_COMPLETED")
        for each in waiting:
            each.cancel()
        if "keeps-listeners" not in self.faults:
            del listeners[key]
        if "resets-streams" not in self.faults:
            writer.write(b"0\r\n\r\n")
        await asyncio.gather(*waiting, return_exceptions=True)

    def _answer(self, writer: asyncio.StreamWriter, body: object) -> None:
        self._write(writer, "200 OK", JSON, json.dumps(body))

    def _refuse(self, refused: Refused, writer: asyncio.StreamWriter) -> None:
        status = 422 if refused.status == 400 and "refuses-with-422" in self.faults else refused.status
        kind = "Content-Type: text/plain\r\n" if "errors-are-text" in self.faults else JSON
        self._write(writer, f"{status} Refused", refused.fields + kind, json.dumps({"error": "refused"}))

    def _write(self, writer: asyncio.StreamWriter, status: str, fields: str, body: str) -> None:
        writer.write(f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\n\r\n{body}".encode())
