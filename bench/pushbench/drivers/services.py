"""The backing services that servers need, such as Redis, run as processes.

Each trial has fresh services. They run on the generator's CPUs: only a server's own processes count towards its cost,
and the cost of its services is reported separately.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.building import toolchains
from pushbench.building.toolchains import Missing, Toolchain
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server
from pushbench.drivers.mysql import MYSQL
from pushbench.drivers.rabbitmq import RABBITMQ
from pushbench.drivers.redis import REDIS
from pushbench.drivers.service import Service
from pushbench.foundation.errors import UserError
from pushbench.machine import processes
from pushbench.machine.lives import Lives
from pushbench.machine.ownership import owner_lives, owner_marker
from pushbench.machine.processes import Program
from pushbench.machine.resources import Accounted, Tree

READY_SECONDS = 60.0  # Redis needs milliseconds; MySQL's image first creates the database's files
ANSWER_SECONDS = 30.0
POLL_SECONDS = 0.02


KNOWN: Mapping[str, Service] = {service.name: service for service in (REDIS, MYSQL, RABBITMQ)}


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


def installed_products(names: Sequence[str]) -> dict[str, str]:
    """Product and version, from the programs on this machine, of the services whose product affects the numbers."""
    found = {}
    for service in (KNOWN[name] for name in names):
        program = _program(service)
        if service.product and isinstance(program, Toolchain):
            command = [str(program.folder / service.program), "--version"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=True)
            found[service.name] = service.product.name(done.stdout)
    return found


@dataclass(frozen=True)
class Place:
    """The folders and CPUs of services that run as processes."""

    cpus: Sequence[int]
    logs: Path
    data: Path
    """for the data of services that keep any"""


class ServiceProcess:
    """A service as a process on this machine."""

    def __init__(self, service: Service, port: int, place: Place) -> None:
        self.name, self.variable = service.name, service.variable
        self.url = service.url.format(host="127.0.0.1", port=port)
        self._service, self._port, self._place = service, port, place
        self._log = place.logs / f"service-{service.name}.log"
        self._data = _folder_of_trial(place.data / service.name, port)
        self._program: Program | None = None
        self._tree: Lives | None = None

    @property
    def tree(self) -> Accounted:
        if self._tree is None:
            raise RuntimeError("a service that was not started")
        return self._tree

    def start(self) -> None:
        """Start the service. Raises ServerFailed when it does not become ready."""
        program = _program(self._service)
        if isinstance(program, Missing):
            raise ServerFailed("start", f"the service {self.name} {program}")
        if self._service.fill and not self._data.exists():
            _forget_orphans(self._data.parent)
            self._service.fill(program, self._data.parent, self._data)
        folder = self._log.parent
        folder.mkdir(parents=True, exist_ok=True)
        executable = str(program.folder / self._service.program)
        running = processes.start(
            [*self._service.wrapper, executable, *self._service.arguments(self._port, self._data)],
            folder=folder,
            environment=processes.clean_environment(self._service.environment(self._data)),
            cpus=self._place.cpus,
            log=self._log,
        )
        self._program = running
        if self._tree:
            self._tree.begin(Tree(running.pid))
        else:
            self._tree = Lives(Tree(running.pid))
        await_ready(self._service, "127.0.0.1", self._port, lambda: _ending(running), running.log_tail)

    def ask(self, question: str) -> str:
        client = self._service.client
        if client is None:
            raise ServerFailed("load", f"the service {self.name} cannot be queried")
        command = [client.program, *(each.format(port=self._port) for each in client.arguments), question]
        try:
            done = subprocess.run(
                command,
                env=processes.clean_environment(),
                capture_output=True,
                text=True,
                timeout=ANSWER_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServerFailed("load", f"the service {self.name} cannot be queried: {error}") from None
        if done.returncode:
            raise ServerFailed("load", f"the service {self.name} does not answer: {done.stderr.strip()}")
        return done.stdout

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._program:
            self._program.stop(5.0, how=how)

    def discard(self) -> None:
        """Stop the service and remove its data."""
        self.stop(signal.SIGKILL if self._service.fill else signal.SIGTERM)  # discarded data need not be flushed
        if self._service.fill:
            shutil.rmtree(self._data, ignore_errors=True)

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        if self._tree:
            self._tree.end()
        self.stop(signal.SIGKILL)
        try:
            yield
        finally:
            self.start()


@contextlib.contextmanager
def running(
    names: Sequence[str], free_port: Callable[[], int], place: Place, contents: Path | None = None
) -> Iterator[list[ServiceProcess]]:
    """The services `names`, each fresh and ready; stops them at the end of the block. Raises ServerFailed.

    `contents` is the suite's file without its ending; the initial content of a service is a file beside it.
    """
    with contextlib.ExitStack() as stack:
        started = []
        for name in names:
            service = ServiceProcess(KNOWN[name], free_port(), place)
            stack.callback(service.discard)
            service.start()
            if content := content_of(KNOWN[name], contents):
                service.ask(content)
            started.append(service)
        yield started


def content_of(service: Service, contents: Path | None) -> str | None:
    """The initial content of a fresh service from the suite's file; None if there is none."""
    if service.content is None or contents is None:
        return None
    file = contents.with_name(contents.name + service.content)
    return file.read_text() if file.exists() else None


def _folder_of_trial(parent: Path, port: int) -> Path:
    """The folder of a trial, named after its owner, so that a later run finds what a killed run left behind."""
    return parent / f"trial-{owner_marker().replace(':', '-')}-{port}"


def _forget_orphans(parent: Path) -> None:
    for folder in parent.glob("trial-*-*-*"):
        _, pid, ticks, _ = folder.name.split("-")
        if not owner_lives(f"{pid}:{ticks}"):
            shutil.rmtree(folder, ignore_errors=True)


def await_ready(
    service: Service, host: str, port: int, ended: Callable[[], str | None], log_tail: Callable[[], str]
) -> None:
    """Wait until the service is ready. Raises ServerFailed if it ends, or is not ready in time."""
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
