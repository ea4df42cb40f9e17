"""Runs the server of typing games in a thread of the test, with the faults that it asks for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

import pytest

from pushbench.conformance import Subject, bounds
from pushbench.conformance.bounds import MIB
from pushbench.conformance.typing_game import crowds, joining, keeping, load, metricz, player, typing
from pushbench.drivers.service import Running
from pushbench.machine.processes import Exit
from pushbench.machine.procfs import Stat
from pushbench.machine.resources import Usage
from tests.conformance.typing_game import game_server
from tests.conformance.typing_game.arena import Times
from tests.conformance.typing_game.game_server import GameServer

NAME = "game-server"
CLIENTS = import_module("pushbench.conformance.typing_game.clients")  # a function of the package has its name
TIMES = Times(seat=0.8, gathering=0.4, countdown=0.15)
Subjects = Callable[..., Subject]


@pytest.fixture(autouse=True)
def little_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of these tests has shorter times and smaller buffers; real servers get the rules as they are."""
    for module, name, value in (
        (keeping, "SEAT_SECONDS", TIMES.seat),
        (keeping, "EARLY", 0.2),
        (keeping, "LATE", 0.1),
        (joining, "GATHERING", TIMES.gathering),
        (joining, "COUNTDOWN", TIMES.countdown),
        (joining, "EARLY", 0.03),
        (CLIENTS, "COUNTDOWN", TIMES.countdown),
        (metricz, "WINDOW", 0.2),
        (game_server, "WINDOW", 0.2),
        *((module, "PROMPT", 0.5) for module in (player, CLIENTS, joining, metricz)),
        (player, "QUIET", 0.03),
        (typing, "BURST", 20),
        (typing, "ROOMS", 4),
        (typing, "PATIENCE", 0.5),
        (crowds, "FLOOD", 7_000),
        (load, "LOGGED", 250),
        (load, "PAIRS", 8),
        (bounds, "MEMORY_BOUND", 3 * MIB),
    ):
        monkeypatch.setattr(module, name, value)


@dataclass(frozen=True)
class Memory:
    """What the server keeps for its clients, as its memory."""

    server: GameServer

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return []

    def open_sockets(self) -> int:
        return 0

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        return Usage(time.monotonic(), 0, 0, 0, 10_000_000 + self.server.queued_bytes, 1, 1)


class Thread:
    """A server in a thread, as a target."""

    replicas = 1

    def __init__(self, server: GameServer, loop: asyncio.AbstractEventLoop, url: str) -> None:
        self.server, self.loop, self.url = server, loop, url
        self.services: Sequence[Running] = ()
        self.tree = Memory(server)

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
def game() -> Subjects:
    """`game("loses-some")`: the server as a subject, with faults."""

    def subject(*faults: str) -> Subject:
        return Subject(NAME, "typing-game", "typing-game-socketio", [], lambda: serving(faults))

    return subject


@contextlib.contextmanager
def serving(faults: Sequence[str]) -> Iterator[Thread]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> tuple[GameServer, int]:
        server = GameServer(NAME, frozenset(faults), TIMES)
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
