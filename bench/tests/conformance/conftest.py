"""Starts the whiteboard server of these tests, with the faults that a test asks for."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pushbench import processes
from pushbench.conformance import Subject
from pushbench.process_driver import ProcessInstance
from pushbench.resources import Tree

SERVER = Path(__file__).with_name("whiteboard_server.py")
Subjects = Callable[..., Subject]


@dataclass
class FakeService:
    """A service whose loss the server is told by a signal."""

    server: int
    name: str = "fake"
    url: str = "fake://"
    tree: Tree = field(default_factory=lambda: Tree(0))

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        os.kill(self.server, signal.SIGUSR1)
        yield


@pytest.fixture
def whiteboard(tmp_path: Path) -> Subjects:
    """`whiteboard("whiteboard-json", "loses")`: the server as a subject, over a protocol and with faults."""

    def subject(protocol: str, *faults: str) -> Subject:
        services = ["fake"] if any("outage" in fault for fault in faults) else []

        @contextlib.contextmanager
        def start() -> Iterator[ProcessInstance]:
            port = _free_port()
            instance = ProcessInstance(
                processes.start(
                    [sys.executable, str(SERVER), *faults],
                    folder=tmp_path,
                    environment=processes.clean_environment({"PORT": str(port), "SERVER": "whiteboard-server"}),
                    cpus=os.sched_getaffinity(0),
                    log=tmp_path / "server.log",
                ),
                f"http://127.0.0.1:{port}",
                [],
            )
            instance.services = [FakeService(instance.pid) for _ in services]
            try:
                _await_port(port)
                yield instance
            finally:
                instance.terminate()

        return Subject("whiteboard-server", "whiteboard", protocol, services, start)

    return subject


def _free_port() -> int:
    """Of the range that these tests keep to; where they run side by side, each has a part of it."""
    first = 24_000 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for port in range(first, first + 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no free port")


def _await_port(port: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    raise TimeoutError("the server does not listen")
