"""A Redis with scripted answers: it records commands, and by itself replies only to HELLO."""

import asyncio
from typing import Self

import hiredis


class ScriptedRedis(asyncio.Protocol):
    """`async with` starts it; it serves one connection at a time."""

    def __init__(self) -> None:
        self._commands: asyncio.Queue[list[str]] = asyncio.Queue()
        self._transport: asyncio.Transport | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(lambda: self, "127.0.0.1", 0)
        self.url = f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._reader = hiredis.Reader(encoding="utf-8")

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while command := self._reader.gets():
            if command[0] == "HELLO":
                self.say(b"+OK\r\n")
            else:
                self._commands.put_nowait(command)

    async def next_command(self) -> list[str]:
        return await asyncio.wait_for(self._commands.get(), 2)

    async def no_command(self) -> bool:
        await asyncio.sleep(0.02)
        return self._commands.empty()

    def say(self, octets: bytes) -> None:
        self._transport.write(octets)

    def push(self, kind: str, channel: str, content: str | int) -> None:
        last = f":{content}\r\n" if isinstance(content, int) else _bulk(content)
        self.say((">3\r\n" + _bulk(kind) + _bulk(channel) + last).encode())

    def drop(self) -> None:
        """End the connection."""
        if self._transport:
            self._transport.abort()

    def stop(self) -> None:
        self._server.close()
        self.drop()


def _bulk(text: str) -> str:
    return f"${len(text.encode())}\r\n{text}\r\n"
