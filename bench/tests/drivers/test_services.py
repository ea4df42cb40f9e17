"""A backing service is fresh for each trial, can be killed and restarted, and leaves nothing behind."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pushbench.building import toolchains
from pushbench.building.toolchains import Missing, Toolset
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import read_servers
from pushbench.drivers import services
from pushbench.drivers.driver import Build
from pushbench.drivers.process import ProcessDriver
from pushbench.drivers.services import Place
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.ports import free_port
from pushbench.machine.procfs import read_stat, stats
from tests.support import add_server, make_project

needs_redis = pytest.mark.skipif(bool(services.missing(["redis"])), reason="redis-server is not installed")

CPUS = sorted(os.sched_getaffinity(0))


def place(folder: Path) -> Place:
    return Place(CPUS, folder / "logs", folder / "data")


def ask(url: str, command: str) -> str:
    with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=5) as connection:
        connection.sendall(f"{command}\r\n".encode())
        return connection.recv(4096).decode().strip()


@needs_redis
def test_a_service_is_ready_when_the_block_begins_and_gone_when_it_ends(tmp_path: Path) -> None:
    with services.running(["redis"], free_port, place(tmp_path)) as [redis]:
        assert ask(redis.url, "PING") == "+PONG"
        usage = redis.tree.usage()
        assert usage
        assert usage.memory_bytes > 1_000_000
        [process] = redis.tree.members(list(stats()))
    assert read_stat(process.pid) is None


@needs_redis
def test_an_outage_ends_it_and_brings_it_back_empty_at_the_same_address(tmp_path: Path) -> None:
    with services.running(["redis"], free_port, place(tmp_path)) as [redis]:
        assert ask(redis.url, "SET board 1") == "+OK"
        with redis.outage(), pytest.raises(ConnectionRefusedError):
            ask(redis.url, "PING")
        assert ask(redis.url, "GET board") == "$-1"


@needs_redis
def test_a_service_that_cannot_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(ServerFailed, match=r"the service redis ended with exit code 1 at its start") as raised,
            services.running(["redis"], lambda: port, place(tmp_path)),
        ):
            pass
    assert "Address already in use" in raised.value.failure.log_tail


@needs_redis
def test_a_server_gets_the_address_of_what_it_needs(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    server.file.write_text(server.file.read_text() + "services: [redis]\n")
    [server] = read_servers(server.folder)
    driver = ProcessDriver(Project.at(tmp_path), CpuSplit(CPUS, CPUS))
    with driver.running(server, Build("x", "digest", Toolset())) as instance:
        [redis] = instance.services
        environment = Path(f"/proc/{instance.pid}/environ").read_text().split("\0")
        assert f"REDIS_URL={redis.url}" in environment
    assert redis.tree.usage() is None


def test_a_service_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Missing("redis-server", ">=7", [], "install it")
    monkeypatch.setattr(toolchains, "find", lambda *_: absent)
    assert services.missing(["redis"]) == [absent]
