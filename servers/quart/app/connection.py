"""Hypercorn's connections with the whiteboard's rules for compression, sizes of messages, slow readers and the end.

Hypercorn has no settings for them (its issue 307 requests the one for compression) and no way to choose its classes.
So `install` replaces them by the classes of this module.
"""

from dataclasses import replace
from typing import Any

import hypercorn.asyncio.run
import hypercorn.protocol.h11
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.events import Event, RawData
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.events import Request, StreamClosed
from hypercorn.protocol.ws_stream import FrameTooLargeError, WebsocketBuffer, WSStream
from wsproto.events import CloseConnection, Message

MAX_QUEUED_BYTES = 1024 * 1024

# How long a client may take to read the rest of its queue. SIGTERM has to end the process within 5 s.
CLOSE_TIMEOUT_SECONDS = 2


def install() -> None:
    hypercorn.asyncio.run.TCPServer = Connection
    hypercorn.protocol.h11.WSStream = Stream


class Connection(TCPServer):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.writer.transport.set_write_buffer_limits(high=MAX_QUEUED_BYTES)

    async def protocol_send(self, event: Event) -> None:
        """Disconnects a client that does not read. Hypercorn would make every `send` wait for it."""
        transport = self.writer.transport
        if not isinstance(event, RawData):
            await super().protocol_send(event)
        elif transport.get_write_buffer_size() + len(event.data) > MAX_QUEUED_BYTES:
            transport.abort()
        elif not transport.is_closing():
            await super().protocol_send(event)

    async def _close(self) -> None:
        """Ends the connection, which Hypercorn would keep until the client has read everything."""
        late = self.loop.call_later(CLOSE_TIMEOUT_SECONDS, self.writer.transport.abort)
        try:
            await super()._close()
        finally:
            late.cancel()
            self.writer.transport.abort()


class Stream(WSStream):
    def __init__(self, app: Any, config: Any, *others: Any) -> None:
        super().__init__(app, config, *others)
        self.buffer = Buffer(config.websocket_max_message_size)

    async def handle(self, event: StreamEvent) -> None:
        """Hides the client's offer to compress, which Hypercorn would always accept."""
        if isinstance(event, Request):
            headers = [(name, value) for name, value in event.headers if name != b"sec-websocket-extensions"]
            event = replace(event, headers=headers)
        await super().handle(event)

    async def _handle_events(self) -> None:
        """After a message that is too large, waits for the client's answer to the close, which follows it.

        Hypercorn would stop at each piece of the message, and never reach the answer.
        """
        if not self.buffer.is_exceeded:
            await super()._handle_events()
        if self.buffer.is_exceeded and any(isinstance(event, CloseConnection) for event in self.connection.events()):
            await self.send(StreamClosed(stream_id=self.stream_id))


class Buffer(WebsocketBuffer):
    """Holds a message up to a limit in bytes. Hypercorn counts characters, and keeps the excess."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length)
        self._bytes = 0

    @property
    def is_exceeded(self) -> bool:
        return self._bytes > self.max_length

    def extend(self, event: Message) -> None:
        self._bytes += len(event.data.encode() if isinstance(event.data, str) else event.data)
        if self.is_exceeded:
            raise FrameTooLargeError
        super().extend(event)

    def clear(self) -> None:
        super().clear()
        self._bytes = 0
