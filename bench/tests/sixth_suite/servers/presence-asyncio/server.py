"""Counts who is there, in one event loop."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import platform
import signal

greetings = itertools.count(1)
HEALTH = {"server": "presence-asyncio", "runtime": f"Python {platform.python_version()}", "framework": "asyncio"}


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:-2])
            await reader.readexactly(int(fields.get("content-length", 0)))
            status, body = answer(*head.split(" ", 2)[:2])
            writer.write(f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        writer.close()


def answer(method: str, path: str) -> tuple[int, str]:
    match method, path:
        case "GET", "/healthz":
            return 200, json.dumps(HEALTH)
        case "POST", "/presence":
            return 200, str(next(greetings))
    return 404, "{}"


async def main() -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server = await asyncio.start_server(serve, "0.0.0.0", int(os.environ["PORT"]))
    await ended.wait()
    server.close()


asyncio.run(main())
