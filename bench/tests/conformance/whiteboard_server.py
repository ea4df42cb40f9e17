"""A whiteboard server that keeps every rule, or breaks rules with the faults in its arguments.

It shows that each rule can fail, and that none fails without a reason. It serves whiteboard-json on /ws,
whiteboard-stomp on /stomp and whiteboard-socketio on /socket.io/. Every fault is an `if` beside the code it breaks.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tests.conformance.whiteboard_hub import Hub, Session
from tests.conformance.whiteboard_messages import FAULTS, MESSAGE_LIMIT
from tests.conformance.whiteboard_protocols import JsonSession, StompSession
from tests.conformance.whiteboard_socketio_session import SocketIOSession

SEND_BUFFER = 128 << 10
away = asyncio.Event()
"""set while a service, and therefore this server, is unavailable"""
SESSIONS: dict[str, type[Session]] = {"/ws": JsonSession, "/stomp": StompSession, "/socket.io/": SocketIOSession}

LOST_SERVICE = {"lost-service-closes", "lost-service-aborts", "lost-service-looks-healthy", "lost-service-stays-lost"}
closing = set[asyncio.Future[None]]()


def respond(connection: ServerConnection, request: Request) -> Response | None:
    path = request.path.partition("?")[0]
    if away.is_set() and not (path == "/healthz" and "lost-service-looks-healthy" in FAULTS):
        return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "a service is away")
    if path == "/healthz":
        name = "" if "healthz-is-anonymous" in FAULTS else os.environ["SERVER"]
        body = json.dumps({"server": name, "runtime": sys.version.split()[0], "framework": "websockets"})
        return Response(200, "OK", Headers({"Content-Length": str(len(body))}), body.encode())
    if "speaks-polling" in FAULTS and "transport=polling" in request.path:
        return connection.respond(HTTPStatus.OK, "welcome")
    if path in SESSIONS:
        return None
    if "any-upgrade" in FAULTS and "Upgrade" in request.headers:
        return None
    if "any-path" in FAULTS and "Upgrade" not in request.headers:
        return connection.respond(HTTPStatus.OK, "welcome")
    return connection.respond(HTTPStatus.NOT_FOUND, "nothing here")


class OneAtATime(ServerConnection):
    """A connection that performs handshakes one after another."""

    turn = asyncio.Lock()

    async def handshake(self, *arguments: Any, **options: Any) -> None:
        async with self.turn:
            await super().handshake(*arguments, **options)


def listener(port: int) -> socket.socket:
    """A socket whose connections have a small send buffer, so that a slow reader fills it soon."""
    # asyncio turns Nagle's algorithm off only if the protocol is named.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    made.bind(("127.0.0.1", port))
    return made


async def main() -> None:
    hub = Hub()
    running = 0

    async def handle(connection: ServerConnection) -> None:
        nonlocal running
        running += 1
        path = connection.request.path.partition("?")[0] if connection.request else ""
        try:
            if "hundred-clients" in FAULTS and running > 100:
                await connection.close(1013)
            await SESSIONS.get(path, JsonSession)(connection, hub).run()
        finally:
            running -= 1

    limit: int | None = MESSAGE_LIMIT
    if "limits-one-less" in FAULTS:
        limit = MESSAGE_LIMIT - 1
    if {"limits-nothing", "limits-characters"} & FAULTS:
        limit = None
    server = await serve(
        handle,
        sock=listener(int(os.environ["PORT"])),
        process_request=respond,
        compression="deflate" if "compresses" in FAULTS else None,
        max_size=limit,
        ping_interval=None,
        close_timeout=0.3,
        backlog=1000,
        create_connection=OneAtATime if "one-handshake-at-a-time" in FAULTS else ServerConnection,
    )
    print("listens on", server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, outage, hub, server)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, back)
    await ended.wait()
    code = 1012 if "closes-with-1012" in FAULTS else 1001
    if "accepts-to-the-end" in FAULTS:
        await asyncio.wait([asyncio.create_task(each.close(code)) for each in server.connections])
        await asyncio.sleep(0.5)
    server.close(code=code)
    await asyncio.wait([asyncio.ensure_future(server.wait_closed())], timeout=3)
    if "lingers" in FAULTS:
        await asyncio.sleep(6)
    os._exit(1 if "exits-with-1" in FAULTS else 0)


def outage(hub: Hub, server: Server) -> None:
    """Apply the faults for the loss of the service that this server needs."""
    if "outage-ends-memberships" in FAULTS:
        hub.boards.clear()
    if "outage-ends-connections" in FAULTS:
        for connection in server.connections:
            connection.transport.abort()
    if LOST_SERVICE & FAULTS:
        away.set()
        for connection in server.connections:
            if "lost-service-aborts" in FAULTS:
                connection.transport.abort()
            else:
                closing.add(asyncio.ensure_future(connection.close(1012)))


def back() -> None:
    if "lost-service-stays-lost" not in FAULTS:
        away.clear()


def run(faults: Iterable[str]) -> None:
    FAULTS.update(faults)
    logging.disable()
    asyncio.run(main())


if __name__ == "__main__":
    run(sys.argv[1:])
