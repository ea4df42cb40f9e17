"""Members over a WebSocket, whatever protocol they use on it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Sequence
from typing import ClassVar

from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from pushbench.conformance.location.member import Member
from pushbench.conformance.rule import Mismatch


class SocketMember(Member):
    subprotocols: ClassVar[Sequence[Subprotocol] | None] = None
    socket: ClientConnection

    @property
    def path(self) -> str:
        raise NotImplementedError

    async def connect(self) -> None:
        host, port = self.clients.address
        try:
            self.socket = await connect(
                f"ws://{host}:{port}{self.path}",
                subprotocols=self.subprotocols,
                proxy=None,
                compression=None,
                user_agent_header=None,
                ping_interval=None,
                close_timeout=1,
                max_queue=None,
            )
        except InvalidStatus as refused:
            raise Mismatch("status 101", refused.response.status_code) from None

    async def message(self, within: float) -> str | None:
        """The next message; None if none arrives in time."""
        try:
            async with asyncio.timeout(within):
                message = await self.socket.recv()
        except TimeoutError:
            return None
        except ConnectionClosed as closed:
            raise Mismatch("a message", closed) from None
        if isinstance(message, bytes):
            raise Mismatch("a text frame", "a binary one")
        return message

    async def is_closed_with(self, code: int, within: float) -> None:
        try:
            async with asyncio.timeout(within):
                await self.socket.wait_closed()
        except TimeoutError:
            raise Mismatch(f"close code {code}", "an open connection") from None
        if self.socket.close_code != code:
            raise Mismatch(f"close code {code}", self.socket.close_code)

    async def is_ended(self, within: float) -> None:
        await self.is_closed_with(1001, within)

    def reset(self) -> None:
        sock = self.socket.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.transport.abort()

    async def close(self) -> None:
        with contextlib.suppress(AttributeError):  # no connection was made, or asyncio's own for an aborted transport
            self.socket.transport.abort()
