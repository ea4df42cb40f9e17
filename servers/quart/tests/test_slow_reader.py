import asyncio
import json
import socket
import unittest

from hypercorn.asyncio import serve
from hypercorn.config import Config
from wsproto import ConnectionType, WSConnection
from wsproto.events import Request, TextMessage

from app import connection
from app.main import app, stop

# More than the kernel's socket buffers and the server's queue hold together.
DRAWS = 300
PADDING = "x" * 60_000


class Member:
    """A client that has joined a board."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self._text = ""

    async def join(self, user_id: str) -> None:
        self._writer.write(self._protocol.send(Request(host="127.0.0.1", target="/ws")))
        while not await self._events():
            pass
        self.say({"type": "join", "boardId": "b", "userId": user_id})
        await self.next_text()

    def say(self, message: object) -> None:
        self._writer.write(self._protocol.send(TextMessage(json.dumps(message))))

    async def next_text(self) -> str:
        """Returns the text of the next message. Raises IncompleteReadError when the connection has ended."""
        while True:
            for event in await self._events():
                if isinstance(event, TextMessage):
                    self._text += event.data
                    if event.message_finished:
                        text, self._text = self._text, ""
                        return text

    async def _events(self) -> list[object]:
        data = await asyncio.wait_for(self._reader.read(1 << 16), 5)
        if not data:
            raise asyncio.IncompleteReadError(b"", None)
        self._protocol.receive_data(data)
        return list(self._protocol.events())

    def close(self) -> None:
        self._writer.close()


class SlowReader(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        connection.install()
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = listening.getsockname()
        self.stopping = asyncio.Event()
        config = Config()
        config.bind = [f"fd://{listening.detach()}"]
        config.loglevel = "WARNING"
        self.serving = asyncio.create_task(serve(app, config, shutdown_trigger=self.until_stopped))

    async def until_stopped(self) -> None:
        await self.stopping.wait()
        stop()

    async def asyncTearDown(self) -> None:
        self.stopping.set()
        await self.serving

    async def join(self, user_id: str) -> Member:
        member = Member(*await asyncio.open_connection(*self.address))
        self.addCleanup(member.close)
        await member.join(user_id)
        return member

    async def test_is_disconnected_and_delays_nobody(self) -> None:
        sender, slow = await self.join("sender"), await self.join("slow")

        draw = {"type": "draw", "boardId": "b", "userId": "sender", "sentAt": 0, "stroke": [[1, 2]], "padding": PADDING}
        for seq in range(DRAWS):
            sender.say(draw | {"seq": seq})
            self.assertEqual(json.loads(await sender.next_text())["seq"], seq)

        received = 0
        with self.assertRaises((asyncio.IncompleteReadError, ConnectionError)):
            while True:
                await slow.next_text()
                received += 1
        self.assertLess(received, DRAWS)
