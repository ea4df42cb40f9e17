import asyncio
import json
import unittest

import uvicorn
from starlette.types import Message

from app.main import TokenStream, create_app
from app.requests import StreamRequest
from app.server import Server
from app.streams import TEXT, Streams


def event(number: int) -> bytes:
    return f"id: {number}\ndata: {TEXT[number]}\n\n".encode()


class TokenStreams(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.streams = Streams()
        config = uvicorn.Config(create_app(self.streams), port=0, ws="none", lifespan="off", log_level="warning")
        self.server = Server(config, self.streams)
        self.serving = asyncio.create_task(self.server.serve())
        while not self.server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)

    async def asyncTearDown(self) -> None:
        self.server.should_exit = True
        await self.serving

    async def connect(self, request: str, *headers: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        port = self.server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write("\r\n".join([f"{request} HTTP/1.1", "Host: test", *headers, "", ""]).encode())
        return reader, writer

    async def ask(self, request: str, *headers: str) -> tuple[int, bytes]:
        """Returns the status and the body, without the lines of the chunked coding."""
        reader, writer = await self.connect(request, "Connection: close", *headers)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        if b"chunked" in head:
            self.assertTrue(body.endswith(b"0\r\n\r\n"))
            body = b"".join(body.split(b"\r\n")[1::2])
        return int(head.split()[1]), body

    async def test_send_each_character_as_an_event(self) -> None:
        for target in ("/stream", "/stream?pace=1000"):
            self.assertEqual(await self.ask(f"GET {target}"), (200, b"".join(map(event, range(len(TEXT))))))

    async def test_resume_after_the_last_event(self) -> None:
        for last in (17, len(TEXT) - 1):
            expected = b"".join(event(number) for number in range(last + 1, len(TEXT)))
            self.assertEqual(await self.ask("GET /stream", f"Last-Event-ID: {last}"), (200, expected))

    async def test_end_when_the_client_leaves(self) -> None:
        reader, writer = await self.connect("GET /stream?pace=1")
        await reader.readuntil(event(0))
        self.assertEqual(self.streams.active, 1)
        writer.close()
        await asyncio.sleep(0.1)
        self.assertEqual(self.streams.active, 0)

    async def test_end_quietly_when_the_transport_is_closed_before_uvicorn_knows(self) -> None:
        left = asyncio.Event()

        async def receive() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(_: Message) -> None:
            left.set()
            raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")

        stream = TokenStream(self.streams, StreamRequest(pace=1))
        await asyncio.wait_for(stream({"type": "http"}, receive, send), 1)
        self.assertEqual(self.streams.active, 0)

    async def test_end_properly_when_the_server_stops(self) -> None:
        reader, writer = await self.connect("GET /stream?pace=1")
        await reader.readuntil(event(0))
        self.server.should_exit = True
        self.assertEqual(await asyncio.wait_for(reader.read(), 1), b"\r\n0\r\n\r\n")
        writer.close()

    async def test_refusals_are_json(self) -> None:
        for request, headers, status in [
            ("GET /stream?pace=x", [], 400),
            ("GET /stream/", [], 404),
            ("DELETE /stream", [], 405),
            ("POST /stream", ["Content-Length: 65537"], 413),
        ]:
            answered, body = await self.ask(request, *headers)
            self.assertEqual(answered, status)
            self.assertEqual(list(json.loads(body)), ["error"])
