"""A Redis channel for each board; a worker subscribes to the channels of boards with members here."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

import hiredis
from fastapi import WebSocket
from websockets.frames import Frame, Opcode

from app.boards import Boards
from app.connection import Connection
from app.redis_connection import RedisConnection, connect

# Carries no messages: the number of its subscribers shows whether all workers listen.
WORKERS_CHANNEL = "workers"
BOARD_PREFIX = "board:"

RECONNECT_SECONDS = 0.1
HEALTH_SECONDS = 1


@dataclass
class Subscription:
    users: int = 0
    """clients that are members here, or are about to be"""
    confirmed: asyncio.Event = field(default_factory=asyncio.Event)


class ChannelPerBoard:
    server = "fastapi-workers-redis/channel-per-board"
    redis_client = f"hiredis {hiredis.__version__}"

    def __init__(self, redis_url: str, workers: int, boards: Boards) -> None:
        self._redis_url = redis_url
        self._workers = workers
        self._boards = boards
        self._subscriptions: dict[str, Subscription] = {}
        self._redis: RedisConnection | None = None

    async def join(self, board_id: str, client: WebSocket) -> None:
        """Returns once everything published from now on will reach the client."""
        if self._boards.has(board_id, client):
            return
        subscription = self._subscriptions.get(board_id) or self._subscribe(board_id)
        subscription.users += 1
        await subscription.confirmed.wait()
        self._boards.join(board_id, client)

    def leave(self, board_id: str, client: WebSocket) -> None:
        self._boards.leave(board_id, client)
        self._subscriptions[board_id].users -= 1
        self._unsubscribe_if_unused(board_id)

    async def publish(self, board_id: str, text: str) -> None:
        """Returns when Redis has it: a client has at most one draw in flight to Redis, and is not read meanwhile."""
        with suppress(ConnectionError):  # draws are lost while Redis is unavailable
            await self._connected().command("PUBLISH", BOARD_PREFIX + board_id, text)

    async def is_ready(self) -> bool:
        """Whether this worker can publish, and all workers listen."""
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                _, listening = await self._connected().command("PUBSUB", "NUMSUB", WORKERS_CHANNEL)
        except (ConnectionError, TimeoutError):
            return False
        return listening >= self._workers

    async def run(self) -> None:
        """Keeps a connection to Redis, and subscribes again whenever it was lost."""
        while True:
            with suppress(OSError):
                await self._stay_connected()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _stay_connected(self) -> None:
        redis = await connect(self._redis_url, self._pushed)
        try:
            redis.send("SUBSCRIBE", WORKERS_CHANNEL, *(BOARD_PREFIX + board_id for board_id in self._subscriptions))
            self._redis = redis
            await redis.lost.wait()
        finally:
            self._redis = None
            for subscription in self._subscriptions.values():
                subscription.confirmed.clear()
            redis.close()

    def _connected(self) -> RedisConnection:
        if not self._redis:
            raise ConnectionError("not connected to Redis")
        return self._redis

    def _subscribe(self, board_id: str) -> Subscription:
        subscription = self._subscriptions[board_id] = Subscription()
        if self._redis:
            self._redis.send("SUBSCRIBE", BOARD_PREFIX + board_id)
        return subscription

    def _unsubscribe_if_unused(self, board_id: str) -> None:
        """Waits for the confirmation: it could be mistaken for that of a later subscription of the same board."""
        subscription = self._subscriptions[board_id]
        if self._redis and subscription.confirmed.is_set() and not subscription.users:
            self._redis.send("UNSUBSCRIBE", BOARD_PREFIX + board_id)
            del self._subscriptions[board_id]

    def _pushed(self, kind: bytes, channel: bytes, content: bytes) -> None:
        board_id = channel.decode().removeprefix(BOARD_PREFIX)
        if kind == b"message":
            self._deliver(board_id, content)
        elif kind == b"subscribe" and board_id in self._subscriptions:
            self._subscriptions[board_id].confirmed.set()
            self._unsubscribe_if_unused(board_id)

    def _deliver(self, board_id: str, text: bytes) -> None:
        """Forwards a text unchanged, in one frame for all."""
        frame = Frame(Opcode.TEXT, text).serialize(mask=False)
        for member in self._boards.members(board_id):
            Connection.of(member).send_frame(frame)
