"""Starts the posts server of these tests in a thread, with the faults that a test asks for."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest

from pushbench.conformance import Subject, bounds
from pushbench.conformance.bounds import MIB
from pushbench.conformance.posts import crowds
from pushbench.drivers.service import Running
from pushbench.machine.processes import Exit
from pushbench.machine.procfs import Stat
from pushbench.machine.resources import Tree, Usage
from tests.conformance.posts.server import Server

T = TypeVar("T")
Subjects = Callable[..., Subject]
NAME = "posts-server"


@dataclass(frozen=True)
class Memory:
    """This process, whose memory is what the server keeps for its clients."""

    server: Server

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return Tree(os.getpid()).members(everyone)

    def open_sockets(self) -> int:
        return Tree(os.getpid()).open_sockets()

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        return Usage(time.monotonic(), 0, 0, 0, 10_000_000 + self.server.queued_bytes, 1, 1)


class Target:
    """The server while it runs."""

    replicas = 1

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self._server, self._loop = server, loop
        self.run(server.start())
        self.url = f"http://127.0.0.1:{server.port}"
        self.tree = Memory(server)
        self.services: Sequence[Running] = [server.table]
        self._exit: Exit | None = None

    def run(self, coroutine: Coroutine[None, None, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def terminate(self, timeout: float) -> Exit:
        if self._exit is None:
            began = time.monotonic()
            self._exit = Exit(self.run(self._server.stop()), time.monotonic() - began, killed=False)
        return self._exit

    def log_tail(self) -> str:
        return ""

    def output_bytes(self) -> int:
        return self._server.printed


@pytest.fixture(autouse=True)
def little_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows the faults of the server of these tests, whose send buffers are small; real servers get more."""
    monkeypatch.setattr(crowds, "UNREAD", 6 * MIB)
    monkeypatch.setattr(bounds, "MEMORY_BOUND", 1 * MIB)


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Where the servers run."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    asyncio.run_coroutine_threadsafe(_settle(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def _settle() -> None:
    """End what serves connections that were aborted, so that no socket is left to the garbage collector."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0.05)


@pytest.fixture
def posts(loop: asyncio.AbstractEventLoop) -> Subjects:
    """`posts("nagles")`: the server as a subject, with faults."""

    def subject(*faults: str) -> Subject:
        @contextlib.contextmanager
        def start() -> Iterator[Target]:
            server = Server(NAME, frozenset(faults))
            target = Target(server, loop)
            try:
                yield target
            finally:
                loop.call_soon_threadsafe(server.kill)

        return Subject(NAME, "posts", "posts-http", ["mysql"], start)

    return subject
