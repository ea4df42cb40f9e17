"""Drivers: start a server of the catalog, give its address, and stop it again.

This module has what all drivers share; `process`, `docker`, `kubernetes` and `remote` are the drivers.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from pydantic import ValidationError

from pushbench.building.builds import Note
from pushbench.building.toolchains import Toolset
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import HEALTHZ, PORT_OPENS, Server
from pushbench.drivers.service import Running
from pushbench.generator.load import Player
from pushbench.machine.environment import CpuSplit
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Accounted
from pushbench.records.record import ReportedVersions

START_SECONDS = 60.0  # a cold JVM with Spring on one busy core needs about 10
STOP_SECONDS = 5.0  # the contract of a server
POLL_SECONDS = 0.02

DriverName = Literal["process", "docker", "kubernetes", "remote"]


@dataclass(frozen=True)
class Build:
    """A server that is ready to be started."""

    server: str
    digest: str
    """process driver: of sources, toolchain versions and commands; docker driver: the image's digest"""
    toolchains: Toolset = field(default_factory=Toolset)
    wrapper: Sequence[str] = ()
    """process driver: a command that starts the server's command, which is appended to it"""
    options: Sequence[str] = ()
    """process driver: options of the runtime, between the program of the server's command and its arguments"""
    system: Mapping[str, Any] | None = None
    """docker driver, for a system: the compose file of its trials, without what each trial chooses"""


class Instance(Protocol):
    """A running server."""

    url: str
    """http://host:port; for a server that runs elsewhere, the URL that its owner gives"""

    @property
    def reported(self) -> ReportedVersions | None:
        """The versions that the server reports; None if it was not queried, or has no /healthz."""
        ...

    @property
    def player(self) -> Player | None:
        """How a load is run, and the server accounted, elsewhere; None if this machine does both."""
        ...

    @property
    def replicas(self) -> int:
        """How many pods clients reach at its URL; 1 outside a cluster."""
        ...

    @property
    def tree(self) -> Accounted: ...

    @property
    def services(self) -> Sequence[Running]:
        """The services that the server needs."""
        ...

    def exited(self) -> str | None:
        """How the server ended; None while it runs."""
        ...

    def outage(self) -> contextlib.AbstractContextManager[None]:
        """SIGKILL all its processes. At the end of the block, start it again at the same address, without waiting until
        it is healthy. It counts as running in between. Raises ServerFailed.
        """
        ...

    def kill_worker(self) -> None:
        """Send SIGKILL to one of its workers. Raises NotKilled (see `workers`)."""
        ...

    def terminate(self, timeout: float) -> Exit:
        """Send SIGTERM, and after `timeout` seconds SIGKILL. A second call returns the same result."""
        ...

    def log_tail(self) -> str: ...

    def output_bytes(self) -> int:
        """The number of bytes of output that are kept; it shrinks when the oldest part is dropped. Raises OSError."""
        ...


class Driver(Protocol):
    @property
    def name(self) -> DriverName: ...

    @property
    def split(self) -> CpuSplit: ...

    @property
    def workers(self) -> int | None:
        """WORKERS of the servers, if it differs from the number of their CPUs."""
        ...

    @property
    def engine(self) -> str | None:
        """The container engine and its version."""
        ...

    @property
    def facts(self) -> Mapping[str, object]:
        """The environment of a run, as far as it is not this machine's."""
        ...

    def lacks(self, server: Server) -> str | None:
        """What this machine lacks to run the server; None if it has everything."""
        ...

    def products(self, services: Sequence[str]) -> dict[str, str]:
        """Product and version of the services whose product affects the numbers. Raises UserError."""
        ...

    def digest(self, server: Server) -> str:
        """The digest of the upcoming build, as far as it is known in advance."""
        ...

    def build(self, server: Server, note: Note) -> Build:
        """Make the server ready to be started. Raises ServerFailed."""
        ...

    def running(
        self, server: Server, build: Build, env: Mapping[str, str] | None = None
    ) -> contextlib.AbstractContextManager[Instance]:
        """Start the server and wait until it is healthy; stop it at the end of the block in any case.

        Raises ServerFailed if it does not become healthy.
        """
        ...


class WrongServer(ServerFailed):
    """Another program than the server under test answers at its address."""


def await_health(instance: Instance, ready: str = HEALTHZ) -> str:
    """Wait until the server is `ready`: its port opens, or a path answers 200. Returns the body of that answer.

    Raises ServerFailed.
    """
    deadline = time.monotonic() + START_SECONDS
    wanted = "its port did not open" if ready == PORT_OPENS else f"{ready} did not answer 200"
    while (answer := _opens(instance.url) if ready == PORT_OPENS else _health(instance.url, ready)) is None:
        if how := instance.exited():
            raise ServerFailed("start", f"ended with {how} before it was healthy", instance.log_tail())
        if time.monotonic() > deadline:
            raise ServerFailed("start", f"{wanted} within {START_SECONDS:g} s", instance.log_tail())
        time.sleep(POLL_SECONDS)
    return answer


def reported_by(server: Server, answer: str) -> ReportedVersions | None:
    """The versions that the server reports; None for one without /healthz.

    Raises ServerFailed, or WrongServer if another server answers.
    """
    if server.spec.ready != HEALTHZ:
        return None
    try:
        reported = ReportedVersions.model_validate(json.loads(answer))
    except (json.JSONDecodeError, ValidationError):
        wanted = '{"server": ..., "runtime": ..., "framework": ...}'
        raise ServerFailed("start", f"/healthz must answer {wanted}, found {answer[:200]!r}") from None
    if reported.server != server.id:
        raise WrongServer("start", f"/healthz reports the server {reported.server!r}, expected {server.id!r}")
    return reported


def _opens(url: str) -> str | None:
    """An empty text if the port of `url` accepts connections."""
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=5).close()
    except OSError:
        return None
    return ""


def _health(url: str, path: str) -> str | None:
    """The body of `path` if it answers 200."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read(4096).decode(errors="replace")
        return body if response.status == http.client.OK else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
