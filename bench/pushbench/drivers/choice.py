"""The driver of a run: the requested one, or Docker if it can run every requested server."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pushbench.building.engine import Engine
from pushbench.catalog.servers import Server, runs_elsewhere
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import Driver
from pushbench.drivers.kubernetes import ClusterChoice, KubernetesDriver
from pushbench.drivers.process import ProcessDriver
from pushbench.drivers.remote import RemoteDriver, all_for_the_generator
from pushbench.drivers.service_images import COMMAND
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.machine.environment import physical_cores, split_cpus

Wanted = Literal["auto", "process", "docker", "kubernetes", "remote"]


@dataclass(frozen=True)
class DriverChoice:
    """The options of a driver."""

    wanted: Wanted = "auto"
    port: int | None = None
    """for the process driver; None means a free port for each start"""
    workers: int | None = None
    """WORKERS of the servers; None means one per CPU"""
    elsewhere: bool = False
    """whether servers that run elsewhere are allowed: the driver is then `remote`, whatever is `wanted`"""
    cluster: ClusterChoice = field(default_factory=ClusterChoice)
    """for the driver kubernetes"""


def choose_driver(
    project: Project, asked: Sequence[Server], choice: DriverChoice, note: Callable[[str], None]
) -> Driver:
    """Choose the driver, and print its name and the reason. Raises UserError if the requested one is unavailable."""
    wanted, port, workers = choice.wanted, choice.port, choice.workers
    if remote := [server for server in asked if server.spec.url]:
        if not choice.elsewhere:
            raise runs_elsewhere(remote[0])
        if own := [server for server in asked if not server.spec.url]:
            what = f"{remote[0].id} runs elsewhere, and {own[0].id} does not"
            raise UserError(what, hint="measure them in separate runs: their numbers are not comparable")
        note("driver: remote (the server is neither started nor metered)")
        return RemoteDriver(all_for_the_generator())
    split = split_cpus(physical_cores(os.sched_getaffinity(0)))
    if split.shared:
        note("this machine has a single CPU: server and generator share it, latencies contain both")
    if wanted == "kubernetes":
        if port is not None:
            raise UserError("--port is for the process driver: each pod has its own address")
        return KubernetesDriver.find(project, split, workers, choice.cluster, note)
    process = ProcessDriver(project, split, port, workers)
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
        return DockerDriver(project, split, engine, workers)
    docker, reason = _docker(DockerDriver(project, split, engine, workers) if engine else None, asked)
    if docker is None:
        note(f"driver: process ({reason})")
        return process
    note(f"driver: docker ({reason})")
    return docker


def _docker(driver: DockerDriver | None, asked: Sequence[Server]) -> tuple[DockerDriver | None, str]:
    if driver is None:
        return None, "no container engine answers"
    absent = [server for server in asked if driver.lacks_image(server)]
    if absent:
        some = ", ".join(server.id for server in absent[:3]) + (" ..." if len(absent) > 3 else "")
        linked = all(driver.lacks(server) for server in absent)
        how = "none is built from other repositories" if linked else "`make images` builds them"
        return None, f"no image of {some}; {how}"
    if without := next(filter(None, map(driver.lacks_service, asked)), None):
        return None, f"{without}; {COMMAND}"
    return driver, f"{driver.engine} answers and has every image"
