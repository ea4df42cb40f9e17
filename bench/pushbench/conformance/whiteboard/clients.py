"""The clients of one running whiteboard server: each rule gets fresh ones on boards of its own."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from pushbench.conformance.rule import Mismatch
from pushbench.conformance.target import Target
from pushbench.conformance.together import together
from pushbench.conformance.waiting import begins_to_end, only_waits
from pushbench.conformance.whiteboard.client import PROMPT, Client
from pushbench.conformance.whiteboard.inbox import Closed
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Usage

C = TypeVar("C", bound=Client)


@dataclass(frozen=True)
class Farewell:
    """The end of a server with clients after SIGTERM."""

    closes: list[Closed]
    """For each client that reads, its close."""
    latecomer_joined: bool
    """A client that connected after the first close still became a member."""
    exit: Exit


class Clients:
    def __init__(self, server: str, target: Target, protocol_client: type[Client]) -> None:
        self.server, self.target, self._protocol_client = server, target, protocol_client
        self._numbers = itertools.count(1)
        self._present: list[Client] = []
        self._farewell: Farewell | None = None

    def board(self) -> str:
        """An unused board."""
        return f"board-{next(self._numbers)}"

    @property
    def path(self) -> str:
        """The path at which the server accepts WebSocket connections of the protocol."""
        return self._protocol_client.path

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.target.url)
        return parts.hostname or "127.0.0.1", parts.port or 80

    def usage(self) -> Usage:
        """The server's current usage."""
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

    async def connect(
        self,
        *,
        user: str | None = None,
        path: str | None = None,
        receive_buffer: int | None = None,
        compression: str | None = None,
        within: float = PROMPT,
    ) -> Client:
        """A client that is not a member of any board. A small receive buffer keeps the backlog in the kernel small."""
        subprotocols = self._protocol_client.subprotocols
        connection = await self.open(path or self.path, receive_buffer, subprotocols, compression=compression)
        return await self.admit(self._protocol_client(connection, user or f"user-{next(self._numbers)}"), within)

    async def open(
        self,
        path: str,
        receive_buffer: int | None,
        subprotocols: Sequence[Subprotocol] | None,
        *,
        compression: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ClientConnection:
        """A connection of a client."""
        # asyncio turns Nagle's algorithm off only if the protocol is specified.
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setblocking(False)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        host, port = self.address
        try:
            await asyncio.get_running_loop().sock_connect(sock, (host, port))
            return await connect(
                f"ws://{host}:{port}{path}",
                sock=sock,
                subprotocols=subprotocols,
                compression=compression,
                additional_headers=headers,
                user_agent_header=None,
                ping_interval=None,
                close_timeout=1,
                max_size=None,
                max_queue=None,  # a client always reads, unless a rule says otherwise
            )
        except BaseException:
            sock.close()
            raise

    async def admit(self, client: C, within: float) -> C:
        """Begin to read a client's messages, until all clients are dismissed."""
        self._present.append(client)
        await client.start(within)
        return client

    async def member(
        self, *boards: str, user: str | None = None, receive_buffer: int | None = None, within: float = PROMPT
    ) -> Client:
        client = await self.connect(user=user, receive_buffer=receive_buffer, within=within)
        for board in boards:
            await client.join(board, within)
        return client

    async def members(self, board: str, count: int, within: float = PROMPT) -> list[Client]:
        """Clients that connect and join at the same time."""
        return await together(self.member(board, within=within) for _ in range(count))

    async def dismiss(self) -> None:
        """Close all connections."""
        present, self._present = self._present, []
        await together(client.close() for client in present)

    async def farewell(self) -> Farewell:
        """End the server once; every rule about its end judges this one end."""
        if not self._farewell:
            self._farewell = await self._end()
        return self._farewell

    async def _end(self) -> Farewell:
        boards = [self.board() for _ in range(4)]
        readers = [client for board in boards for client in await self.members(board, 10)]
        silent = await self.member(boards[0])
        silent.stop_reading()  # and therefore never answers the close
        ending = asyncio.create_task(asyncio.to_thread(self.target.terminate, 8.0))
        closes = [asyncio.create_task(client.is_closed("SIGTERM", within=10)) for client in readers]
        await begins_to_end(closes, ending, self.target.replicas)
        try:
            async with asyncio.timeout(1):
                await self.member(boards[0])
            latecomer_joined = True
        except (OSError, WebSocketException, Mismatch, TimeoutError):
            latecomer_joined = False
        closed = await asyncio.gather(*closes)
        only_waits()
        return Farewell(list(closed), latecomer_joined, await ending)
