"""The backing services that servers need, such as Redis: how each is started, addressed, and asked if it is ready.

A trial has its own, fresh. They run on the generator's CPUs: a server is charged for what its own processes do, and
what its services cost is told beside it.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pushbench import processes, toolchains
from pushbench.catalog import Server
from pushbench.errors import UserError
from pushbench.failures import ServerFailed
from pushbench.processes import Program
from pushbench.resources import Accounted, Tree
from pushbench.toolchains import Missing, Toolchain

READY_SECONDS = 20.0  # Redis needs milliseconds; a database that makes its files first needs seconds
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Service:
    """A service that Pushbench can start."""

    name: str
    variable: str
    """of the server's environment, with the service's URL"""
    url: str
    """with {host} and {port}"""
    port: int
    """in a container"""
    program: str
    """for the process driver"""
    versions: str
    arguments: Sequence[str]
    """of the program, with {port}"""
    ready: Callable[[str, int], bool]


class Running(Protocol):
    """A service that runs."""

    name: str

    @property
    def url(self) -> str:
        """As this machine reaches it."""
        ...

    @property
    def tree(self) -> Accounted: ...

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """Kill it; when the block is left, start it anew at the same address and wait until it is ready."""
        ...


def _redis_ready(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(64).startswith(b"+PONG")
    return False


KNOWN: Mapping[str, Service] = {
    service.name: service
    for service in [
        Service(
            name="redis",
            variable="REDIS_URL",
            url="redis://{host}:{port}",
            port=6379,
            program="redis-server",
            versions=">=7",
            # Everything else is Redis's default, its limits on slow subscribers included.
            arguments=["--bind", "127.0.0.1", "--port", "{port}", "--save", "", "--appendonly", "no"],
            ready=_redis_ready,
        )
    ]
}


def check(server: Server) -> None:
    """Raises UserError for a service that Pushbench cannot start."""
    for name in server.spec.services:
        if name not in KNOWN:
            raise UserError(
                f"{server.id} needs the service {name!r}; Pushbench can start {', '.join(KNOWN)}",
                where=str(server.file),
            )


def missing(names: Sequence[str]) -> list[Missing]:
    """The services among `names` whose programs are not on this machine."""
    found = [_program(KNOWN[name]) for name in names]
    return [each for each in found if isinstance(each, Missing)]


class ServiceProcess:
    """A service as a process of this machine."""

    def __init__(self, service: Service, port: int, cpus: Sequence[int], log: Path) -> None:
        self.name, self.variable = service.name, service.variable
        self.url = service.url.format(host="127.0.0.1", port=port)
        self._service, self._port, self._cpus, self._log = service, port, cpus, log
        self._program: Program | None = None

    @property
    def tree(self) -> Accounted:
        if self._program is None:
            raise RuntimeError("a service that was not started")
        return Tree(self._program.pid)

    def start(self) -> None:
        """Raises ServerFailed when it does not become ready."""
        program = _program(self._service)
        if isinstance(program, Missing):
            raise ServerFailed("start", f"the service {self.name} {program}")
        arguments = [argument.format(port=self._port) for argument in self._service.arguments]
        folder = self._log.parent
        folder.mkdir(parents=True, exist_ok=True)
        running = processes.start(
            [str(program.folder / self._service.program), *arguments],
            folder=folder,
            environment=processes.clean_environment(),
            cpus=self._cpus,
            log=self._log,
        )
        self._program = running
        await_ready(self._service, "127.0.0.1", self._port, lambda: _ending(running), running.log_tail)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._program:
            self._program.stop(5.0, how=how)

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        self.stop(signal.SIGKILL)
        try:
            yield
        finally:
            self.start()


@contextlib.contextmanager
def running(
    names: Sequence[str], free_port: Callable[[], int], cpus: Sequence[int], logs: Path
) -> Iterator[list[ServiceProcess]]:
    """The services `names`, each fresh and ready; they end when the block is left. Raises ServerFailed."""
    with contextlib.ExitStack() as stack:
        started = []
        for name in names:
            service = ServiceProcess(KNOWN[name], free_port(), cpus, logs / f"service-{name}.log")
            stack.callback(service.stop)
            service.start()
            started.append(service)
        yield started


def await_ready(
    service: Service, host: str, port: int, ended: Callable[[], str | None], log_tail: Callable[[], str]
) -> None:
    """Raises ServerFailed when the service ends, or does not become ready in time."""
    deadline = time.monotonic() + READY_SECONDS
    while not service.ready(host, port):
        if how := ended():
            raise ServerFailed("start", f"the service {service.name} ended with {how} at its start", log_tail())
        if time.monotonic() > deadline:
            raise ServerFailed("start", f"the service {service.name} was not ready in {READY_SECONDS:g} s", log_tail())
        time.sleep(POLL_SECONDS)


def _program(service: Service) -> Toolchain | Missing:
    return toolchains.find(service.program, service.versions)


def _ending(program: Program) -> str | None:
    code = program.exit_code()
    return None if code is None else processes.ending(code)
