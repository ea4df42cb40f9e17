"""Several servers are built at the same time, but those of one folder one after the other."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench.building.toolchains import Toolset
from pushbench.drivers.driver import Build
from pushbench.foundation.errors import UserError
from pushbench.measuring.preparation import build_each, by_suite
from tests.support import SERVER, add_server, make_project


class Builder:
    """A driver whose builds of `first` and `other` wait for each other."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2, timeout=60)
        self.folders: dict[Path, threading.Lock] = {}

    def build(self, server: Any, _: object) -> Build:
        turn = self.folders.setdefault(server.folder, threading.Lock())
        assert turn.acquire(blocking=False), f"{server.id} is built beside another of its folder"
        if server.id in ("first", "other"):
            self.both.wait()
        turn.release()
        return Build("x", f"digest of {server.id}", Toolset())


def test_a_build_does_not_wait_for_another_of_its_folder() -> None:
    ids = {"first": "first", "first/variant": "first", "other": "other", "other/variant": "other"}
    servers: list[Any] = [SimpleNamespace(id=each, folder=Path(folder)) for each, folder in ids.items()]
    driver: Any = Builder()
    built = build_each([(driver, server) for server in servers], lambda _: None)
    assert [(each.server.id, each.digest) for each in built] == [(each, f"digest of {each}") for each in ids]


def test_who_names_nobody_means_the_servers_that_run_here(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (project.servers / "chat").mkdir(parents=True)
    described = SERVER.format(id="chat", behaviour="", python="python", program="x").partition("process:")[0]
    remote = described.replace("tiny-json", "protocol.yml") + "url: wss://chat.example.org\n"
    (project.servers / "chat" / "server.yml").write_text(remote)
    with pytest.raises(UserError, match="no server runs here"):
        by_suite(project, "", [])
    add_server(project, "fake")
    assert by_suite(project, "", []) == {"tiny": ["fake"]}
    assert by_suite(project, "", ["chat"]) == {"tiny": ["chat"]}
