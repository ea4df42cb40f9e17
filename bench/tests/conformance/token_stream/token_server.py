"""A server of token streams that keeps every rule, or breaks those that its faults are about.

It shows that each rule can fail, and that none fails without a reason. Every fault is an `if` beside what it spoils.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
from collections.abc import Collection
from dataclasses import dataclass

from pushbench.conformance.token_stream.text import LAST, TEXT
from tests.conformance.token_stream.token_text import answer, chunk, event

MOST_BODY = 65_536
JSON, EVENTS = "application/json", "text/event-stream"


class Refused(Exception):
    def __init__(self, status: int, fields: str = "") -> None:
        super().__init__(status)
        self.status, self.fields = status, fields


@dataclass(frozen=True)
class Peer:
    """A client, and how many of its requests were served."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    served: int


class Left(Exception):
    """The client has left."""


class TokenServer:
    """Serves in the loop in which it is started."""

    def __init__(self, name: str, faults: Collection[str]) -> None:
        self.name, self.faults = name, faults
        self.printed = 0
        self.hoard: list[bytes] = []
        self.spares: list[int] = []
        self._sessions: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._streaming: set[asyncio.Task[None] | None] = set()
        self._active = self._opened = self._unpaced = 0
        self._ended = asyncio.Event()
        self._turn = asyncio.Lock()
        self._server: asyncio.Server

    async def start(self) -> int:
        """Listen, and return the port."""
        # asyncio turns Nagle's algorithm off only where the protocol is named.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        self._server = await asyncio.start_server(self._connected, sock=listener, limit=1 << 20, backlog=1000)
        return int(listener.getsockname()[1])

    async def stop(self) -> None:
        accepts_to_the_end = "accepts-to-the-end" in self.faults
        if not accepts_to_the_end:
            self._server.close()
        if "cuts-streams-at-the-end" in self.faults:
            for writer in self._sessions.values():
                writer.transport.abort()
        self._ended.set()
        if accepts_to_the_end:
            await asyncio.sleep(0.1)
            self._server.close()
        present = set(self._sessions)
        for idle in present - self._streaming:
            idle.cancel()
        await asyncio.gather(*present, return_exceptions=True)
        while self.spares:
            os.close(self.spares.pop())

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._sessions[task] = writer
        spare = os.dup(writer.get_extra_info("socket").fileno())
        if "nagles" in self.faults:
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        if "hoards" in self.faults:
            self.hoard.append(bytes(1 << 20))
        reset = False
        try:
            await self._converse(reader, writer)
        except ConnectionError:
            reset = True
        except (Left, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError, ValueError):
            pass
        finally:
            del self._sessions[task]
            if reset and "leaks-sockets" in self.faults:
                self.spares.append(spare)
            else:
                os.close(spare)
            with contextlib.suppress(OSError):
                writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served = 0
        while not self._ended.is_set() or "accepts-to-the-end" in self.faults:
            one_by_one = "one-first-request-at-a-time" in self.faults and not served
            async with self._turn if one_by_one else contextlib.nullcontext():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                size = await self._body(reader, fields)
            if "logs-requests" in self.faults:
                self.printed += 20
            try:
                if size > MOST_BODY - ("limits-one-less" in self.faults):
                    raise Refused(413)
                await self._respond(method, target, fields, Peer(reader, writer, served))
            except Refused as refused:
                writer.write(self._refusal(refused))
            await writer.drain()
            served += 1
            if "hundred-requests" in self.faults and served == 100:
                return

    async def _body(self, reader: asyncio.StreamReader, fields: dict[str, str]) -> int:
        """Read a body, and return its size."""
        size = int(fields.get("content-length", "0"))
        await reader.readexactly(size)
        if "limits-nothing" in self.faults:
            return 0
        if "transfer-encoding" in fields:
            while part := int(await reader.readline(), 16):
                await reader.readexactly(part + 2)
                size += part if "limits-declared-bodies" not in self.faults else 0
            await reader.readline()
        return size

    def _refusal(self, refused: Refused) -> bytes:
        if "errors-are-text" in self.faults:
            return answer(refused.status, "text/plain", b"no", refused.fields)
        error = {} if "errors-are-empty" in self.faults else {"error": "no"}
        return answer(refused.status, JSON, json.dumps(error).encode(), refused.fields)

    async def _respond(
        self,
        method: str,
        target: str,
        fields: dict[str, str],
        peer: Peer,
    ) -> None:
        writer = peer.writer
        path, _, query = target.partition("?")
        if path == "/error" and "serves-more" in self.faults:
            writer.write(answer(200, JSON, b"{}"))
            return
        if path not in ("/stream", "/metricz", "/healthz"):
            raise Refused(200 if path == "/nothing-here" and "any-path" in self.faults else 404)
        if method != "GET" and "any-method" not in self.faults:
            raise Refused(405, "" if "allows-nothing" in self.faults else "Allow: GET\r\n")
        if path == "/healthz":
            name = "" if "healthz-is-anonymous" in self.faults else self.name
            body = json.dumps({"server": name, "runtime": "Python", "framework": "asyncio"})
            writer.write(answer(200, JSON, body.encode()))
        elif path == "/metricz":
            active = self._opened if "counts-requests" in self.faults else self._active
            writer.write(answer(200, JSON, json.dumps({"active_streams": active}).encode()))
        else:
            await self._stream(self._first(fields), self._pace(query), fields, peer)

    def _pace(self, query: str) -> int:
        name, _, text = query.partition("=")
        if name != "pace":
            return 0
        least, most = (2, 1000) if "slowest-is-2" in self.faults else (1, 1000)
        if not re.fullmatch("[0-9]{1,4}", text) or not least <= int(text) <= most:
            if "forgives-pace" in self.faults and text == "1001":
                return 1000
            raise Refused(400)
        return int(text)

    def _first(self, fields: dict[str, str]) -> int:
        last = fields.get("last-event-id")
        if last is None or "resumes-nothing" in self.faults:
            return 0
        if not re.fullmatch("[0-9]{1,3}", last) or int(last) > LAST:
            if "forgives-last-id" in self.faults and last == str(LAST + 1):
                return 0
            raise Refused(400)
        if "last-id-starts-anew" in self.faults and int(last) == LAST:
            return 0
        return int(last) if "resumes-with-the-last" in self.faults and int(last) < LAST else int(last) + 1

    async def _stream(
        self,
        first: int,
        pace: int,
        fields: dict[str, str],
        peer: Peer,
    ) -> None:
        writer = peer.writer
        extra = "Content-Encoding: gzip\r\n" if "compresses" in self.faults and "accept-encoding" in fields else ""
        kind = "text/plain" if "is-plain-text" in self.faults else EVENTS
        caching = "" if "may-be-stored" in self.faults else "Cache-Control: no-cache\r\n"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{caching}{extra}Transfer-Encoding: chunked\r\n\r\n"
        if pace and self._active >= 200 and "two-hundred-streams" in self.faults:
            raise Refused(503)
        self._active += 1
        self._opened += 1
        self._streaming.add(asyncio.current_task())
        try:
            writer.write(head.encode())
            if pace:
                await self._send_paced(first, pace, peer)
            else:
                await self._send(first, writer)
            if "says-more" in self.faults and first == 0:
                writer.write(chunk(event(TEXT, LAST, self.faults)))
            if "cuts-second-streams" in self.faults and peer.served and first == 0:
                writer.close()
            else:
                writer.write(b"0\r\n\r\n")
        finally:
            self._active -= 1
            self._streaming.discard(asyncio.current_task())

    async def _send(self, first: int, writer: asyncio.StreamWriter) -> None:
        self._unpaced += 1
        try:
            if "mixes-streams" in self.faults:
                await asyncio.sleep(0.02)  # the others come meanwhile
            mixed = "mixes-streams" in self.faults and self._unpaced > 60
            for number in self._numbers(first):
                if writer.is_closing():
                    raise Left
                writer.write(chunk(event(TEXT, 3 if mixed and number == 200 else number, self.faults)))
                if "pauses" in self.faults and number % 50 == 49:
                    await asyncio.sleep(0.03)
        finally:
            self._unpaced -= 1

    def _numbers(self, first: int) -> list[int]:
        numbers = list(range(first, LAST + 1))
        if first == 0 and "loses" in self.faults:
            del numbers[100]
        if first == 0 and "repeats" in self.faults:
            numbers.insert(100, 99)
        if first == 0 and "swaps" in self.faults:
            numbers[100:102] = 101, 100
        return numbers

    async def _send_paced(self, first: int, pace: int, peer: Peer) -> None:
        """Send what is due until the client leaves or the server ends."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        leaving = asyncio.create_task(peer.reader.read(1))
        if "works-for-who-left-at-once" in self.faults and first == 0:
            # Other clients wait for their first character, so they are here after any pause.
            await asyncio.wait({leaving}, timeout=0.25)
            self._active += leaving.done()
        ending = asyncio.create_task(self._ended.wait())
        try:
            for number in range(first, LAST + 1):
                due = start + self._due(number, first, pace)
                while (pause := due - loop.time()) > 0:
                    await asyncio.wait({leaving, ending}, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                    if ending.done():
                        return
                    if leaving.done():
                        self._active += "works-on-when-slow" in self.faults and pace == 2
                        self.printed += 5_000 * ("logs-leaving" in self.faults)
                        leaving.result()  # raises after a reset
                        raise Left
                if peer.writer.is_closing():
                    raise peer.reader.exception() or Left
                peer.writer.write(chunk(event(TEXT, number, self.faults)))
        finally:
            leaving.cancel()
            ending.cancel()
            await asyncio.gather(leaving, ending, return_exceptions=True)

    def _due(self, number: int, first: int, pace: int) -> float:
        """Seconds after the start at which a character is sent."""
        at = number - first
        if "resumes-late" in self.faults:
            at = number
        if "paces-twice" in self.faults:
            pace *= 2
        if "paces-late" in self.faults and pace == 50:
            return at / pace + 0.1
        if "rounds-periods" in self.faults:
            return at * max(1, round(1000 / pace)) / 1000
        if "drifts" in self.faults:
            return at * (1 / pace + 0.0005)
        if "sends-in-batches" in self.faults and pace == 50:
            return (at // 4 * 4 + 3) / pace
        return at / pace
