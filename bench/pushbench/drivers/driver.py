"""Drivers: how a server of the catalog becomes a running one, with an address, and is ended again.

What every driver does is here; `process` and `docker` are the two that there are.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol
from urllib.parse import urlsplit

from pydantic import ValidationError

from pushbench.building.builds import Note
from pushbench.building.toolchains import Toolset
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server
from pushbench.drivers.service import Running
from pushbench.machine.environment import CpuSplit
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Accounted
from pushbench.records.record import ReportedVersions

START_SECONDS = 60.0  # a cold JVM with Spring on one busy core needs about 10
STOP_SECONDS = 5.0  # the contract of a server
POLL_SECONDS = 0.02

DriverName = Literal["process", "docker"]


@dataclass(frozen=True)
class Build:
    """A server that is ready to be started."""

    server: str
    digest: str
    """process driver: over sources, versions of the toolchains, and commands; docker driver: the image's"""
    toolchains: Toolset = field(default_factory=Toolset)
    wrapper: Sequence[str] = ()
    """process driver: a command that starts the server's command, which follows it"""


class Instance(Protocol):
    """A running server."""

    url: str
    """http://host:port"""
    reported: ReportedVersions

    @property
    def tree(self) -> Accounted: ...

    @property
    def services(self) -> Sequence[Running]:
        """Those that the server needs."""
        ...

    def exited(self) -> str | None:
        """How it ended, None while it runs."""
        ...

    def outage(self) -> contextlib.AbstractContextManager[None]:
        """SIGKILL to all its processes; when the block is left, start it anew at the same address, and do not wait
        until it is healthy. It counts as running meanwhile. Raises ServerFailed."""
        ...

    def kill_worker(self) -> None:
        """SIGKILL to one of its workers. Raises NotKilled (see `workers`)."""
        ...

    def terminate(self, timeout: float) -> Exit:
        """SIGTERM, and after `timeout` seconds SIGKILL. May be called again; then it returns the same."""
        ...

    def log_tail(self) -> str: ...

    def output_bytes(self) -> int:
        """How much of its output is kept: less than before where the oldest part was dropped. Raises OSError."""
        ...


class Driver(Protocol):
    @property
    def name(self) -> DriverName: ...

    @property
    def split(self) -> CpuSplit: ...

    @property
    def workers(self) -> int | None:
        """WORKERS of the servers, where it is not the number of their CPUs."""
        ...

    @property
    def engine(self) -> str | None:
        """The container engine and its version."""
        ...

    def lacks(self, server: Server) -> str | None:
        """What this machine would need to run the server; None when it has everything."""
        ...

    def products(self, services: Sequence[str]) -> dict[str, str]:
        """Product and version of those services that move numbers by them. Raises UserError."""
        ...

    def digest(self, server: Server) -> str:
        """Of what `build` will give, as far as that is known before."""
        ...

    def build(self, server: Server, note: Note) -> Build:
        """Make the server ready to be started. Raises ServerFailed."""
        ...

    def running(
        self, server: Server, build: Build, env: Mapping[str, str] | None = None
    ) -> contextlib.AbstractContextManager[Instance]:
        """Start the server and wait until it is healthy; end it when the block is left, however that happens.

        Raises ServerFailed when it does not become healthy.
        """
        ...


class WrongServer(ServerFailed):
    """Something else than the server under test answers at its address."""


def await_health(instance: Instance) -> str:
    """The body of /healthz once that answers 200. Raises ServerFailed."""
    deadline = time.monotonic() + START_SECONDS
    while (answer := _health(instance.url)) is None:
        if how := instance.exited():
            raise ServerFailed("start", f"ended with {how} before it was healthy", instance.log_tail())
        if time.monotonic() > deadline:
            raise ServerFailed("start", f"/healthz did not answer 200 within {START_SECONDS:g} s", instance.log_tail())
        time.sleep(POLL_SECONDS)
    return answer


def reported_by(server: Server, answer: str) -> ReportedVersions:
    """What the server says of itself. Raises ServerFailed, WrongServer when it is another one."""
    try:
        reported = ReportedVersions.model_validate(json.loads(answer))
    except (json.JSONDecodeError, ValidationError):
        wanted = '{"server": ..., "runtime": ..., "framework": ...}'
        raise ServerFailed("start", f"/healthz must answer {wanted}, found {answer[:200]!r}") from None
    if reported.server != server.id:
        raise WrongServer("start", f"/healthz says that it is {reported.server!r}, expected {server.id!r}")
    return reported


def _health(url: str) -> str | None:
    """The body of /healthz when it answers 200."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    try:
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        body = response.read(4096).decode(errors="replace")
        return body if response.status == http.client.OK else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
