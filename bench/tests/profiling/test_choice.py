"""Each server of the catalog has a profiler; one line names what a machine lacks for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pushbench.building.toolchains import Toolchain, Toolset
from pushbench.catalog.servers import Server, read_catalog
from pushbench.foundation.project import Project
from pushbench.profiling import choice, native, python
from pushbench.profiling.choice import profiler_of
from pushbench.profiling.profile import Unprofiled
from pushbench.profiling.profilers import Place

CATALOG = {server.id: server for server in read_catalog(Project.at(Path(__file__).parents[3]).servers)}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place with a JDK that has both tools."""
    for name in ("jcmd", "jfr"):
        (tmp_path / name).touch()
    return Place(tmp_path, tmp_path, Toolset([Toolchain("java", "25", tmp_path)]), [0])


def server(name: str) -> Server:
    return CATALOG[name]


@pytest.mark.parametrize(
    ("name", "profiler"),
    [
        ("node-ws", "node --cpu-prof"),
        ("bun", "bun --cpu-prof"),
        ("spring-websocket", "JDK Flight Recorder"),
        ("fastapi", "py-spy"),
        ("go", "perf"),
        ("actix", "perf"),
    ],
)
def test_a_runtime_has_its_profiler(name: str, profiler: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for lacks in ("py_spy_lacks", "perf_lacks"):
        monkeypatch.setattr(choice, lacks, lambda: None)
    assert profiler_of(server(name), place).name == profiler


def test_every_server_of_the_catalog_has_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for lacks in ("py_spy_lacks", "perf_lacks"):
        monkeypatch.setattr(choice, lacks, lambda: None)
    for each in CATALOG.values():
        profiler_of(each, place)


def test_a_missing_permission_of_perf_is_named_with_its_remedy(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paranoid").write_text("4\n")
    monkeypatch.setattr(native, "PARANOID", tmp_path / "paranoid")
    monkeypatch.setattr(native, "_may_always", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/perf")
    with pytest.raises(Unprofiled, match=r"perf_event_paranoid is 4.*`sudo sysctl kernel.perf_event_paranoid=2`"):
        profiler_of(server("go"), place)


def test_a_missing_permission_of_py_spy_is_named_with_its_remedy(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scope").write_text("1\n")
    monkeypatch.setattr(python, "PTRACE_SCOPE", tmp_path / "scope")
    monkeypatch.setattr(python, "_program", lambda: "py-spy")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Unprofiled, match=r"ptrace_scope is 1.*`sudo sysctl kernel.yama.ptrace_scope=0`"):
        profiler_of(server("fastapi"), place)


def test_a_runtime_without_tools_says_which(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path, Toolset([Toolchain("java", "25", tmp_path)]), [0])
    with pytest.raises(Unprofiled, match="the JDK has no jcmd"):
        profiler_of(server("spring-websocket"), place)
