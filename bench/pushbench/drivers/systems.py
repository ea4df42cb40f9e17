"""A server of several containers, started fresh for each trial. Each has the policy of `compose/bench.yml`.

Pushbench generates the compose file that runs, from what `building/composed` allows; the server's own file never runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pushbench.building.composed import Mount, Resolved, ResolvedPart, resolved
from pushbench.building.engine import Engine, EngineFailed
from pushbench.building.images import image_of_part
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server
from pushbench.catalog.systems import Part
from pushbench.drivers.containers import (
    OWNER_LABEL,
    Composition,
    Container,
    as_many_files,
    composition,
    cpu_list,
    ending,
    literally,
)
from pushbench.drivers.driver import STOP_SECONDS, await_health, reported_by
from pushbench.drivers.service import Running
from pushbench.drivers.service_images import POLICY
from pushbench.drivers.workers import NotKilled
from pushbench.foundation.project import Project
from pushbench.foundation.yamlfile import read_yaml
from pushbench.machine.ownership import owner_marker
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Parts
from pushbench.records.record import ReportedVersions


class SystemInstance:
    """A running system. It has ended as soon as one of its parts has."""

    player = None
    replicas = 1
    services: Sequence[Running] = ()

    def __init__(self, trial: Composition, parts: Mapping[str, Container], entry: str, port: int) -> None:
        self._trial, self._parts, self._entry = trial, parts, parts[entry]
        self._exit: Exit | None = None
        self.url = f"http://{self._entry.state.address}:{port}"
        self.tree = Parts({name: part.tree for name, part in parts.items()})
        self.reported: ReportedVersions | None = None

    def exited(self) -> str | None:
        gone = ((name, part.ended_by_itself) for name, part in self._parts.items())
        return next((f"{ending(state)} of its part {name}" for name, state in gone if state), None)

    def outage(self) -> AbstractContextManager[None]:
        """Kill and restart the entry only: the other parts keep running."""
        return self._entry.absence()

    def kill_worker(self) -> None:
        raise NotKilled("no worker was killed: the server is a system of several containers")

    def terminate(self, timeout: float = STOP_SECONDS) -> Exit:
        """End the entry, which clients are connected to. The other parts end with the trial."""
        if self._exit is None:
            self._exit = self._entry.terminate(timeout)
        return self._exit

    def log_tail(self) -> str:
        return self._trial.logs()

    def output_bytes(self) -> int:
        return sum(part.output_bytes() for part in self._parts.values())


def composed(engine: Engine, server: Server) -> dict[str, Any]:
    """The compose file of a system without what each trial chooses; images are referenced by their ids.

    Raises UserError for what a system must not have, and ServerFailed for a missing image.
    """
    confined = dict(read_yaml(POLICY).data["services"]["server"])
    memory = int(confined["mem_limit"].removesuffix("g")) << 30
    system, found = resolved(engine, server, memory)
    images = {name: _image(engine, server, part) for name, part in system.parts.items()}
    services = {name: _service(confined, part, images[name]) for name, part in found.services.items()}
    return {"services": services, "volumes": {name: {} for name in _volumes(found)}}


def digest_of(document: Mapping[str, Any]) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()}"


def settled(document: Mapping[str, Any], cpus: Sequence[int], environment: Mapping[str, str]) -> dict[str, Any]:
    """The compose file of a trial. A part's own environment takes precedence."""
    own = {"cpuset": cpu_list(cpus), "ulimits": as_many_files(), "labels": {OWNER_LABEL: owner_marker()}}
    services = {
        name: {**part, **own, "environment": {**literally(environment), **part["environment"]}}
        for name, part in document["services"].items()
    }
    labels = {"labels": own["labels"]}
    volumes = dict.fromkeys(document["volumes"], labels)
    return {"services": services, "volumes": volumes, "networks": {"bench": {"internal": True, **labels}}}


@contextlib.contextmanager
def running_system(
    engine: Engine, project: Project, server: Server, document: Mapping[str, Any]
) -> Iterator[SystemInstance]:
    """The system of `document`, ready. Everything is removed at the end of the block. Raises ServerFailed."""
    if server.spec.compose is None:
        raise RuntimeError(f"{server.id} is no system")
    with composition(engine, project, document) as trial:
        parts = _started(trial, list(document["services"]))
        instance = SystemInstance(trial, parts, server.spec.compose.entry, server.spec.compose.port)
        instance.reported = reported_by(server, await_health(instance, server.spec.ready))
        try:
            yield instance
        finally:
            instance.terminate()


def _started(trial: Composition, names: Sequence[str]) -> dict[str, Container]:
    try:
        trial.start_all()
        parts = {name: trial.container(name) for name in names}
    except EngineFailed as error:
        raise ServerFailed("start", f"the system does not start: {error}", trial.logs()) from None
    for name, part in parts.items():
        if part.ended:
            raise ServerFailed("start", f"its part {name} ended with {ending(part.ended)}", part.log_tail())
    return parts


def _image(engine: Engine, server: Server, part: Part) -> str:
    built = image_of_part(server, part)
    reference = built.reference() if built else part.image
    if found := engine.image(reference):
        return found
    how = "`make images` builds it" if built else f"`docker pull {reference}` fetches it"
    raise ServerFailed("build", f"there is no image {reference} of the part {part.name}; {how}")


def _service(confined: Mapping[str, Any], part: ResolvedPart, image: str) -> dict[str, Any]:
    said = part.model_dump(exclude_none=True, exclude_unset=True, exclude={"expose", "read_only", "cap_drop"})
    kept = {name: value for name, value in part.environment.items() if value is not None}
    return {
        **said,
        **confined,
        "image": image,
        "environment": kept,
        "mem_limit": part.mem_limit,
        "memswap_limit": part.mem_limit,
        "tmpfs": [*confined["tmpfs"], *(each for each in part.tmpfs if each.partition(":")[0] != "/tmp")],  # noqa: S108
    }


def _volumes(found: Resolved) -> list[str]:
    mounts: list[Mount] = [mount for part in found.services.values() for mount in part.volumes]
    return list(dict.fromkeys(mount.source for mount in mounts if mount.source))
