"""The structure as published: one Redis channel carries every message to every worker."""

import asyncio
from contextlib import suppress
from importlib.metadata import version

from fastapi import WebSocket
from pydantic_core import from_json
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from app.boards import Boards, send

CHANNEL = "whiteboard"
CONNECT_SECONDS = 1
RECONNECT_SECONDS = 0.1


class OneChannel:
    server = "fastapi-workers-redis"
    redis_client = f"redis-py {version('redis')}"

    def __init__(self, redis_url: str, workers: int, boards: Boards) -> None:
        self._workers = workers
        self._boards = boards
        self._subscribed = asyncio.Event()
        self._redis = Redis.from_pool(
            BlockingConnectionPool.from_url(
                redis_url,
                decode_responses=True,
                socket_connect_timeout=CONNECT_SECONDS,
                timeout=None,  # while all connections are in use, clients that draw wait and are not read
                retry=Retry(NoBackoff(), 0),  # a publish that failed may have arrived: again would be twice
            )
        )

    async def join(self, board_id: str, client: WebSocket) -> None:
        """Returns once everything published from now on will reach the client."""
        await self._subscribed.wait()
        self._boards.join(board_id, client)

    def leave(self, board_id: str, client: WebSocket) -> None:
        self._boards.leave(board_id, client)

    async def publish(self, board_id: str, text: str) -> None:
        with suppress(RedisError):  # draws are lost while Redis is unavailable
            await self._redis.publish(CHANNEL, text)

    async def is_ready(self) -> bool:
        """Whether this worker can publish, and all workers listen."""
        try:
            [(_, listening)] = await self._redis.pubsub_numsub(CHANNEL)
        except RedisError:
            return False
        return listening >= self._workers

    async def run(self) -> None:
        """Delivers messages from Redis, and subscribes again whenever the connection was lost."""
        try:
            while True:
                with suppress(RedisError):
                    await self._listen()
                self._subscribed.clear()
                await asyncio.sleep(RECONNECT_SECONDS)
        finally:
            await self._redis.aclose()

    async def _listen(self) -> None:
        async with self._redis.pubsub() as subscription:
            await subscription.subscribe(CHANNEL)
            async for message in subscription.listen():
                if message["type"] == "message":
                    await self._deliver(message["data"])
                else:
                    self._subscribed.set()

    async def _deliver(self, text: str) -> None:
        for member in self._boards.members(from_json(text)["boardId"]):
            await send(member, text)
