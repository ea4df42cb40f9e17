import asyncio
import unittest
from unittest.mock import Mock

from fastapi import WebSocket

from app.boards import Boards
from app.channel_per_board import ChannelPerBoard
from tests.scripted_redis import ScriptedRedis


class Client:
    """Of a WebSocket, only the part that a delivery needs: the frames queued for it."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.scope = {"state": {"connection": Mock(send_frame=self.frames.append)}}


def client() -> WebSocket:
    return Client()  # type: ignore[return-value]


class Subscriptions(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.redis = await self.enterAsyncContext(ScriptedRedis())
        self.boards = Boards()
        self.channels = ChannelPerBoard(self.redis.url, 1, self.boards)
        running = asyncio.create_task(self.channels.run())
        self.addCleanup(running.cancel)
        await self.expect("SUBSCRIBE", "workers")

    async def expect(self, *command: str) -> None:
        self.assertEqual(await self.redis.next_command(), list(command))

    async def expect_nothing(self) -> None:
        self.assertTrue(await self.redis.no_command())

    async def member(self, board: str) -> WebSocket:
        """The first of its board."""
        member = client()
        joining = asyncio.create_task(self.channels.join(board, member))
        await self.expect("SUBSCRIBE", f"board:{board}")
        self.redis.push("subscribe", f"board:{board}", 1)
        await asyncio.wait_for(joining, 1)
        return member

    async def test_a_board_is_joined_when_redis_has_confirmed_its_channel(self) -> None:
        first, second = client(), client()
        joining = [asyncio.create_task(self.channels.join("b", each)) for each in (first, second)]
        await self.expect("SUBSCRIBE", "board:b")
        await self.expect_nothing()
        self.assertFalse(any(each.done() for each in joining))
        self.redis.push("subscribe", "board:b", 1)
        await asyncio.wait_for(asyncio.gather(*joining), 1)
        self.assertTrue(self.boards.has("b", first) and self.boards.has("b", second))

    async def test_a_message_goes_to_the_members_of_its_board_as_one_text_frame(self) -> None:
        member, other = await self.member("b"), await self.member("b2")
        self.redis.push("message", "board:b", "hi")
        await asyncio.sleep(0.02)
        self.assertEqual(member.frames, [b"\x81\x02hi"])
        self.assertEqual(other.frames, [])

    async def test_the_last_member_that_leaves_ends_the_subscription(self) -> None:
        first, second = await self.member("b"), client()
        await self.channels.join("b", second)
        await self.channels.join("b", second)  # again, without effect
        self.channels.leave("b", first)
        await self.expect_nothing()
        self.channels.leave("b", second)
        await self.expect("UNSUBSCRIBE", "board:b")
        await self.member("b")

    async def test_a_lost_connection_is_replaced_with_all_its_subscriptions(self) -> None:
        await self.member("b")
        self.redis.drop()
        await self.expect("SUBSCRIBE", "workers", "board:b")
        late = asyncio.create_task(self.channels.join("b", client()))
        await self.expect_nothing()
        self.assertFalse(late.done())
        self.redis.push("subscribe", "board:b", 2)
        await asyncio.wait_for(late, 1)

    async def test_a_board_that_is_left_while_its_channel_is_unconfirmed_is_unsubscribed_later(self) -> None:
        member = await self.member("b")
        self.redis.drop()
        await self.expect("SUBSCRIBE", "workers", "board:b")
        self.channels.leave("b", member)
        returning = asyncio.create_task(self.channels.join("b", member))
        await self.expect_nothing()  # the pending subscription also serves the returning client
        self.redis.push("subscribe", "board:b", 2)
        await asyncio.wait_for(returning, 1)
        self.redis.drop()
        await self.expect("SUBSCRIBE", "workers", "board:b")
        self.channels.leave("b", member)
        self.redis.push("subscribe", "board:b", 2)
        await self.expect("UNSUBSCRIBE", "board:b")

    async def test_what_is_published_without_redis_is_lost_at_once(self) -> None:
        self.redis.stop()
        await asyncio.sleep(0.02)
        await asyncio.wait_for(self.channels.publish("b", "hi"), 1)
        self.assertFalse(await self.channels.is_ready())

    async def test_the_worker_is_ready_when_all_workers_listen(self) -> None:
        for listening in (0, 1):
            asking = asyncio.create_task(self.channels.is_ready())
            await self.expect("PUBSUB", "NUMSUB", "workers")
            self.redis.say(f"*2\r\n$7\r\nworkers\r\n:{listening}\r\n".encode())
            self.assertEqual(await asking, listening == 1)
