"""A connection to Redis with pipelined commands. As RESP3 allows, messages arrive between their replies.

redis-py would need two connections, and several times the CPU for each message: it passes every message through tasks,
timeouts and retries. For a worker with many boards, that is most of the work per message.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import hiredis

CONNECT_SECONDS = 1

NOTHING_YET = object()


class RedisConnection(asyncio.Protocol):
    def __init__(self, on_push: Callable[..., None]) -> None:
        self._on_push = on_push
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(notEnoughData=NOTHING_YET)
        self._replies: deque[asyncio.Future[Any]] = deque()
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport
        self.lost = asyncio.Event()

    def command(self, *words: str) -> asyncio.Future[Any]:
        """Returns the future reply, or ConnectionError."""
        reply = self._loop.create_future()
        if self.lost.is_set():
            reply.set_exception(_lost())
        else:
            self._replies.append(reply)
            self.send(*words)
        return reply

    def send(self, *words: str) -> None:
        """Sends a command without a reply, such as (UN)SUBSCRIBE. All commands of a tick are one write."""
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(hiredis.pack_command(words))

    def _flush(self) -> None:
        commands, self._unsent = self._unsent, []
        if not self._transport.is_closing():
            self._transport.write(b"".join(commands))

    def close(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (item := self._reader.gets()) is not NOTHING_YET:
            if isinstance(item, hiredis.PushNotification):
                self._on_push(*item)
            elif isinstance(item, hiredis.ReplyError):
                # The Redis cannot be used: it is loading, or requires a password.
                self.close()
            elif not (reply := self._replies.popleft()).done():
                reply.set_result(item)

    def connection_lost(self, _error: Exception | None) -> None:
        for reply in self._replies:
            if not reply.done():
                reply.set_exception(_lost())
        self.lost.set()


def _lost() -> ConnectionError:
    return ConnectionError("the connection to Redis was lost")


async def connect(redis_url: str, on_push: Callable[..., None]) -> RedisConnection:
    """Returns a connection that calls `on_push` with the parts of each push. Raises OSError."""
    url = urlsplit(redis_url)
    async with asyncio.timeout(CONNECT_SECONDS):
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: RedisConnection(on_push), url.hostname, url.port or 6379
        )
        try:
            await connection.command("HELLO", "3")
        except BaseException:
            connection.close()
            raise
    return connection
