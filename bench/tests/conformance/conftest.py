"""Starts the whiteboard server of these tests, with the faults that a test requests."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pushbench.conformance import Subject
from pushbench.conformance.whiteboard import crowds, delivery
from pushbench.drivers.process import ProcessInstance
from pushbench.machine import processes
from pushbench.machine.resources import Tree
from tests.conformance import forked

logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns about each message to a client that has left
Subjects = Callable[..., Subject]


@dataclass
class FakeService:
    """A service whose loss and return are signalled to the server."""

    server: int
    name: str = "fake"
    url: str = "fake://"
    tree: Tree = field(default_factory=lambda: Tree(0))

    def ask(self, question: str) -> str:
        raise NotImplementedError

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        os.kill(self.server, signal.SIGUSR1)
        yield
        os.kill(self.server, signal.SIGUSR2)


@pytest.fixture(autouse=True)
def little_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send just enough to reveal the faults of the whiteboard server, whose send buffers are small."""
    monkeypatch.setattr(crowds, "flood_size", lambda: 3 * crowds.QUEUE_LIMIT)
    monkeypatch.setattr(delivery, "BURST", 120)


@pytest.fixture
def whiteboard(tmp_path: Path) -> Subjects:
    """`whiteboard("whiteboard-json", "loses")`: the server as a subject, with a protocol and faults."""

    def subject(protocol: str, *faults: str) -> Subject:
        ends = any("lost-service" in fault for fault in faults)
        services = ["fake"] if ends or any("outage" in fault for fault in faults) else []
        starts = itertools.count(1)

        @contextlib.contextmanager
        def start() -> Iterator[ProcessInstance]:
            program = forked.start(
                faults,
                folder=tmp_path,
                environment=processes.clean_environment({"PORT": "0", "SERVER": "whiteboard-server"}),
                log=tmp_path / f"server-{next(starts)}.log",
            )
            instance = ProcessInstance(lambda: program, "", [])
            instance.services = [FakeService(instance.pid) for _ in services]
            try:
                instance.url = f"http://127.0.0.1:{_port_of(program)}"
                yield instance
            finally:
                instance.terminate()

        return Subject(
            "whiteboard-server",
            "whiteboard",
            protocol,
            services,
            start,
            "ends-connections" if ends else "keeps-clients",
        )

    return subject


def _port_of(program: processes.Program) -> int:
    """The port from the server's log. A port chosen before its start might be taken by then."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and program.exit_code() is None:
        if told := re.search(r"^listens on (\d+)$", program.log.read_text(), re.MULTILINE):
            return int(told[1])
        time.sleep(0.01)
    raise TimeoutError(f"the server does not listen: {program.log_tail()}")
