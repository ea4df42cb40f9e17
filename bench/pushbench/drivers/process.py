"""The process driver: runs a server as processes on this machine, built in its folder and pinned by CPU affinity."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.building import builds, toolchains
from pushbench.building.builds import Note
from pushbench.building.toolchains import Toolset
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import NO_PROCESS, Server
from pushbench.drivers import services
from pushbench.drivers.driver import STOP_SECONDS, Build, DriverName, WrongServer, await_health, reported_by
from pushbench.drivers.service import Running
from pushbench.drivers.services import Place, installed_products
from pushbench.drivers.workers import kill_worker
from pushbench.foundation.project import Project
from pushbench.machine import processes
from pushbench.machine.environment import CpuSplit
from pushbench.machine.lives import Lives
from pushbench.machine.ports import free_port, require_free
from pushbench.machine.processes import Exit, Program
from pushbench.machine.procfs import listening_inodes, socket_inodes, stats
from pushbench.machine.resources import Tree
from pushbench.records.record import ReportedVersions


class ProcessInstance:
    """A server as processes on this machine."""

    player = None
    replicas = 1

    def __init__(self, start: Callable[[], Program], url: str, services: Sequence[Running]) -> None:
        self._start = start
        self._program = start()
        self._exit: Exit | None = None
        self._away = False
        self.tree = Lives(Tree(self.pid))
        self.services = services
        self.url = url
        self.reported: ReportedVersions | None

    @property
    def pid(self) -> int:
        return self._program.pid

    def exited(self) -> str | None:
        code = None if self._away else self._program.exit_code()
        return None if code is None else processes.ending(code)

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        self._away = True
        self.tree.end()
        self._program.stop(STOP_SECONDS, how=signal.SIGKILL)
        try:
            yield
        finally:
            self._program = self._start()
            self.tree.begin(Tree(self.pid))
            self._away = False

    def kill_worker(self) -> None:
        kill_worker(self.tree, self.pid)

    def terminate(self, timeout: float = STOP_SECONDS) -> Exit:
        if self._exit is None:
            self._exit = self._program.stop(timeout)
        return self._exit

    def log_tail(self) -> str:
        return self._program.log_tail()

    def output_bytes(self) -> int:
        return self._program.output_bytes()


@dataclass(frozen=True)
class ProcessDriver:
    """Runs servers and their services on the CPUs of `split`.

    `port` None means a free port for each start, `workers` None means one per CPU.
    """

    project: Project
    split: CpuSplit
    port: int | None = None
    workers: int | None = None
    name: DriverName = "process"
    engine: str | None = None
    arm: str = ""
    """for two drivers that run at the same time from one checkout: each has its own logs"""

    @property
    def logs(self) -> Path:
        return self.project.logs / self.arm

    @property
    def facts(self) -> Mapping[str, object]:
        return {}

    def lacks(self, server: Server) -> str | None:
        if server.spec.compose:
            return NO_PROCESS
        tools = toolchains.choose(server.process.toolchains)
        absent = [*([] if isinstance(tools, Toolset) else tools), *services.missing(server.spec.services)]
        return "; ".join(str(each) for each in absent) or None

    def products(self, services: Sequence[str]) -> dict[str, str]:
        return installed_products(services)

    def digest(self, server: Server) -> str:
        return builds.build_digest(server, self._tools(server))

    def build(self, server: Server, note: Note) -> Build:
        tools = self._tools(server)
        builds.build_server(self.project, server, tools, note)
        return Build(server.id, builds.build_digest(server, tools), tools)

    def _tools(self, server: Server) -> Toolset:
        tools = toolchains.choose(server.process.toolchains)
        if isinstance(tools, Toolset):
            return tools
        raise ServerFailed("build", "; ".join(str(each) for each in tools))

    @contextlib.contextmanager
    def running(self, server: Server, build: Build, env: Mapping[str, str] | None = None) -> Iterator[ProcessInstance]:
        place = Place(self.split.generator, self.logs, self.project.service_data)
        contents = self.project.scenarios / server.spec.suite
        with services.running(server.spec.services, free_port, place, contents) as started:
            if self.port is not None:
                require_free(self.port)
            port = self.port or free_port()
            own = {"PORT": str(port), "WORKERS": str(self.workers or len(self.split.server))}
            own |= {service.variable: service.url for service in started}
            environment = {**server.spec.env, **own, **(env or {})}
            instance = ProcessInstance(
                lambda: self._start(server, build, environment), f"http://127.0.0.1:{port}", started
            )
            try:
                answer = await_health(instance, server.spec.ready)
                _require_own_port(instance, port)
                instance.reported = reported_by(server, answer)
                yield instance
            finally:
                instance.terminate()

    def _start(self, server: Server, build: Build, environment: Mapping[str, str]) -> Program:
        start = server.process.start
        program, *arguments = build.toolchains.command(start, server.folder)
        try:
            return processes.start(
                [*build.wrapper, program, *build.options, *arguments],
                folder=server.folder,
                environment=processes.clean_environment(build.toolchains.environment, environment),
                cpus=self.split.server,
                log=self.logs / f"{server.slug}.log",
            )
        except OSError as error:
            raise ServerFailed("start", f"{start[0]}: {error.strerror}") from None


def _require_own_port(instance: ProcessInstance, port: int) -> None:
    own = {inode for stat in instance.tree.members(list(stats())) for inode in socket_inodes(stat.pid)}
    if not listening_inodes(port) & own:
        raise WrongServer("start", f"port {port} is served by another process", instance.log_tail())
