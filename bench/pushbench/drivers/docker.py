"""The docker driver: a server and its services are containers of `compose/bench.yml`, which holds the whole policy.

Clients use the container's address in an internal network: there is no proxy, no published port, no way out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from pushbench.building.builds import Note
from pushbench.building.engine import Engine, EngineFailed
from pushbench.building.images import COPY, built_for, image_of, in_checkout
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server
from pushbench.drivers import services
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
from pushbench.drivers.driver import STOP_SECONDS, Build, DriverName, await_health, reported_by
from pushbench.drivers.service import Running, Service
from pushbench.drivers.service_images import COMMAND, POLICY, service_images
from pushbench.drivers.services import KNOWN, content_of
from pushbench.drivers.systems import SystemInstance, composed, digest_of, running_system, settled
from pushbench.drivers.workers import kill_worker
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.lives import Lives
from pushbench.machine.ownership import owner_lives, owner_marker
from pushbench.machine.processes import Exit
from pushbench.records.record import ReportedVersions

PORT = 8080


class ContainerInstance:
    """A server in a container."""

    player = None
    replicas = 1

    def __init__(self, container: Container, running: Sequence[Running]) -> None:
        self._container = container
        self._exit: Exit | None = None
        self.url = f"http://{container.state.address}:{PORT}"
        self.services = running
        self.reported: ReportedVersions | None

    @property
    def tree(self) -> Lives:
        return self._container.tree

    def exited(self) -> str | None:
        state = self._container.ended_by_itself
        return ending(state) if state else None

    def outage(self) -> AbstractContextManager[None]:
        return self._container.absence()

    def kill_worker(self) -> None:
        kill_worker(self.tree, self._container.state.pid)

    def terminate(self, timeout: float = STOP_SECONDS) -> Exit:
        if self._exit is None:
            self._exit = self._container.terminate(timeout)
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
            raise ServerFailed("load", f"the service {self.name} cannot be queried")
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
        """Wait until the service is ready. Raises ServerFailed if it does not become ready."""
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
    """Runs servers and their services in containers on the CPUs of `split`; `workers` None means one per CPU."""

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
        """A missing image can be built, except for a server that is linked from another repository."""
        if in_checkout(self.project.root, server.folder) or not self.lacks_image(server):
            return None
        return f"there is no image of it, and none is built from sources outside of this checkout; {COPY}"

    def lacks_image(self, server: Server) -> bool:
        return any(self._engine.image(image.reference()) is None for image in built_for(server))

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
                    raise UserError(f"the version of the service {image.service} is unknown: {error}") from None
        return found

    def digest(self, server: Server) -> str:
        if server.spec.compose:
            return digest_of(composed(self._engine, server))
        return self._engine.image(image_of(server).reference()) or ""

    def build(self, server: Server, note: Note) -> Build:
        if server.spec.compose:
            document = composed(self._engine, server)
            return Build(server.id, digest_of(document), system=document)
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
    ) -> Iterator[ContainerInstance | SystemInstance]:
        if build.system is not None:
            chosen = settled(build.system, self.split.server, {"WORKERS": self._workers, **(env or {})})
            with running_system(self._engine, self.project, server, chosen) as system:
                yield system
            return
        own = {"PORT": str(PORT), "WORKERS": self._workers}
        needed = [KNOWN[each] for each in server.spec.services]
        # By its name in the network: the address may change in an outage.
        own |= {service.variable: service.url.format(host=service.name, port=service.port) for service in needed}
        environment = {**server.spec.env, **own, **(env or {})}
        with contextlib.ExitStack() as stack:
            try:
                choices = self._choices(server, build, environment)
                trial = stack.enter_context(composition(self._engine, self.project, choices, [POLICY]))
                contents = self.project.scenarios / server.spec.suite
                running = [self._start_service(trial, each, content_of(each, contents)) for each in needed]
                instance = ContainerInstance(trial.start("server"), running)
            except EngineFailed as error:
                raise ServerFailed("start", f"the container does not start: {error}") from None
            stack.callback(instance.terminate)
            instance.reported = reported_by(server, await_health(instance, server.spec.ready))
            yield instance

    @property
    def _workers(self) -> str:
        return str(self.workers or len(self.split.server))

    @staticmethod
    def end_orphans(engine: Engine, note: Note) -> None:
        """Remove the containers whose owner has died, with their networks and their data."""
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
        labels = {OWNER_LABEL: owner_marker()}
        chosen: dict[str, object] = {
            "server": {
                "image": build.digest,
                "cpuset": cpu_list(self.split.server),
                "ulimits": as_many_files(),
                "environment": literally(environment),
                "labels": labels,
            }
        }
        for each in server.spec.services:
            chosen[each] = {"cpuset": cpu_list(self.split.generator), "labels": labels, **self._user_of(KNOWN[each])}
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

    def _start_service(self, trial: Composition, service: Service, content: str | None) -> ServiceContainer:
        started = ServiceContainer(self._engine, service, trial.start(service.name))
        started.begin(content)
        return started
