"""The driver of servers that run elsewhere: it has their address, and starts, meters and ends nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pushbench.building.builds import Note
from pushbench.catalog.protocols import declared_by
from pushbench.catalog.servers import Server
from pushbench.drivers.driver import Build, DriverName
from pushbench.drivers.service import Running
from pushbench.drivers.unaccounted import Unaccounted
from pushbench.drivers.workers import NotKilled
from pushbench.machine.environment import CpuSplit
from pushbench.machine.processes import Exit


class RemoteInstance:
    """A server that runs elsewhere. Its end is visible here only as the end of its connections."""

    services: Sequence[Running] = ()
    reported = None
    player = None
    replicas = 1

    def __init__(self, url: str) -> None:
        self.url = url
        self.tree = Unaccounted()

    def exited(self) -> str | None:
        return None

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        raise NotKilled("nothing was killed: the server runs elsewhere")
        yield

    def kill_worker(self) -> None:
        raise NotKilled("no worker was killed: the server runs elsewhere")

    def terminate(self, timeout: float) -> Exit:
        return Exit(0, 0.0, killed=False)

    def log_tail(self) -> str:
        return ""

    def output_bytes(self) -> int:
        return 0


@dataclass(frozen=True)
class RemoteDriver:
    """Drives servers at their URLs. The generator has all CPUs of `split`."""

    split: CpuSplit
    workers: int | None = None
    name: DriverName = "remote"
    engine: str | None = None

    def lacks(self, server: Server) -> str | None:
        return None

    def products(self, services: Sequence[str]) -> dict[str, str]:
        return {}

    @property
    def facts(self) -> Mapping[str, object]:
        return {}

    def digest(self, server: Server) -> str:
        """The digest of the address and the protocol: what runs there is unknown here."""
        declared = declared_by(server)
        known = [server.spec.url, declared.declaration.model_dump() if declared else None]
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()

    def build(self, server: Server, note: Note) -> Build:
        return Build(server.id, self.digest(server))

    @contextlib.contextmanager
    def running(self, server: Server, build: Build, env: Mapping[str, str] | None = None) -> Iterator[RemoteInstance]:
        yield RemoteInstance(server.spec.url or "")


def all_for_the_generator() -> CpuSplit:
    return CpuSplit([], sorted(os.sched_getaffinity(0)))
