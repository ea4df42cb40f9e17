"""The database of a trial is durable, is on a disk, has the suite's table, and is not shared."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.building.engine import Engine
from pushbench.building.toolchains import Toolchain
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import read_servers
from pushbench.drivers import mysql, services
from pushbench.drivers.containers import composition
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import Build
from pushbench.drivers.mysql import MYSQL, product
from pushbench.drivers.service_images import POLICY, service_images
from pushbench.drivers.services import Place, ServiceProcess, content_of
from pushbench.foundation.project import Project
from pushbench.machine import filesystems
from pushbench.machine.environment import CpuSplit
from pushbench.machine.ports import free_port
from pushbench.machine.procfs import read_stat, stats
from tests.support import add_server, make_project

ENGINE = Engine.find()
[IMAGE] = service_images(["mysql"])
CPUS = sorted(os.sched_getaffinity(0))
needs_mariadb = pytest.mark.skipif(bool(services.missing(["mysql"])), reason="mariadb-server is not installed")


@pytest.fixture(scope="module")
def data() -> Path:
    """The checkout's folder: MariaDB may run as another user, and only the tests' user can enter the tests' folder."""
    folder = Project.current().service_data
    folder.mkdir(parents=True, exist_ok=True)
    if filesystems.kind(folder) in filesystems.IN_MEMORY:
        pytest.skip("the checkout is in memory")
    return folder


@pytest.fixture
def contents(tmp_path: Path) -> Path:
    (tmp_path / "diary.sql").write_text("-- what it begins with\nCREATE TABLE entry (\n  text VARCHAR(9)\n);\n")
    return tmp_path / "diary"


@pytest.fixture
def database(data: Path, tmp_path: Path, contents: Path) -> Iterator[ServiceProcess]:
    with services.running(["mysql"], free_port, Place(CPUS, tmp_path / "logs", data), contents) as [running]:
        yield running


@needs_mariadb
@pytest.mark.slow
def test_it_has_the_suite_s_table_keeps_what_was_committed_and_is_fresh_the_next_time(
    data: Path, tmp_path: Path, contents: Path
) -> None:
    place = Place(CPUS, tmp_path / "logs", data)
    with services.running(["mysql"], free_port, place, contents) as [database]:
        assert database.ask("INSERT INTO entry VALUES ('dear'); SELECT * FROM entry") == "dear\n"
        [process] = database.tree.members(list(stats()))
        with database.outage():
            assert read_stat(process.pid) is None
            with pytest.raises(ServerFailed, match="the service mysql does not answer"):
                database.ask("SELECT 1")
        assert database.ask("SELECT * FROM entry") == "dear\n"
    with services.running(["mysql"], free_port, place, contents) as [database]:
        assert database.ask("SELECT COUNT(*) FROM entry") == "0\n"
    assert list((data / "mysql").glob(f"trial-{os.getpid()}-*")) == []


@needs_mariadb
@pytest.mark.slow
def test_it_is_durable_unprivileged_and_reached_from_this_machine_only(database: ServiceProcess) -> None:
    wanted = "@@innodb_flush_log_at_trx_commit, @@log_bin, @@bind_address, @@hostname <> ''"
    assert database.ask(f"SELECT {wanted}") == "1\t0\t127.0.0.1\t1\n"
    [process] = database.tree.members(list(stats()))
    assert Path(f"/proc/{process.pid}").stat().st_uid != 0
    users = database.ask("SELECT DISTINCT grantee FROM information_schema.user_privileges").split()
    assert not [user for user in users if user.startswith("'root'") and "localhost" not in user]


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif(
    ENGINE is None or not ENGINE.image(IMAGE.reference), reason="needs a container engine with the image of MySQL"
)
def test_in_a_container_it_is_the_same_confined_and_leaves_nothing(tmp_path: Path, contents: Path) -> None:
    assert ENGINE
    server = add_server(make_project(tmp_path), "x")
    server.file.write_text(server.file.read_text() + "services: [mysql]\n")
    [server] = read_servers(server.folder)
    driver = DockerDriver(Project.at(tmp_path), CpuSplit(CPUS, CPUS), ENGINE)
    assert driver.products(["redis", "mysql"])["mysql"].startswith(("MariaDB ", "MySQL "))
    choices = driver._choices(server, Build("x", f"sha256:{'0' * 64}"), {})
    with composition(ENGINE, driver.project, choices, [POLICY]) as trial:
        database = driver._start_service(trial, MYSQL, content_of(MYSQL, contents))
        assert database.ask("INSERT INTO entry VALUES ('dear'); SELECT * FROM entry") == "dear\n"
        assert database.ask("SELECT @@innodb_flush_log_at_trx_commit, @@log_bin") == "1\t0\n"
        with database.outage():
            pass
        assert database.ask("SELECT * FROM entry") == "dear\n"
        [process, *_] = database.tree.members(list(stats()))
        assert Path(f"/proc/{process.pid}").stat().st_uid != 0
        seen = ENGINE.run("container", "ls", "--filter", f"name={trial.name}", "--format", "{{.ID}}").strip()
        form = "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{(index .Mounts 0).Type}}"
        assert ENGINE.run("container", "inspect", "--format", form, seen).strip() == "true [ALL] volume"
    assert ENGINE.run("volume", "ls", "--quiet", "--filter", f"name={trial.name}") == ""


def test_a_folder_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql, "kind", lambda _: "tmpfs")
    with pytest.raises(ServerFailed, match=r"must be on a disk.* is in memory \(tmpfs\)"):
        mysql._fill(Toolchain("mariadbd", "10.11.19", Path("/usr/sbin")), tmp_path / "kept", tmp_path / "data")


@pytest.mark.parametrize(
    ("greeting", "ready"),
    [(b"\x4a\x00\x00\x00\x0a8.4.7\x00", True), (b"\x10\x00\x00\x00\xff\x10\x04Too many", False), (b"\x01", False)],
)
def test_it_is_ready_when_it_greets(greeting: bytes, ready: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(greeting)

        thread = threading.Thread(target=greet)
        thread.start()
        assert MYSQL.ready("127.0.0.1", listener.getsockname()[1]) is ready
        thread.join()


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)", "MariaDB 10.11.19"),
        ("/usr/sbin/mysqld  Ver 8.4.11 for Linux on x86_64 (MySQL Community Server - GPL)", "MySQL 8.4.11"),
    ],
)
def test_products_are_told_apart(said: str, name: str) -> None:
    assert product(said) == name


def test_only_a_suite_that_has_a_file_begins_with_content(contents: Path) -> None:
    assert "CREATE TABLE entry" in (content_of(MYSQL, contents) or "")
    assert content_of(MYSQL, contents.with_name("chat")) is None
    assert content_of(services.KNOWN["redis"], contents) is None


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    left, own = tmp_path / "trial-1-99-4000", services._folder_of_trial(tmp_path, 4001)
    left.mkdir()
    own.mkdir()
    services._forget_orphans(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [own.name]
