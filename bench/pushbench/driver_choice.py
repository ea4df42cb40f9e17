"""Which driver a run has: what was asked for, or Docker where it can run everything that is to be measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal

from pushbench.catalog import Server
from pushbench.docker_driver import DockerDriver
from pushbench.drivers import Driver
from pushbench.engine import Engine
from pushbench.environment import CpuSplit, physical_cores, split_cpus
from pushbench.errors import UserError
from pushbench.process_driver import ProcessDriver
from pushbench.project import Project

Wanted = Literal["auto", "process", "docker"]


def choose_driver(
    project: Project, asked: Sequence[Server], wanted: Wanted, port: int | None, note: Callable[[str], None]
) -> Driver:
    """Say which, and why. Raises UserError when the one that was asked for cannot be had."""
    split = split_cpus(physical_cores(os.sched_getaffinity(0)))
    if split.shared:
        note("this machine has a single CPU: server and generator share it, latencies contain both")
    process = ProcessDriver(project, split, port)
    if wanted == "process" or (wanted == "auto" and port is not None):
        return process
    engine = Engine.find()
    if engine:
        DockerDriver.end_orphans(engine, note)
    if wanted == "docker":
        if engine is None:
            raise UserError("no container engine answers", where="docker", hint="start it, or use --driver process")
        if port is not None:
            raise UserError("--port is for the process driver: each container has its own address")
        return DockerDriver(project, split, engine)
    docker, reason = _docker(project, split, engine, asked)
    if docker is None:
        note(f"driver: process ({reason})")
        return process
    note(f"driver: docker ({reason})")
    return docker


def _docker(
    project: Project, split: CpuSplit, engine: Engine | None, asked: Sequence[Server]
) -> tuple[DockerDriver | None, str]:
    if engine is None:
        return None, "no container engine answers"
    driver = DockerDriver(project, split, engine)
    absent = [server.id for server in asked if driver.lacks_image(server)]
    if absent:
        some = ", ".join(absent[:3]) + (" ..." if len(absent) > 3 else "")
        return None, f"no image of {some}; `make images` builds them"
    return driver, f"{driver.engine} answers and has every image"
