"""A server of typing games that keeps every rule, or breaks those that its faults are about.

It shows that each rule can fail, and that none fails without a reason. Every fault is an `if` beside what it spoils.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Collection

from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from tests.conformance.typing_game.arena import Arena, Bad, Times
from tests.conformance.typing_game.session import MESSAGE_LIMIT, Session, Violation

QUEUED_MOST = 1 << 20
WINDOW = 1.0
SOCKET_IO, MATCHMAKE = "/socket.io/", "/api/pvp/matchmake"
METHODS = {"/healthz": "GET", "/metricz": "GET", MATCHMAKE: "POST"}


class Refused(Exception):
    def __init__(self, status: int, fields: str = "") -> None:
        super().__init__(status)
        self.status, self.fields = status, fields


class GameServer:
    """Serves in the loop in which it is started."""

    def __init__(self, name: str, faults: Collection[str], times: Times) -> None:
        self.name, self.faults, self._times = name, faults, times
        self.printed = 0
        self.arena: Arena
        self._writers: dict[asyncio.StreamWriter, ServerProtocol | None] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepted: list[asyncio.StreamWriter] = []
        self._turn = asyncio.Lock()
        self._stopped = False
        self._listener: asyncio.Server

    @property
    def queued_bytes(self) -> int:
        return sum(writer.transport.get_write_buffer_size() for writer in self._writers)

    async def start(self) -> int:
        """Listen, and return the port."""
        self.arena = Arena(self.faults, self._times)
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
        listener.bind(("127.0.0.1", 0))
        self._listener = await asyncio.start_server(self._connected, sock=listener, limit=1 << 21, backlog=1000)
        return int(listener.getsockname()[1])

    async def stop(self) -> None:
        if self._stopped:
            return
        await asyncio.sleep(0.02)  # asyncio loses a connection that it accepts while its server closes
        if "accepts-to-the-end" not in self.faults:
            self._listener.close()
        for writer, protocol in list(self._writers.items()):
            if protocol:
                self._close(writer, protocol, 1012 if "closes-with-1012" in self.faults else 1001)
            writer.close()
        await asyncio.sleep(0.2 if "accepts-to-the-end" in self.faults else 0.05)
        self._stopped = True
        self._listener.close()
        for writer in self._accepted:
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.01)  # the transports' turn to close

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self._accepted.append(writer)
        if "has-nagle" in self.faults:
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        self._writers[writer] = None
        with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError, ValueError):
            await self._converse(reader, writer)
        del self._writers[writer]
        writer.close()
        self._tasks.discard(task)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for served in range(1, 1_000_000):
            head = await reader.readexactly(1)
            async with self._turn if "reads-one-at-a-time" in self.faults else contextlib.nullcontext():
                head += await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, _ = first.split(" ")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            path = target.partition("?")[0]
            if "upgrade" in fields and (path == SOCKET_IO or "upgrades-any-path" in self.faults):
                await self._upgrade(head, reader, writer)
                return
            try:
                answer = self._respond(method, target, fields, await self._body(reader, fields))
                self._write(writer, "200 OK", "", json.dumps(answer))
            except Refused as refused:
                kind = "text/plain" if "errors-are-text" in self.faults else "application/json"
                self._write(writer, f"{refused.status} No", refused.fields, '{"error":"refused"}', kind)
            if "hundred-requests" in self.faults and served == 100:
                return

    async def _body(self, reader: asyncio.StreamReader, fields: dict[str, str]) -> bytes | None:
        """None where it is too large."""
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        if "transfer-encoding" in fields:
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        most = MESSAGE_LIMIT - ("limits-one-less" in self.faults)
        return body if len(body) <= most or "limits-no-body" in self.faults else None

    def _respond(self, method: str, target: str, fields: dict[str, str], body: bytes | None) -> object:
        path = target.partition("?")[0]
        if "speaks-polling" in self.faults and "transport=polling" in target:
            return {}
        if path == "/index.html" and "serves-more" in self.faults:
            return {}
        if path not in METHODS:
            if "any-path" in self.faults and path == "/nothing-here":
                return {}
            raise Refused(400 if "%" in path or path == SOCKET_IO else 404)
        if method != METHODS[path] and "any-method" not in self.faults:
            raise Refused(405, "" if "allows-nothing" in self.faults else f"Allow: {METHODS[path]}\r\n")
        if path == "/healthz":
            framework = "" if "healthz-is-anonymous" in self.faults else "asyncio"
            return {"server": self.name, "runtime": "Python", "framework": framework}
        return self._metrics() if path == "/metricz" else self._match(fields, body)

    def _metrics(self) -> object:
        rooms, players = len(self.arena.rooms), sum(len(room.players) for room in self.arena.rooms.values())
        second = 0 if "delay-stands-still" in self.faults else time.monotonic() // WINDOW
        p50 = 0.0001 + second % 10 / 10_000
        delay = {"p50": p50, "p99": 250.0 if "tells-milliseconds" in self.faults else p50 + 0.001}
        return {
            "rooms": 1 if "counts-one-room" in self.faults else rooms,
            "players": players,
            "event_loop_delay": None if "tells-no-delay" in self.faults else delay,
        }

    def _match(self, fields: dict[str, str], body: bytes | None) -> object:
        if body is None:
            raise Refused(413)
        if fields.get("content-type", "").partition(";")[0] != "application/json" and "any-type" not in self.faults:
            raise Refused(415)
        try:
            return {"roomId": self.arena.match(json.loads(body))}
        except (Bad, ValueError, TypeError, KeyError, AttributeError):
            raise Refused(422 if "refuses-with-422" in self.faults else 400) from None

    def _write(
        self, writer: asyncio.StreamWriter, status: str, fields: str, body: str, kind: str = "application/json"
    ) -> None:
        fields += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"HTTP/1.1 {status}\r\n{fields}\r\n{body}".encode())

    async def _upgrade(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        factory = ServerPerMessageDeflateFactory()
        protocol = ServerProtocol(
            max_size=None if "limits-no-message" in self.faults else MESSAGE_LIMIT,
            extensions=[factory] if "compresses" in self.faults else [],
        )
        protocol.receive_data(head)
        requests = protocol.events_received()
        if not requests:
            return
        request = requests[0]
        assert isinstance(request, Request)
        response = protocol.accept(request)
        protocol.send_response(response)
        writer.writelines(protocol.data_to_send())
        if response.status_code != 101:
            return
        self._writers[writer] = protocol
        await self._play(protocol, reader, writer)

    async def _play(self, protocol: ServerProtocol, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def send(packet: str) -> None:
            if self._stopped or protocol.close_sent:
                return
            protocol.send_text(packet.encode())
            writer.writelines(protocol.data_to_send())
            if writer.transport.get_write_buffer_size() > QUEUED_MOST and "queues-all" not in self.faults:
                writer.transport.abort()

        session, parts = Session(self.arena, send, self.faults), bytearray()
        try:
            while octets := await reader.read(1 << 16):
                protocol.receive_data(octets)
                for frame in protocol.events_received():
                    assert isinstance(frame, Frame)
                    parts += frame.data
                    if frame.fin:
                        self._take(bytes(parts), frame.opcode, session, writer, protocol)
                        parts.clear()
                writer.writelines(octets for octets in protocol.data_to_send() if octets)
                if protocol.close_expected():
                    if protocol.parser_exc and "violations-end-all" in self.faults:
                        self._end_all()
                    await asyncio.sleep(0.02)
                    return
        finally:
            session.leave()

    def _take(
        self, message: bytes, opcode: Opcode, session: Session, writer: asyncio.StreamWriter, protocol: ServerProtocol
    ) -> None:
        """Only texts come in fragments here."""
        if "logs-messages" in self.faults:
            self.printed += 20
        try:
            if opcode in (Opcode.TEXT, Opcode.CONT):
                session.receive(message.decode())
            elif opcode is Opcode.BINARY:
                session.receive(message)
        except UnicodeDecodeError:
            self._close(writer, protocol, 1007)
        except Violation:
            if "broken-packets-end-all" in self.faults:
                self._end_all()
            self._close(writer, protocol, 1002)

    def _end_all(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def _close(self, writer: asyncio.StreamWriter, protocol: ServerProtocol, code: int) -> None:
        if protocol.close_sent is None and protocol.state.name == "OPEN":
            protocol.send_close(code)
            writer.writelines(octets for octets in protocol.data_to_send() if octets)
