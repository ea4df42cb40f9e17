import asyncio
import json
import unittest

import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app.connection import Connection
from app.main import app

# More than the kernel's socket buffers and the server's queue hold together.
DRAWS = 300
PADDING = "x" * 60_000


class SlowReader(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.server = uvicorn.Server(uvicorn.Config(app, port=0, ws=Connection, lifespan="off", log_level="warning"))
        self.serving = asyncio.create_task(self.server.serve())
        while not self.server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)

    async def asyncTearDown(self) -> None:
        self.server.should_exit = True
        await self.serving

    async def join(self, user_id: str) -> ClientConnection:
        port = self.server.servers[0].sockets[0].getsockname()[1]
        client = await connect(f"ws://127.0.0.1:{port}/ws", compression=None)
        await client.send(json.dumps({"type": "join", "boardId": "b", "userId": user_id}))
        await client.recv()
        return client

    async def test_is_disconnected_and_delays_nobody(self) -> None:
        sender, slow = await self.join("sender"), await self.join("slow")

        draw = {"type": "draw", "boardId": "b", "userId": "sender", "sentAt": 0, "stroke": [[1, 2]], "padding": PADDING}
        for seq in range(DRAWS):
            await sender.send(json.dumps(draw | {"seq": seq}))
            self.assertEqual(json.loads(await asyncio.wait_for(sender.recv(), 1))["seq"], seq)

        received = 0
        with self.assertRaises(ConnectionClosed):
            while True:
                await asyncio.wait_for(slow.recv(), 1)
                received += 1
        self.assertLess(received, DRAWS)
        await sender.close()
