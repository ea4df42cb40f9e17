"""MySQL 8.4, which requires more than MariaDB, accepts the connections of the servers of `posts`."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pushbench.catalog.servers import Server, read_catalog
from pushbench.drivers import services
from pushbench.drivers.process import ProcessDriver
from pushbench.drivers.services import Place
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.ports import free_port
from tests.fakes.mysql_8_4 import Front

CHECKOUT = Project.current()
CPUS = sorted(os.sched_getaffinity(0))
PATIENCE_SECONDS = 20.0
SERVERS = [
    server
    for server in read_catalog(CHECKOUT.servers)
    if "mysql" in server.spec.services and "/" not in server.id  # variants have the same driver
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timed,  # a JVM beside seven other tests may need more than the minute that servers have to start
    pytest.mark.skipif(bool(services.missing(["mysql"])), reason="mariadb-server is not installed"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]


@pytest.fixture(scope="module")
def database_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = Place(CPUS, tmp_path_factory.mktemp("logs"), CHECKOUT.service_data)
    with services.running(["mysql"], free_port, place, CHECKOUT.scenarios / "posts") as [database]:
        yield database.url


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.slug)
def test_a_server_is_let_in_by_mysql_as_it_is_by_default(server: Server, database_url: str, tmp_path: Path) -> None:
    with Front(database_url, tmp_path) as front:
        assert create(server, front.url) == 201
    assert set(front.entered) <= {"full tls", "fast tls"}
    assert front.entered["full tls"] >= 1


@pytest.mark.parametrize("name", ["go-posts", "spring-servlet-jpa"])
def test_a_password_stays_hidden_where_mysql_has_no_tls(name: str, database_url: str, tmp_path: Path) -> None:
    [server] = [server for server in SERVERS if server.id == name]
    with Front(database_url, tmp_path, tls=False) as front:
        assert create(server, front.url) == 201
    assert front.entered["full key"] >= 1


def test_a_wrong_password_is_not_let_in(database_url: str, tmp_path: Path) -> None:
    [server] = [server for server in SERVERS if server.id == "go-posts"]
    with Front(database_url, tmp_path) as front:
        assert create(server, front.url.replace(":pushbench@", ":guess@"), within=0) == 503
    assert not front.entered


def create(server: Server, database_url: str, within: float = PATIENCE_SECONDS) -> int:
    """The status of a new post. On a busy machine, the pool may give up before its first connection is ready: then the
    server answers 503, and the request is repeated."""
    driver = ProcessDriver(CHECKOUT, CpuSplit(CPUS, CPUS), workers=2)
    if lack := driver.lacks(server):
        pytest.skip(lack)
    build = driver.build(server, print)
    alone = replace(server, spec=server.spec.model_copy(update={"services": []}))
    body = json.dumps({"title": "one", "content": "text"})
    with driver.running(alone, build, {"DATABASE_URL": database_url}) as instance:
        deadline = time.monotonic() + within
        address = urlsplit(instance.url).netloc
        with contextlib.closing(http.client.HTTPConnection(address, timeout=PATIENCE_SECONDS)) as connection:
            while True:
                connection.request("POST", "/post", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                if answer.status != 503 or time.monotonic() > deadline:
                    return answer.status
