"""The broker of a trial serves STOMP on the loopback interface, joins no other, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import pytest

from pushbench.building.engine import Engine
from pushbench.catalog.servers import read_servers
from pushbench.drivers import services
from pushbench.drivers.containers import composition
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import Build
from pushbench.drivers.rabbitmq import RABBITMQ
from pushbench.drivers.service_images import POLICY, service_images
from pushbench.drivers.services import Place
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.ports import free_port
from pushbench.machine.procfs import Stat, read_stat, socket_inodes, stats
from tests.support import add_server, make_project

ENGINE = Engine.find()
[IMAGE] = service_images(["rabbitmq"])
CPUS = sorted(os.sched_getaffinity(0))
needs_rabbitmq = pytest.mark.skipif(bool(services.missing(["rabbitmq"])), reason="rabbitmq-server is not installed")
LISTENING = "0A"
LOOPBACK = {"0100007F", "00000000000000000000000001000000"}
"""127.0.0.1 and ::1, as /proc has them"""


class Stomp:
    """A connection to a broker."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = socket.create_connection((host, port), timeout=10)
        self.send("CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n")
        assert self.next().startswith("CONNECTED\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def send(self, frame: str) -> None:
        self._connection.sendall(frame.encode() + b"\0")

    def next(self) -> str:
        frame = b""
        while not frame.endswith(b"\0"):
            piece = self._connection.recv(1)
            if not piece:
                raise EOFError
            frame += piece if piece != b"\n" or frame else b""
        return frame[:-1].decode()


def speak(host: str, port: int) -> None:
    """A message of one client to a topic arrives at another client."""
    with Stomp(host, port) as reader, Stomp(host, port) as writer:
        reader.send("SUBSCRIBE\nid:1\ndestination:/topic/board.7\nreceipt:there\n\n")
        assert "receipt-id:there" in reader.next()
        writer.send("SEND\ndestination:/topic/board.7\n\na stroke")
        assert reader.next().endswith("\n\na stroke")


def listeners(pids: list[int]) -> set[str]:
    """The addresses on which these processes listen, as in /proc."""
    own = {inode for pid in pids for inode in socket_inodes(pid)}
    lines = [
        line.split() for file in ("tcp", "tcp6") for line in Path(f"/proc/net/{file}").read_text().splitlines()[1:]
    ]
    return {line[1].partition(":")[0] for line in lines if line[3] == LISTENING and int(line[9]) in own}


def await_end(processes: Sequence[Stat]) -> None:
    deadline = time.monotonic() + 60
    while left := [each for each in processes if (now := read_stat(each.pid)) and now.state != "Z"]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


@needs_rabbitmq
@pytest.mark.slow
def test_it_listens_to_this_machine_alone_comes_back_and_ends_with_its_register(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with services.running(["rabbitmq"], free_port, Place(CPUS, tmp_path / "logs", data)) as [broker]:
        assert re.fullmatch(r"stomp://guest:guest@127\.0\.0\.1:\d+", broker.url)
        address = "127.0.0.1", urlsplit(broker.url).port or 0
        speak(*address)
        first = broker.tree.members(list(stats()))
        assert listeners([each.pid for each in first]) <= LOOPBACK
        with broker.outage():
            await_end(first)
            with pytest.raises(ConnectionRefusedError):
                Stomp(*address)
        speak(*address)
        second = broker.tree.members(list(stats()))
    await_end(second)
    assert list((data / "rabbitmq").iterdir()) == []


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif(
    ENGINE is None or not ENGINE.image(IMAGE.reference), reason="needs a container engine with the image of RabbitMQ"
)
def test_in_a_container_it_is_the_same_and_leaves_nothing(tmp_path: Path) -> None:
    assert ENGINE
    server = add_server(make_project(tmp_path), "x")
    server.file.write_text(server.file.read_text() + "services: [rabbitmq]\n")
    [server] = read_servers(server.folder)
    driver = DockerDriver(Project.at(tmp_path), CpuSplit(CPUS, CPUS), ENGINE)
    choices = driver._choices(server, Build("x", f"sha256:{'0' * 64}"), {})
    with composition(ENGINE, driver.project, choices, [POLICY]) as trial:
        broker = driver._start_service(trial, RABBITMQ, None)
        speak(urlsplit(broker.url).hostname or "", RABBITMQ.port)
        with broker.outage():
            pass
        speak(urlsplit(broker.url).hostname or "", RABBITMQ.port)
        [process, *_] = broker.tree.members(list(stats()))
        assert Path(f"/proc/{process.pid}").stat().st_uid != 0
    assert ENGINE.run("volume", "ls", "--quiet", "--filter", f"name={trial.name}") == ""
