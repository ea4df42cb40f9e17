"""Drivers: how a built server becomes a running one, with an address, and is ended again.

The process driver runs it as ordinary processes with CPU affinity. Another driver is another class with `running`.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from pydantic import ValidationError

from pushbench import processes, services
from pushbench.builds import Build
from pushbench.catalog import Server
from pushbench.environment import CpuSplit
from pushbench.errors import UserError
from pushbench.failures import ServerFailed
from pushbench.processes import Exit, Program
from pushbench.procfs import listening_inodes, socket_inodes, stats
from pushbench.record import ReportedVersions
from pushbench.resources import Accounted, Tree
from pushbench.services import Running

START_SECONDS = 60.0  # a cold JVM with Spring on one busy core needs about 10
STOP_SECONDS = 5.0  # the contract of a server
POLL_SECONDS = 0.02


class Instance(Protocol):
    """A running server."""

    url: str
    """http://127.0.0.1:port"""
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

    def terminate(self, timeout: float) -> Exit:
        """SIGTERM, and after `timeout` seconds SIGKILL. May be called again; then it returns the same."""
        ...

    def log_tail(self) -> str: ...


class Driver(Protocol):
    @property
    def name(self) -> Literal["process", "docker"]: ...

    def running(
        self, server: Server, build: Build, env: Mapping[str, str] | None = None
    ) -> contextlib.AbstractContextManager[Instance]:
        """Start the server and wait until it is healthy; end it when the block is left, however that happens.

        Raises ServerFailed when it does not become healthy.
        """
        ...


class WrongServer(ServerFailed):
    """Something else than the server under test answers at its address."""


class ProcessInstance:
    """A server as processes of this machine."""

    def __init__(self, program: Program, url: str, services: Sequence[Running]) -> None:
        self._program = program
        self._exit: Exit | None = None
        self.pid = program.pid
        self.tree = Tree(program.pid)
        self.services = services
        self.url = url
        self.reported: ReportedVersions

    def exited(self) -> str | None:
        code = self._program.exit_code()
        return None if code is None else processes.ending(code)

    def terminate(self, timeout: float = STOP_SECONDS) -> Exit:
        if self._exit is None:
            self._exit = self._program.stop(timeout)
        return self._exit

    def log_tail(self) -> str:
        return self._program.log_tail()


@dataclass(frozen=True)
class ProcessDriver:
    """Runs servers and their services on the CPUs of `split`; `port` None means a free one for each start."""

    split: CpuSplit
    logs: Path
    port: int | None = None
    name: Literal["process", "docker"] = "process"

    @contextlib.contextmanager
    def running(self, server: Server, build: Build, env: Mapping[str, str] | None = None) -> Iterator[ProcessInstance]:
        with services.running(server.spec.services, free_port, self.split.generator, self.logs) as started:
            port = free_port() if self.port is None else self.port
            require_free(port)
            own = {"PORT": str(port), "WORKERS": str(len(self.split.server))}
            own |= {service.variable: service.url for service in started}
            program = self._start(server, build, {**server.spec.env, **own, **(env or {})})
            instance = ProcessInstance(program, f"http://127.0.0.1:{port}", started)
            try:
                instance.reported = _await_health(server, program, port)
                yield instance
            finally:
                instance.terminate()

    def _start(self, server: Server, build: Build, environment: Mapping[str, str]) -> Program:
        start = server.spec.process.start
        try:
            return processes.start(
                build.toolchains.command(start, server.folder),
                folder=server.folder,
                environment=processes.clean_environment(build.toolchains.environment, environment),
                cpus=self.split.server,
                log=self.logs / f"{server.slug}.log",
            )
        except OSError as error:
            raise ServerFailed("start", f"{start[0]}: {error.strerror}") from None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))  # noqa: S104 - servers listen on all addresses
        return int(probe.getsockname()[1])


def require_free(port: int) -> None:
    """Raises UserError when something listens on `port`."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of a trial before do not count
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - as above
        except OSError as error:
            raise UserError(
                f"port {port} cannot be used: {error.strerror}", hint="choose another with --port, or leave it out"
            ) from None


def _await_health(server: Server, program: Program, port: int) -> ReportedVersions:
    deadline = time.monotonic() + START_SECONDS
    while True:
        answer = _health(port)
        if answer is not None:
            break
        code = program.exit_code()
        if code is not None:
            raise ServerFailed(
                "start", f"ended with {processes.ending(code)} before it was healthy", program.log_tail()
            )
        if time.monotonic() > deadline:
            raise ServerFailed("start", f"/healthz did not answer 200 within {START_SECONDS:g} s", program.log_tail())
        time.sleep(POLL_SECONDS)
    own = {inode for stat in Tree(program.pid).members(list(stats())) for inode in socket_inodes(stat.pid)}
    if not listening_inodes(port) & own:
        raise WrongServer("start", f"port {port} is served by another process", program.log_tail())
    try:
        reported = ReportedVersions.model_validate(json.loads(answer))
    except (json.JSONDecodeError, ValidationError):
        wanted = '{"server": ..., "runtime": ..., "framework": ...}'
        raise ServerFailed("start", f"/healthz must answer {wanted}, found {answer[:200]!r}") from None
    if reported.server != server.id:
        raise WrongServer("start", f"/healthz says that it is {reported.server!r}, expected {server.id!r}")
    return reported


def _health(port: int) -> str | None:
    """The body of /healthz when it answers 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        body = response.read(4096).decode(errors="replace")
        return body if response.status == http.client.OK else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
