"""The driver of servers that run elsewhere is chosen only for them, and only if that is intended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pushbench.catalog.elsewhere import server_at
from pushbench.catalog.servers import Server, read_catalog
from pushbench.drivers.choice import DriverChoice, choose_driver
from pushbench.drivers.remote import RemoteDriver
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.support import make_project

PROTOCOL = 'websocket: {path: /}\nformat: text\nmessage: {send: "{id}", received: "{id}"}\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "checkout", fake="")


@pytest.fixture
def chat(tmp_path: Path) -> Server:
    (tmp_path / "protocol.yml").write_text(PROTOCOL)
    return server_at("ws://127.0.0.1:1", "tiny", str(tmp_path / "protocol.yml"), name="chat")


def test_nothing_is_started_and_the_generator_has_every_cpu(project: Project, chat: Server) -> None:
    driver = choose_driver(project, [chat], DriverChoice(elsewhere=True), print)
    assert isinstance(driver, RemoteDriver)
    assert (driver.split.server, driver.split.generator) == ([], sorted(os.sched_getaffinity(0)))
    with driver.running(chat, driver.build(chat, print)) as instance:
        assert (instance.url, instance.exited(), instance.reported) == ("ws://127.0.0.1:1", None, None)
        assert instance.tree.usage() is None
        assert instance.terminate(1).code == 0


def test_what_is_measured_is_known_by_address_and_protocol(project: Project, chat: Server) -> None:
    driver = choose_driver(project, [chat], DriverChoice(elsewhere=True), print)
    assert chat.protocol_file
    first = driver.build(chat, print).digest
    assert driver.digest(server_at("ws://127.0.0.1:2", "tiny", str(chat.protocol_file))) != first
    chat.protocol_file.write_text(PROTOCOL.replace("{id}", "<{id}>"))
    assert driver.digest(chat) != first


def test_other_commands_refuse_it_and_so_do_runs_beside_other_servers(project: Project, chat: Server) -> None:
    with pytest.raises(UserError, match=r"chat runs elsewhere, at ws://127.0.0.1:1; only `pushbench run` measures it"):
        choose_driver(project, [chat], DriverChoice(), print)
    with pytest.raises(UserError, match="chat runs elsewhere, and fake does not; measure them in separate runs"):
        choose_driver(project, [chat, *read_catalog(project.servers)], DriverChoice(elsewhere=True), print)
