import asyncio
import unittest

from app.redis_connection import RedisConnection, connect
from tests.scripted_redis import ScriptedRedis


class ConnectionToRedis(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.redis = await self.enterAsyncContext(ScriptedRedis())
        self.pushed: list[tuple[object, ...]] = []
        self.connection: RedisConnection = await connect(self.redis.url, lambda *parts: self.pushed.append(parts))
        self.addCleanup(self.connection.close)

    async def test_replies_find_their_commands_with_pushes_between_them_and_cut_anywhere(self) -> None:
        first, second = self.connection.command("PUBLISH", "a", "1"), self.connection.command("PUBLISH", "a", "2")
        for octets in (b":7\r", b"\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$", b"1\r\n1\r\n:", b"8\r\n"):
            self.redis.say(octets)
            await asyncio.sleep(0.01)
        self.assertEqual(await first, 7)
        self.assertEqual(await second, 8)
        self.assertEqual(self.pushed, [(b"message", b"a", b"1")])

    async def test_a_reply_that_nobody_waits_for_any_more_is_skipped(self) -> None:
        first, second = self.connection.command("PING"), self.connection.command("PING")
        first.cancel()
        self.redis.say(b"+first\r\n+second\r\n")
        self.assertEqual(await second, b"second")

    async def test_what_waits_for_a_reply_fails_when_the_connection_is_lost(self) -> None:
        reply = self.connection.command("PING")
        await self.redis.next_command()
        self.redis.drop()
        with self.assertRaises(ConnectionError):
            await reply
        with self.assertRaises(ConnectionError):
            await self.connection.command("PING")

    async def test_an_error_reply_ends_the_connection(self) -> None:
        reply = self.connection.command("PING")
        await self.redis.next_command()
        self.redis.say(b"-LOADING Redis is loading the dataset in memory\r\n")
        with self.assertRaises(ConnectionError):
            await reply
        await asyncio.wait_for(self.connection.lost.wait(), 1)


class NoRedis(unittest.IsolatedAsyncioTestCase):
    async def test_is_an_os_error(self) -> None:
        async with ScriptedRedis() as redis:
            url = redis.url
            await connect(url, print)
        with self.assertRaises(OSError):
            await connect(url, print)
