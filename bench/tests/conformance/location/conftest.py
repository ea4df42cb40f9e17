"""Runs the server of positions in a thread of the test, with the faults that it asks for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pushbench.conformance import Subject
from pushbench.drivers.service import Running
from pushbench.machine.processes import Exit
from tests.conformance.location.location_server import HTTPServer
from tests.conformance.location.socket_server import SocketServer
from tests.conformance.location.stomp_server import StompServer

NAME = "location-server"
SERVERS: dict[str, type[SocketServer]] = {"location-websocket": SocketServer, "location-stomp": StompServer}
Subjects = Callable[..., Subject]


@dataclass
class Thread:
    """A server in a thread, as a target."""

    server: HTTPServer | SocketServer
    loop: asyncio.AbstractEventLoop
    url: str
    services: Sequence[Running] = ()
    replicas = 1
    tree: Any = field(default=None)

    def terminate(self, timeout: float) -> Exit:
        began = time.monotonic()
        asyncio.run_coroutine_threadsafe(self.server.stop(), self.loop).result(timeout)
        lingered = 6.0 if "lingers" in self.server.faults else 0.0
        code = 1 if "exits-with-1" in self.server.faults else 0
        return Exit(code, time.monotonic() - began + lingered, killed=False)

    def log_tail(self) -> str:
        return ""

    def output_bytes(self) -> int:
        return self.server.printed


@pytest.fixture
def location() -> Subjects:
    """`location("location-sse", "loses")`: the server as a subject, with faults."""

    def subject(protocol: str, *faults: str) -> Subject:
        @contextlib.contextmanager
        def start() -> Iterator[Thread]:
            with serving(protocol, faults) as thread:
                yield thread

        return Subject(NAME, "location", protocol, [], start)

    return subject


@contextlib.contextmanager
def serving(protocol: str, faults: Sequence[str]) -> Iterator[Thread]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> tuple[HTTPServer | SocketServer, int]:
        server = SERVERS.get(protocol, HTTPServer)(NAME, frozenset(faults))
        return server, await server.start()

    try:
        server, port = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
        target = Thread(server, loop, f"http://127.0.0.1:{port}")
        yield target
        target.terminate(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
