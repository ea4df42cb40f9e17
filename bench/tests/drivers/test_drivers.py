"""A server runs once it is healthy and the right one, and ends as its contract requires; failures have reasons."""

from __future__ import annotations

import json
import os
import socket
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.building.toolchains import Toolset
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import read_servers
from pushbench.drivers.driver import Build, WrongServer, await_health
from pushbench.drivers.process import ProcessDriver
from pushbench.drivers.workers import NotKilled
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.ports import free_port, require_free
from pushbench.machine.procfs import read_stat, socket_inodes, stats
from tests.support import add_server, make_project

BUILT = Build("x", "digest", Toolset())


def driver(tmp_path: Path, port: int | None = None) -> ProcessDriver:
    cpus = sorted(os.sched_getaffinity(0))
    return ProcessDriver(Project.at(tmp_path), CpuSplit(cpus, cpus), port)


def failure(tmp_path: Path, behaviour: str) -> ServerFailed:
    server = add_server(make_project(tmp_path), "x", behaviour)
    with pytest.raises(ServerFailed) as raised, driver(tmp_path).running(server, BUILT):
        pass
    assert raised.value.failure.step == "start"
    return raised.value


def test_a_running_server_has_an_address_a_name_and_a_size(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    with driver(tmp_path).running(server, BUILT, env={"EXTRA": "1"}) as instance:
        with urllib.request.urlopen(f"{instance.url}/healthz") as response:
            assert json.load(response)["server"] == "x"
        assert instance.reported
        assert instance.reported.server == "x"
        usage = instance.tree.usage()
        assert usage
        assert usage.memory_bytes > 5_000_000
        assert instance.exited() is None
        environment = Path(f"/proc/{instance.pid}/environ").read_text().split("\0")
        assert {"EXTRA=1", "FAKE_ID=x", f"WORKERS={len(os.sched_getaffinity(0))}"} <= set(environment)
        assert "hello" in instance.log_tail()
        assert instance.output_bytes() == len("hello from the fake server\n")
    assert read_stat(instance.pid) is None


def test_terminating_tells_how_the_server_ended_and_may_be_asked_again(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    with driver(tmp_path).running(server, BUILT) as instance:
        stopped = instance.terminate(5)
        assert (stopped.code, stopped.killed) == (0, False)
        assert instance.terminate(5) == stopped
        assert instance.exited() == "exit code 0"
        assert instance.tree.usage() is None


def test_a_server_that_does_not_end_is_killed(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x", "stubborn")
    with driver(tmp_path).running(server, BUILT) as instance:
        assert instance.terminate(0.2).killed
    assert read_stat(instance.pid) is None


def test_the_server_ends_when_the_test_of_it_fails(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    with pytest.raises(ZeroDivisionError), driver(tmp_path).running(server, BUILT) as instance:
        raise ZeroDivisionError
    assert read_stat(instance.pid) is None


def test_a_server_that_ends_at_once_is_told_with_what_it_printed(tmp_path: Path) -> None:
    told = failure(tmp_path, "exits").failure
    assert told.message == "ended with exit code 3 before it was healthy"
    assert "it cannot go on" in told.log_tail


def test_a_server_that_never_becomes_healthy_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushbench.drivers.driver.START_SECONDS", 0.5)
    assert "did not answer 200 within 0.5 s" in failure(tmp_path, "mute").failure.message


def test_another_server_than_the_one_that_was_started_is_not_measured(tmp_path: Path) -> None:
    told = failure(tmp_path, "wrong_id")
    assert isinstance(told, WrongServer)
    assert told.failure.message == "/healthz reports the server 'somebody-else', expected 'x'"


@pytest.mark.slow
def test_an_address_that_another_process_serves_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path)
    with driver(tmp_path).running(add_server(project, "x"), BUILT) as other:
        monkeypatch.setattr("pushbench.drivers.process.require_free", lambda _: None)
        port = int(other.url.rpartition(":")[2])
        server = add_server(project, "y")
        with pytest.raises(WrongServer, match=f"port {port} is served by another process"):
            with driver(tmp_path / "y", port).running(server, BUILT):
                pass


def test_a_start_command_that_does_not_exist_is_the_servers_failure(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    gone = server.process.model_copy(update={"start": ["no-such-program"]})
    server = replace(server, spec=server.spec.model_copy(update={"process": gone}))
    with pytest.raises(ServerFailed, match="no-such-program: No such file"), driver(tmp_path).running(server, BUILT):
        pass


def test_a_port_in_use_is_the_users_to_solve(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} cannot be used: Address already in use; choose another"):
            with driver(tmp_path, port).running(server, BUILT):
                pass


@pytest.mark.slow
@pytest.mark.parametrize("ready", ["port", "/status"])
def test_a_server_without_healthz_is_ready_by_its_port_or_a_path_and_tells_no_versions(
    tmp_path: Path, ready: str
) -> None:
    server = add_server(make_project(tmp_path), "x", "wrong_id")
    server.file.write_text(f"{server.file.read_text()}ready: {ready}\n")
    with driver(tmp_path).running(read_servers(server.folder)[0], BUILT) as instance:
        assert instance.reported is None
        with urllib.request.urlopen(instance.url) as response:
            assert response.status == 200


@pytest.mark.slow
def test_a_port_that_opens_is_not_a_path_that_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushbench.drivers.driver.START_SECONDS", 1.0)
    server = add_server(make_project(tmp_path), "x", "mute")
    text = server.file.read_text()
    server.file.write_text(f"{text}ready: port\n")
    with driver(tmp_path).running(read_servers(server.folder)[0], BUILT):
        pass
    server.file.write_text(f"{text}ready: /status\n")
    with pytest.raises(ServerFailed, match="/status did not answer 200 within 1 s"):
        with driver(tmp_path).running(read_servers(server.folder)[0], BUILT):
            pass


def test_a_free_port_is_free() -> None:
    require_free(free_port())


@pytest.mark.slow
def test_a_server_that_is_killed_is_started_again_at_its_address_and_its_cpu_goes_on(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    with driver(tmp_path).running(server, BUILT) as instance:
        first, before = instance.pid, instance.tree.usage()
        assert before
        with instance.outage():
            assert read_stat(first) is None
            assert instance.exited() is None, "it is away, and has not ended"
            assert instance.tree.usage() is None
        assert instance.pid != first
        assert await_health(instance)
        after = instance.tree.usage()
        assert after
        assert after.cpu_seconds > before.cpu_seconds > 0
        assert instance.terminate(5).code == 0


def test_a_worker_is_the_process_with_the_most_sockets_and_never_the_first_one(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x", "workers")
    with driver(tmp_path).running(server, BUILT) as instance:
        first, *workers = sorted(stat.pid for stat in instance.tree.members(list(stats())))
        busiest = max(workers, key=lambda pid: len(socket_inodes(pid)))
        instance.kill_worker()
        while (stat := read_stat(busiest)) and stat.state != "Z":
            pass
        assert {stat.pid for stat in instance.tree.members(list(stats()))} == {first, *workers} - {busiest}
        assert instance.exited() is None


def test_a_server_without_workers_is_left_alone(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    with driver(tmp_path).running(server, BUILT) as instance:
        with pytest.raises(NotKilled, match="none with an open socket"):
            instance.kill_worker()
        assert instance.exited() is None
