"""Runs the server of token streams in a thread of the test, with the faults that it asks for."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from pushbench.conformance import Subject
from pushbench.conformance.token_stream import leaving
from pushbench.drivers.service import Running
from pushbench.machine.processes import Exit
from pushbench.machine.procfs import Stat, open_sockets, stats
from pushbench.machine.resources import Usage
from tests.conformance.token_stream.token_server import TokenServer

NAME = "token-server"
Subjects = Callable[..., Subject]


@dataclass(frozen=True)
class ThisProcess:
    """What a server uses that is a thread of this process: of its memory only what it keeps for clients."""

    server: TokenServer

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return [stat for stat in everyone if stat.pid == os.getpid()]

    def open_sockets(self) -> int:
        return open_sockets(self.members(list(stats())))

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage:
        return Usage(time.monotonic(), 0, 0, 0, sum(map(len, self.server.hoard)), 1, 1)


@dataclass
class Thread:
    """A server in a thread, as a target."""

    server: TokenServer
    loop: asyncio.AbstractEventLoop
    url: str
    services: Sequence[Running] = ()
    replicas = 1
    tree: ThisProcess = field(init=False)

    def __post_init__(self) -> None:
        self.tree = ThisProcess(self.server)

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


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of these tests notices at once that a client has left; real servers get more time."""
    monkeypatch.setattr(leaving, "IDLE", 0.2)
    monkeypatch.setattr(leaving, "WITHIN", 0.2)
    monkeypatch.setattr(leaving, "CLOSED", 0.3)


@pytest.fixture
def token_stream() -> Subjects:
    """`token_stream("loses")`: the server as a subject, with faults."""

    def subject(*faults: str) -> Subject:
        @contextlib.contextmanager
        def start() -> Iterator[Thread]:
            with serving(faults) as thread:
                yield thread

        return Subject(NAME, "token-stream", "token-stream-sse", [], start)

    return subject


@contextlib.contextmanager
def serving(faults: Sequence[str]) -> Iterator[Thread]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> tuple[TokenServer, int]:
        server = TokenServer(NAME, frozenset(faults))
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
