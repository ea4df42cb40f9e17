"""A server of answers and of streams that a few lines of YAML declare. It keeps every rule, or has a fault.

`POST /answer` returns the JSON of its request; `POST /stream` sends it ten times, with numbers, and then [DONE].
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from typing import Any

TOKENS = 10
NOTICE = {"notice": "hello"}


class AnswerServer:
    """Serves in the loop in which it is started."""

    def __init__(self, faults: Collection[str]) -> None:
        self.faults = faults
        self.printed = 0
        self.hoard: list[bytes] = []
        self._present: set[asyncio.StreamWriter] = set()
        self._answered = self._resets = 0
        self._last: Any = {}
        self._server: asyncio.Server

    async def start(self) -> int:
        """Listen, and return the port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        self._server.close()
        for writer in self._present:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._present.add(writer)
        try:
            if "hoards" in self.faults:
                self.hoard.append(bytes(4 << 20))
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
                asked = json.loads(await reader.readexactly(length))
                if "hundred-clients" in self.faults and len(self._present) > 100:
                    writer.write(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
                    continue
                await (self._stream if "/stream" in head else self._answer)(writer, asked)
                await writer.drain()
        except ConnectionResetError:
            self._resets += 1
        except (EOFError, ConnectionError):
            pass
        finally:
            self._present.discard(writer)
            writer.close()

    def _said(self, asked: Any) -> Any:
        """What is told of a request."""
        self._answered += 1
        before, self._last = self._last, asked
        said = dict(asked)
        if "mixes" in self.faults and before.get("id"):
            said["id"] = before["id"]
        if "alters" in self.faults and self._answered % 40 == 0:
            said["text"] = "other"
        return said

    async def _answer(self, writer: asyncio.StreamWriter, asked: Any) -> None:
        said = NOTICE if "notices" in self.faults and self._answered % 20 == 10 else self._said(asked)
        self._answered += said is NOTICE
        body = json.dumps(said).encode()
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async def _stream(self, writer: asyncio.StreamWriter, asked: Any) -> None:
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        if "loses-after-resets" in self.faults and self._resets:
            return self._end(writer)
        said = self._said(asked)
        numbers = list(range(TOKENS))
        third = self._answered % 3 == 0
        if "loses" in self.faults and third:
            del numbers[4]
        if "repeats" in self.faults and third:
            numbers.insert(4, 4)
        if "swaps" in self.faults and third:
            numbers[4], numbers[5] = numbers[5], numbers[4]
        for number in numbers:
            self._event(writer, {**said, "n": number})
            await asyncio.sleep(0.002)
        if "notices" in self.faults and third:
            self._event(writer, NOTICE)
        if "never-ends" in self.faults and third:
            return self._end(writer)
        writer.write(b"data: [DONE]\n\n")
        return self._end(writer)

    def _event(self, writer: asyncio.StreamWriter, said: Any) -> None:
        writer.write(b"data: " + json.dumps(said).encode() + b"\n\n")

    def _end(self, writer: asyncio.StreamWriter) -> None:
        """The end of an answer in HTTP/1.0 is that of its connection."""
        writer.write_eof()
