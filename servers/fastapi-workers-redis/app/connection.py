"""uvicorn's WebSocket connection with the whiteboard's rules for slow readers and for the end of the server."""

from __future__ import annotations

from asyncio import BaseTransport
from contextlib import suppress

from fastapi import WebSocket
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MAX_QUEUED_BYTES = 1024 * 1024
GOING_AWAY = 1001


class Connection(WebSocketsSansIOProtocol):
    @staticmethod
    def of(client: WebSocket) -> Connection:
        connection: Connection = client.scope["state"]["connection"]
        return connection

    async def run_asgi(self) -> None:
        self.scope["state"]["connection"] = self
        await super().run_asgi()

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=MAX_QUEUED_BYTES)

    def send_frame(self, frame: bytes) -> None:
        """Queues an encoded frame, unless the client has gone."""
        if not self.close_sent and not self.transport.is_closing():
            self.transport.write(frame)

    def pause_writing(self) -> None:
        """Disconnects a client that does not read.

        uvicorn would make `send` wait for it, and with it every client on its boards. This way `send` never waits.
        """
        self.transport.abort()

    def shutdown(self) -> None:
        """Closes with "going away"; uvicorn would close with 1012, which announces a restart."""
        if not self.handshake_complete:
            super().shutdown()
        elif not self.close_sent:
            task = self.loop.create_task(self.go_away())
            self.tasks.add(task)
            task.add_done_callback(self.on_task_complete)

    async def go_away(self) -> None:
        with suppress(ClientDisconnected):
            await self.send({"type": "websocket.close", "code": GOING_AWAY, "reason": ""})
