"""A server of the catalog with faults: compiled from its own sources, in a checkout whose last commit has none."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from pushbench.building import toolchains
from pushbench.building.toolchains import Missing
from pushbench.calibration import faulty_server
from pushbench.calibration.catalogue import read_catalogue
from pushbench.calibration.faulty_server import FaultyServer
from pushbench.catalog.servers import read_servers
from pushbench.drivers.choice import DriverChoice, choose_driver
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import git
from pushbench.foundation.project import Project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(isinstance(toolchains.find("go", ">=1"), Missing), reason="needs Go"),
]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> FaultyServer:
    project = Project.current()
    return faulty_server.prepare(project, read_catalogue(project), tmp_path_factory.mktemp("faulty") / "checkout")


def test_the_checkout_has_no_fault_and_its_work_tree_the_one_that_was_set(faulty: FaultyServer) -> None:
    faulty.set("-nagle")
    root, file = faulty.project.root, f"servers/{faulty.server.id}/server.yml"
    assert json.loads(git(root, "show", f"HEAD:{file}").output)["env"]["FAULTS"] == ""
    [set_] = read_servers(faulty.project.servers / faulty.server.id)
    assert set_.spec.env["FAULTS"] == "-nagle"
    assert set_.spec.protocol == faulty.server.spec.protocol
    assert git(root, "status", "--porcelain").text == f"M {file}"


async def echoes(url: str, count: int) -> int:
    """The number of draws that come back to their sender."""
    ids = {"boardId": "b", "userId": "u"}
    async with connect(f"{url.replace('http', 'ws')}/ws", proxy=None, compression=None) as client:
        await client.send(json.dumps({"type": "join", **ids}))
        assert "joined" in str(await client.recv())
        for seq in range(count):
            await client.send(json.dumps({"type": "draw", **ids, "seq": seq, "sentAt": 0, "stroke": [[1, 2]]}))
        came = 0
        with contextlib.suppress(TimeoutError):
            while await asyncio.wait_for(client.recv(), 0.5):
                came += 1
        return came


@pytest.mark.parametrize(("faults", "come"), [("", 30), ("-drop-every 3", 20), ("-twice-every 3", 40)])
async def test_the_server_does_what_was_set(faulty: FaultyServer, faults: str, come: int) -> None:
    faulty.set(faults)
    [server] = read_servers(faulty.project.servers / faulty.server.id)
    driver = choose_driver(faulty.project, [server], DriverChoice("process"), print)
    with driver.running(server, driver.build(server, print)) as instance:
        assert await echoes(instance.url, 30) == come


def test_a_server_whose_main_has_changed_is_named(tmp_path: Path) -> None:
    project = Project.current()
    [server] = read_servers(project.servers / read_catalogue(project).server)
    copy = tmp_path / server.id
    copy.mkdir()
    (copy / "server.yml").write_text(server.file.read_text())
    (copy / "main.go").write_text("package main\n")
    with pytest.raises(UserError, match=r"expected `server\.serve"):
        faulty_server.build(project, read_servers(copy)[0], tmp_path / "built")
