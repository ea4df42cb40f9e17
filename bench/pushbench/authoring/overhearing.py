"""A WebSocket proxy on this machine that keeps what two clients and a server say. The only module that listens."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Origin, Subprotocol

from pushbench.authoring.overheard import Conversation, Said
from pushbench.foundation.errors import UserError

CLIENTS = 2
HOST = "127.0.0.1"
LARGEST = 1 << 20
"""bytes of a message"""
MOST_KEPT = 10_000
"""messages of a client; the rest is passed on only"""
SECRETS = ("Authorization", "Cookie")
PASSED = (*SECRETS, "Origin", "User-Agent")

Note = Callable[[str], None]


class Proxy:
    """Passes on everything between clients and `to`, and keeps the conversations of the first two."""

    def __init__(self, to: str, note: Note) -> None:
        self._to, self._note = urlsplit(to), note
        self._left = 0
        self.talks: list[Conversation] = []
        self.ended = asyncio.Event()

    async def handle(self, client: ServerConnection) -> None:
        assert client.request
        address = urlsplit(client.request.path)
        url = urlunsplit(("ws", self._to.netloc, address.path, address.query, ""))
        headers = {name: client.request.headers[name] for name in PASSED if name in client.request.headers}
        number = len(self.talks)
        talk = Conversation(
            client.request.path, client.subprotocol, [name for name in SECRETS if name in client.request.headers]
        )
        self.talks.append(talk)
        agent, origin = headers.pop("User-Agent", None), headers.pop("Origin", None)
        protocols = [client.subprotocol] if client.subprotocol else None
        try:
            async with connect(
                url,
                additional_headers=headers,
                origin=Origin(origin) if origin else None,
                user_agent_header=agent,
                subprotocols=protocols,
                compression=None,
                max_size=LARGEST,
                proxy=None,
            ) as server:
                self._note(f"client {number} is here")
                await self._relay(talk, client, server)
        except (OSError, WebSocketException) as error:
            self._note(f"client {number}: the server refuses it: {error}")
            await client.close(1011)
        self._note(f"client {number} has left, after {len(talk.said)} messages")
        self._left += 1
        if self._left >= CLIENTS:
            self.ended.set()

    async def _relay(self, talk: Conversation, client: ServerConnection, server: ClientConnection) -> None:
        ways = [
            asyncio.create_task(self._pass(talk, client, server, sent=True)),
            asyncio.create_task(self._pass(talk, server, client, sent=False)),
        ]
        _, open_ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in open_:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        await asyncio.gather(client.close(), server.close(), return_exceptions=True)

    async def _pass(
        self,
        talk: Conversation,
        source: ServerConnection | ClientConnection,
        target: ServerConnection | ClientConnection,
        *,
        sent: bool,
    ) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for message in source:
                if len(talk.said) < MOST_KEPT:
                    talk.said.append(Said(time.monotonic(), sent, message if isinstance(message, str) else None))
                await target.send(message)


def _offered(_: ServerConnection, offered: list[Subprotocol] | object) -> Subprotocol | None:
    """The first that the client offers: the server is asked for the same."""
    return offered[0] if isinstance(offered, list | tuple) and offered else None


async def overhear(to: str, port: int, note: Note) -> list[Conversation]:
    """The conversations of two clients, until both have left. Raises UserError if the port is taken."""
    proxy = Proxy(to, note)
    try:
        server = await serve(proxy.handle, HOST, port, select_subprotocol=_offered, compression=None, max_size=LARGEST)
    except OSError as error:
        raise UserError(f"port {port} cannot be used: {error.strerror}", hint="choose another with --port") from None
    async with server:
        own = next(iter(server.sockets)).getsockname()[1]
        note(f"connect two clients to ws://{HOST}:{own}, in one room; let each send some messages, and leave")
        await proxy.ended.wait()
    return proxy.talks
