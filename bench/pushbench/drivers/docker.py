"""The docker driver: a server and its services are containers of `compose/bench.yml`, which holds the whole policy.

Clients use the container's address in an internal network: no proxy, no published port, no way out.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.building.builds import Note
from pushbench.building.engine import Engine, EngineFailed, State
from pushbench.building.images import image_of
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server
from pushbench.drivers import services
from pushbench.drivers.driver import POLL_SECONDS, STOP_SECONDS, Build, DriverName, await_health, reported_by
from pushbench.drivers.service import Running, Service
from pushbench.drivers.service_images import COMMAND, POLICY, service_images
from pushbench.drivers.services import KNOWN, content_of
from pushbench.drivers.workers import kill_worker
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.project import Project
from pushbench.machine import processes
from pushbench.machine.cgroups import Cgroup
from pushbench.machine.environment import CpuSplit
from pushbench.machine.lives import Lives
from pushbench.machine.ownership import owner_lives, owner_marker
from pushbench.machine.processes import Exit
from pushbench.machine.procfs import read_stat
from pushbench.records.record import ReportedVersions

PORT = 8080
OWNER_LABEL = "pushbench.owner"
LOG_LINES = "50"


class Container:
    """A container that was started."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine, self.id = engine, container
        self._ended: State | None = None
        self._lives: Lives | None = None
        self.refresh()

    def refresh(self) -> None:
        """Read the container's state and accounts. Raises ServerFailed if its accounts cannot be read."""
        self.state = self._engine.state(self.id)
        stat = read_stat(self.state.pid) if self.state.pid else None
        self._start_ticks = stat.start_ticks if stat else None
        self._ended = None if self.state.running else self.state
        cgroup = Cgroup.of_container(self.id)
        if self.state.running and cgroup is None:
            raise ServerFailed("start", "the control group of its container cannot be read on this machine")
        if cgroup and self._lives:
            self._lives.begin(cgroup)
        elif cgroup:
            self._lives = Lives(cgroup)

    @property
    def tree(self) -> Lives:
        if self._lives is None:
            raise ServerFailed("start", "its container has ended")
        return self._lives

    @property
    def ended(self) -> State | None:
        """How the container ended; None while it runs. This reads /proc and starts no program."""
        if self._ended is None:
            stat = read_stat(self.state.pid)
            if stat is None or stat.state == "Z" or stat.start_ticks != self._start_ticks:
                self._ended = self._final_state()
        return self._ended

    def _final_state(self) -> State:
        """The final state, once the engine has noticed that the process is gone."""
        deadline = time.monotonic() + 5
        while (state := self._engine.state(self.id)).running and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return state

    def kill(self, how: signal.Signals) -> None:
        with contextlib.suppress(EngineFailed):  # it has just ended by itself
            self._engine.run("container", "kill", "--signal", how.name, self.id)

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """Kill it, and start it again at the end of the block."""
        self.tree.end()
        self.kill(signal.SIGKILL)
        self.await_end(STOP_SECONDS)
        try:
            yield
        finally:
            self._engine.run("container", "start", self.id)
            self.refresh()

    def await_end(self, seconds: float) -> State | None:
        deadline = time.monotonic() + seconds
        while self.ended is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return self.ended

    def log_tail(self) -> str:
        try:
            return self._engine.logs(self.id, "--tail", LOG_LINES).decode(errors="replace")
        except EngineFailed as error:
            return str(error)

    def output_bytes(self) -> int:
        try:
            return len(self._engine.logs(self.id))
        except EngineFailed as error:
            raise OSError(f"the output of the container cannot be read: {error}") from None


def ending(state: State) -> str:
    """How a container ended, in words."""
    if state.out_of_memory:
        return "out of memory: it used up the limit of its container"
    if state.exit_code > 128 + signal.SIGKILL - 1 and state.exit_code - 128 == signal.SIGKILL:
        return processes.ending(-signal.SIGKILL)
    return processes.ending(state.exit_code)


class ContainerInstance:
    """A server in a container."""

    player = None

    def __init__(self, container: Container, running: Sequence[Running]) -> None:
        self._container = container
        self._exit: Exit | None = None
        self._away = False
        self.url = f"http://{container.state.address}:{PORT}"
        self.services = running
        self.reported: ReportedVersions | None

    @property
    def tree(self) -> Lives:
        return self._container.tree

    def exited(self) -> str | None:
        state = None if self._away else self._container.ended
        return ending(state) if state else None

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        self._away = True
        try:
            with self._container.outage():
                yield
        except EngineFailed as error:
            raise ServerFailed("load", f"the container does not start again: {error}", self.log_tail()) from None
        finally:
            self._away = False
        if self.url != f"http://{self._container.state.address}:{PORT}":
            raise ServerFailed("load", "the container has another address than before, so no client finds it")

    def kill_worker(self) -> None:
        kill_worker(self.tree, self._container.state.pid)

    def terminate(self, timeout: float = STOP_SECONDS) -> Exit:
        if self._exit is None:
            began = time.monotonic()
            if self._container.ended is None:
                self._container.kill(signal.SIGTERM)
            state = self._container.await_end(timeout)
            if killed := state is None:
                self._container.kill(signal.SIGKILL)
                state = self._container.await_end(timeout)
            self._exit = Exit(state.exit_code if state else -signal.SIGKILL, time.monotonic() - began, killed)
        return self._exit

    def log_tail(self) -> str:
        return self._container.log_tail()

    def output_bytes(self) -> int:
        return self._container.output_bytes()


class ServiceContainer:
    """A service in a container."""

    def __init__(self, engine: Engine, service: Service, container: Container) -> None:
        self._engine, self._service, self._container = engine, service, container
        self.name = service.name

    @property
    def url(self) -> str:
        return self._service.url.format(host=self._container.state.address, port=self._service.port)

    @property
    def tree(self) -> Lives:
        return self._container.tree

    def ask(self, question: str) -> str:
        client = self._service.client
        if client is None:
            raise ServerFailed("load", f"the service {self.name} cannot be asked")
        return self._asked(client.image_program, client.arguments, question)

    def begin(self, content: str | None) -> None:
        """Give a fresh service its initial content. Raises ServerFailed."""
        self.await_ready()
        client = self._service.client
        if client and client.image_setup[1]:
            self._asked(client.image_program, *client.image_setup)
        if content:
            self.ask(content)

    def _asked(self, program: str, arguments: Sequence[str], question: str) -> str:
        command = [program, *(each.format(port=self._service.port) for each in arguments), question]
        try:
            return self._engine.run("container", "exec", self._container.id, *command)
        except EngineFailed as error:
            raise ServerFailed("load", f"the service {self.name} does not answer: {error}") from None

    def await_ready(self) -> None:
        """Raises ServerFailed when it does not become ready."""
        container = self._container

        def ended() -> str | None:
            return ending(container.ended) if container.ended else None

        services.await_ready(self._service, container.state.address, self._service.port, ended, container.log_tail)

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        with self._container.outage():
            yield
        self.await_ready()


@dataclass(frozen=True)
class DockerDriver:
    """Runs servers and their services in containers on the CPUs of `split`; `workers` None means one a CPU."""

    project: Project
    split: CpuSplit
    _engine: Engine
    workers: int | None = None
    name: DriverName = "docker"

    @property
    def engine(self) -> str:
        return f"Docker {self._engine.version}"

    @property
    def facts(self) -> Mapping[str, object]:
        return {}

    def lacks(self, server: Server) -> str | None:
        return None

    def lacks_image(self, server: Server) -> bool:
        return self._engine.image(image_of(server).reference()) is None

    def lacks_service(self, server: Server) -> str | None:
        """The missing image of one of the server's services."""
        wanted = [each for each in service_images(server.spec.services) if self._engine.image(each.reference) is None]
        return f"there is no image {wanted[0].reference} of the service {wanted[0].service}" if wanted else None

    def products(self, services: Sequence[str]) -> dict[str, str]:
        found = {}
        for image in service_images(services):
            if product := KNOWN[image.service].product:
                try:
                    said = self._said(image.reference, product.image_program, "--version")
                    found[image.service] = product.name(said)
                except EngineFailed as error:
                    raise UserError(f"the version of the service {image.service} is not told: {error}") from None
        return found

    def digest(self, server: Server) -> str:
        return self._engine.image(image_of(server).reference()) or ""

    def build(self, server: Server, note: Note) -> Build:
        digest = self.digest(server)
        if not digest:
            reference = image_of(server).reference()
            raise ServerFailed("build", f"there is no image {reference}; `make images` builds it")
        if absent := self.lacks_service(server):
            raise ServerFailed("build", f"{absent}; {COMMAND}")
        return Build(server.id, digest)

    @contextlib.contextmanager
    def running(
        self, server: Server, build: Build, env: Mapping[str, str] | None = None
    ) -> Iterator[ContainerInstance]:
        name = f"pushbench-{secrets.token_hex(4)}"
        choices = self.project.cache / "compose" / f"{name}.json"
        files = [str(POLICY), str(choices)]
        own = {"PORT": str(PORT), "WORKERS": str(self.workers or len(self.split.server))}
        needed = [KNOWN[each] for each in server.spec.services]
        # By the name in the network: the address may be another one after an outage.
        own |= {service.variable: service.url.format(host=service.name, port=service.port) for service in needed}
        environment = {**server.spec.env, **own, **(env or {})}
        with contextlib.ExitStack() as stack:
            stack.callback(self._remove, files, name, choices)
            try:
                write_atomically(choices, json.dumps(self._choices(server, build, environment)).encode())
                contents = self.project.scenarios / server.spec.suite
                running = [self._start_service(files, name, each, content_of(each, contents)) for each in needed]
                instance = ContainerInstance(self._start(files, name, "server"), running)
            except EngineFailed as error:
                raise ServerFailed("start", f"the container does not start: {error}") from None
            stack.callback(instance.terminate)
            instance.reported = reported_by(server, await_health(instance, server.spec.ready))
            yield instance

    @staticmethod
    def end_orphans(engine: Engine, note: Note) -> None:
        """Remove the containers whose owner is gone, with their networks and their data."""
        for container, owner in engine.labelled(OWNER_LABEL).items():
            if not owner_lives(owner):
                note(f"removed container {container[:12]}, left by a pushbench that was killed")
                with contextlib.suppress(EngineFailed):
                    engine.run("container", "rm", "--force", "--volumes", container)
        with contextlib.suppress(EngineFailed):
            engine.run("network", "prune", "--force", "--filter", f"label={OWNER_LABEL}")
        wanted = ("--filter", f"label={OWNER_LABEL}", "--format", f'{{{{.Name}}}} {{{{.Label "{OWNER_LABEL}"}}}}')
        for line in engine.run("volume", "ls", *wanted).splitlines():
            volume, owner = line.split()
            if not owner_lives(owner):
                with contextlib.suppress(EngineFailed):
                    engine.run("volume", "rm", volume)

    def _choices(self, server: Server, build: Build, environment: Mapping[str, str]) -> dict[str, object]:
        """The server's own settings, as a compose file beside the policy. A dollar sign is not expanded."""

        def cpus(these: Sequence[int]) -> str:
            return ",".join(str(cpu) for cpu in these)

        labels = {OWNER_LABEL: owner_marker()}
        chosen: dict[str, object] = {
            "server": {
                "image": build.digest,
                "cpuset": cpus(self.split.server),
                "environment": {key: value.replace("$", "$$") for key, value in environment.items()},
                "labels": labels,
            }
        }
        for each in server.spec.services:
            chosen[each] = {"cpuset": cpus(self.split.generator), "labels": labels, **self._user_of(KNOWN[each])}
        volumes = {each: {"labels": labels} for each in server.spec.services if KNOWN[each].fill}
        return {"services": chosen, "networks": {"bench": {"labels": labels}}, "volumes": volumes}

    def _user_of(self, service: Service) -> dict[str, object]:
        """The numeric user of a service, which differs between images."""
        if service.image_user is None:
            return {}
        [image] = service_images([service.name])
        user, group = (self._said(image.reference, "id", option, service.image_user) for option in ("-u", "-g"))
        return {"user": f"{user}:{group}", "tmpfs": [f"/run:size=1m,uid={user},gid={group}"]}

    def _said(self, image: str, program: str, *arguments: str) -> str:
        """The output of a program in an image. Raises EngineFailed."""
        alone = ("run", "--rm", "--network", "none", "--pull", "never", "--entrypoint", program)
        return self._engine.run(*alone, image, *arguments).strip()

    def _start(self, files: Sequence[str], name: str, service: str) -> Container:
        self._engine.compose(files, name, "up", "--detach", "--no-deps", service)
        return Container(self._engine, self._engine.compose(files, name, "ps", "--all", "--quiet", service).strip())

    def _start_service(
        self, files: Sequence[str], name: str, service: Service, content: str | None
    ) -> ServiceContainer:
        started = ServiceContainer(self._engine, service, self._start(files, name, service.name))
        started.begin(content)
        return started

    def _remove(self, files: Sequence[str], name: str, choices: Path) -> None:
        if not choices.exists():
            return
        with contextlib.suppress(EngineFailed):
            self._engine.compose(files, name, "down", "--volumes", "--remove-orphans", "--timeout", "0")
        choices.unlink(missing_ok=True)
