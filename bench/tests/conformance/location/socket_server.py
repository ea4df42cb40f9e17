"""A server of positions over WebSockets that keeps every rule, or breaks those that its faults are about."""

from __future__ import annotations

import asyncio
import contextlib
import http
import json
from collections.abc import Collection, Sequence
from urllib.parse import parse_qs, urlsplit

from websockets import Subprotocol
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tests.conformance.location.fleet import ID, Fleet, Position, Refused, news

MOST_MESSAGE = 65_536


class SocketServer:
    """Serves in the loop in which it is started."""

    subprotocols: Sequence[Subprotocol] | None = None

    def __init__(self, name: str, faults: Collection[str]) -> None:
        self.name, self.faults, self.fleet = name, faults, Fleet(faults)
        self.printed = 0
        self._server: Server

    async def start(self) -> int:
        """Listen, and return the port."""
        most = None if "limits-nothing" in self.faults else MOST_MESSAGE
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._respond,
            subprotocols=self.subprotocols,
            max_size=most,
            compression=None,
            ping_interval=None,
        )
        return int(next(iter(self._server.sockets)).getsockname()[1])

    async def stop(self) -> None:
        if "cuts-at-the-end" in self.faults:
            for connection in self._server.connections:
                connection.transport.abort()
        if "accepts-to-the-end" in self.faults:
            for connection in list(self._server.connections):
                await connection.close(1001)
            await asyncio.sleep(0.2)
        self._server.close()
        await self._server.wait_closed()

    def _respond(self, connection: ServerConnection, request: Request) -> Response | None:
        parts = urlsplit(request.path)
        match parts.path.split("/")[1:]:
            case ["healthz"]:
                framework = "" if "healthz-is-anonymous" in self.faults else "websockets"
                health = {"server": self.name, "runtime": "Python", "framework": framework}
                return connection.respond(http.HTTPStatus.OK, json.dumps(health))
            case ["metricz"]:
                groups = 1 if "counts-one-group" in self.faults else len(self.fleet.groups)
                told = {"groups": groups, "listeners": self.fleet.listeners}
                return connection.respond(http.HTTPStatus.OK, json.dumps(told))
            case ["groups", group, "socket"]:
                user = parse_qs(parts.query).get("user", [""])[0]
                if (ID.fullmatch(group) and ID.fullmatch(user)) or "forgives-ids" in self.faults:
                    return None
                return connection.respond(http.HTTPStatus.BAD_REQUEST, "bad id")
            case ["nothing-here"] if "any-path" in self.faults:
                return connection.respond(http.HTTPStatus.OK, "")
        return connection.respond(http.HTTPStatus.NOT_FOUND, "")

    async def _serve(self, connection: ServerConnection) -> None:
        assert connection.request
        parts = urlsplit(connection.request.path)
        name, user = parts.path.split("/")[2], parse_qs(parts.query).get("user", [""])[0]
        queue: asyncio.Queue[str] = asyncio.Queue()

        def tell(version: int, positions: list[Position]) -> None:
            queue.put_nowait(news(version, positions))

        tell(*self.fleet.since(name, user, 0))
        listeners = self.fleet.group(name).listeners
        listeners[queue] = (user, tell)
        sending = asyncio.create_task(self._send(connection, queue))
        try:
            async for message in connection:
                if "logs-requests" in self.faults:
                    self.printed += 20
                try:
                    if isinstance(message, bytes) and "takes-binary" not in self.faults:
                        raise Refused(400)
                    self.fleet.put(name, user, message)
                except Refused:
                    if "says-nothing" not in self.faults:
                        queue.put_nowait(json.dumps({"error": "refused"}))
        except ConnectionClosed:
            pass
        finally:
            if "keeps-listeners" not in self.faults:
                del listeners[queue]
            sending.cancel()

    async def _send(self, connection: ServerConnection, queue: asyncio.Queue[str]) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await connection.send(await queue.get())
