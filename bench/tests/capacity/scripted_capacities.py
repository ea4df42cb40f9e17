"""Checkouts for searches with the real generator: a scripted server with a preset capacity, and a real one twice."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.capacity.finding import CapacityRequest, find_capacities
from pushbench.cli.conclusion import thresholds_of
from pushbench.drivers.choice import DriverChoice
from pushbench.foundation.project import Project
from pushbench.measuring import preparation
from pushbench.measuring.common import Options
from pushbench.records.capacity import CapacityRecord
from tests.tiny_runs import Notebook

CHECKOUT = Project.at(Path(__file__).parents[3])
SERVER = """\
title: Scripted
link: https://example.org
language: Go
suite: whiteboard
protocol: whiteboard-json
tier: baseline
process:
  toolchains: {{python: ">=3.11"}}
  build: []
  start: [sh, -c, "exec {program} -listen 0.0.0.0:$PORT {flags}"]
"""


class Told(Notebook):
    """A notebook that also prints its notes."""

    def note(self, text: str) -> None:
        super().note(text)
        print(text, flush=True)


def scripted_project(folder: Path, flags: str, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A checkout with one server and the unchanged suite."""
    project = _project(folder, monkeypatch)
    program = folder / "program"
    subprocess.run(["go", "build", "-trimpath", "-o", program, "./cmd/scripted"], cwd=CHECKOUT.generator, check=True)
    (project.servers / "scripted").mkdir(parents=True)
    (project.servers / "scripted" / "server.yml").write_text(SERVER.format(program=program, flags=flags))
    return project


def twin_project(folder: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A checkout with the same server under two names, and the unchanged suite."""
    project = _project(folder, monkeypatch)
    listed = ["git", "ls-files", "-z", "--", str(CHECKOUT.servers / server)]
    files = subprocess.run(listed, cwd=CHECKOUT.root, check=True, capture_output=True, text=True).stdout.split("\0")
    own = f"servers/{server}/thresholds.yml"  # a search has no limits of single servers
    for name in (server, f"{server}-again"):
        for file in set(files) - {"", own}:
            copy = project.root / file.replace(f"servers/{server}/", f"servers/{name}/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT.root / file, copy)
            if name != server:  # the health check has to name the copy
                copy.write_bytes(copy.read_bytes().replace(server.encode(), name.encode()))
    return project


def _project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project.at(folder)
    project.scenarios.mkdir(parents=True)
    for suffix in ("js", "yml"):
        name = f"whiteboard.{suffix}"
        (project.scenarios / name).write_text((CHECKOUT.scenarios / name).read_text())
    binary = build_generator(CHECKOUT, print)
    monkeypatch.setattr(preparation, "build_generator", lambda *_: binary)
    return project


def find(project: Project, *, starts: int, seconds: float) -> CapacityRecord:
    request = CapacityRequest("whiteboard", starts=starts, seconds=seconds)
    options = Options(DriverChoice("process"), verify=False, wait=True)
    return find_capacities(project, request, options, thresholds_of(project), Told())
