"""The driver kubernetes: a server is a pod in a namespace of its own, and the k6 operator plays the load beside it.

A meter beside the server accounts it. The driver starts no services yet, and kills nothing: the trial says so.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from pushbench.building.builds import Note
from pushbench.building.images import generator_image, image_of
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server
from pushbench.drivers import manifests, nodes, pod_status
from pushbench.drivers.cluster_account import Meter
from pushbench.drivers.cluster_load import Beside, playing_in
from pushbench.drivers.driver import START_SECONDS, STOP_SECONDS, Build, DriverName, await_health, reported_by
from pushbench.drivers.kubectl import Kubectl, KubectlFailed
from pushbench.drivers.manifests import OURS, OWNER, PORT, SERVER, Place
from pushbench.drivers.nodes import Node
from pushbench.drivers.service import Running
from pushbench.drivers.unaccounted import Unaccounted
from pushbench.drivers.workers import NotKilled
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.foundation.text import one_line
from pushbench.generator.load import Generator, Load, LoadPlan, Player
from pushbench.machine.environment import CpuSplit, shorten_kernel
from pushbench.machine.ownership import machine_marker, owner_lives, owner_marker
from pushbench.machine.processes import Exit
from pushbench.records.record import ReportedVersions

OPERATOR = "https://raw.githubusercontent.com/grafana/k6-operator/v1.5.0/bundle.yaml"
SELECTOR = f"app={SERVER}"
LOOK_SECONDS = 2.0
"""between two looks at a pod: each starts a kubectl"""
EXIT_CODE = f'{{.status.containerStatuses[?(@.name=="{SERVER}")].state.terminated.exitCode}}{{"\\n"}}'
KILLED = 128 + signal.SIGKILL
FORWARDED = re.compile(r"Forwarding from 127\.0\.0\.1:(\d+)")
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")


@dataclass(frozen=True)
class ClusterChoice:
    """The options of the driver."""

    context: str | None = None
    prefix: str = "pushbench"
    generators: int = 1


class Refused(ServerFailed):
    """The cluster makes no pod of the Deployment."""


class PodInstance:
    """A server in a pod. This machine reaches it through a forwarded port, the generators by its Service."""

    services: ClassVar[Sequence[Running]] = ()
    reported: ReportedVersions | None

    def __init__(self, kubectl: Kubectl, pod: str, url: str, *, player: Player, logs: Path) -> None:
        self._kubectl, self._pod, self._logs = kubectl, pod, logs
        self.url, self.player = url, player
        self.tree = Unaccounted()
        self._exit: Exit | None = None
        self._looked, self._ended = 0.0, ""

    def exited(self) -> str | None:
        if not self._ended and time.monotonic() - self._looked > LOOK_SECONDS:
            with contextlib.suppress(KubectlFailed):
                self._ended = self._how()
            self._looked = time.monotonic()
        return self._ended or None

    def _how(self) -> str:
        pods = self._kubectl.get("pods", "--selector", SELECTOR)["items"]
        return pod_status.ended(pods, self._pod, SERVER) or ""

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        raise ServerFailed("load", "the driver kubernetes kills nothing yet")
        yield

    def kill_worker(self) -> None:
        raise NotKilled("no worker was killed: the driver kubernetes kills nothing yet")

    def terminate(self, timeout: float = STOP_SECONDS) -> Exit:
        """SIGTERM by the kubelet, which sends SIGKILL after the pod's grace period. The exit code is what the API
        server heard before the pod was forgotten; -1 where it heard nothing.
        """
        if self._exit is None:
            began = time.monotonic()
            said = ""
            with contextlib.suppress(KubectlFailed):
                watcher = self._kubectl.start(
                    "get", "pod", self._pod, "--watch", f"--output=jsonpath={EXIT_CODE}", log=self._logs / "exit.log"
                )
                try:
                    self._kubectl.run("scale", "deployment", SERVER, "--replicas=0")
                    self._kubectl.run("wait", f"pod/{self._pod}", "--for=delete", f"--timeout={timeout + 10:g}s")
                finally:
                    watcher.stop(0)
                    said = watcher.log_tail()
            codes = [int(line) for line in said.splitlines() if line.strip().isdecimal()]
            code = codes[-1] if codes else -1
            self._exit = Exit(code, time.monotonic() - began, code == KILLED)
        return self._exit

    def log_tail(self) -> str:
        try:
            return _log_of(self._kubectl, self._pod, "--tail=50")
        except KubectlFailed as error:
            return str(error)

    def output_bytes(self) -> int:
        try:
            return len(_log_of(self._kubectl, self._pod).encode())
        except KubectlFailed as error:
            raise OSError(f"the output of the pod cannot be read: {error}") from None


@dataclass(frozen=True)
class KubernetesDriver:
    """Runs each server on `node`, with all its CPUs but one."""

    project: Project
    split: CpuSplit
    """of this machine, which neither runs servers nor generates load"""
    node: Node
    version: str
    _kubectl: Kubectl
    prefix: str
    workers: int | None = None
    name: DriverName = "kubernetes"

    @classmethod
    def find(
        cls, project: Project, split: CpuSplit, workers: int | None, choice: ClusterChoice, note: Note
    ) -> KubernetesDriver:
        """The driver for a cluster that answers, once what killed runs left there is removed. Raises UserError."""
        if not NAME.fullmatch(choice.prefix):
            hint = "lower-case letters, digits and dashes, at most 40"
            raise UserError(f"--namespace-prefix: no namespace is called {choice.prefix!r}", hint=hint)
        kubectl = Kubectl.find(choice.context)
        try:
            version = _version(kubectl)
            if "testruns.k6.io" not in kubectl.run("get", "crd", "--output", "name"):
                hint = f"`kubectl apply --server-side -f {OPERATOR}` installs it"
                raise UserError("the cluster has no k6 operator, which plays the load", hint=hint)
            found = nodes.usable(kubectl.get("nodes")["items"])
            end_orphans(kubectl, note)
        except KubectlFailed as error:
            raise UserError(f"the cluster does not answer: {error}", hint="see `kubectl cluster-info`") from None
        if len(found) <= choice.generators:
            what = f"{choice.generators + 1} nodes are needed, one for the server and one for each generator"
            raise UserError(
                f"the cluster has {len(found)} nodes that take pods: {what}", hint="give fewer --generators"
            )
        node = nodes.for_server(found)
        note(f"driver: kubernetes {version}, the server on the node {node.name}")
        return cls(project, split, node, version, kubectl, choice.prefix, workers)

    @property
    def engine(self) -> str:
        return f"Kubernetes {self.version}, {self.node.runtime}"

    @property
    def facts(self) -> Mapping[str, object]:
        return {
            "cpu_model": self.node.model,
            "cpus": self.node.cpus,
            "physical_cores": None,
            "memory_bytes": self.node.memory_bytes,
            "kernel": shorten_kernel(self.node.kernel),
            "server_cpus": [],
            "generator_cpus": [],
        }

    def lacks(self, server: Server) -> str | None:
        return "the driver kubernetes starts no services yet" if server.spec.services else None

    def products(self, services: Sequence[str]) -> dict[str, str]:
        return {}

    def digest(self, server: Server) -> str:
        return image_of(server).reference()

    def build(self, server: Server, note: Note) -> Build:
        return Build(server.id, self.digest(server))

    @contextlib.contextmanager
    def running(self, server: Server, build: Build, env: Mapping[str, str] | None = None) -> Iterator[PodInstance]:
        name = f"{self.prefix}-{secrets.token_hex(4)}"
        kubectl = self._kubectl.within(name)
        logs = self.project.logs / name
        place = Place(self.node.name, self.node.server_cpus)
        own = {"PORT": str(PORT), "WORKERS": str(self.workers or place.cpus)}
        environment = {**server.spec.env, **own, **(env or {})}
        with contextlib.ExitStack() as stack:
            stack.callback(self._remove, name, logs)
            try:
                logs.mkdir(parents=True)
                self._kubectl.apply([manifests.namespace(name, marker())])
                pod, beside = self._start(kubectl, build.digest, environment, place)
                url = stack.enter_context(_forwarding(kubectl, pod, logs))
                address = kubectl.get("service", SERVER)["spec"]["clusterIP"]
            except KubectlFailed as error:
                raise ServerFailed("start", f"the pod does not start: {error}") from None
            player = partial(self._playing, kubectl, f"http://{address}:{PORT}", beside)
            instance = PodInstance(kubectl, pod, url, player=player, logs=logs)
            stack.callback(instance.terminate)
            instance.reported = reported_by(server, await_health(instance, server.spec.ready))
            yield instance

    def _start(self, kubectl: Kubectl, image: str, environment: Mapping[str, str], place: Place) -> tuple[str, Beside]:
        """The server's pod with its meter; without one where the cluster refuses that. Raises KubectlFailed and
        ServerFailed.
        """
        meter = generator_image(self.project).reference()
        try:
            kubectl.apply(manifests.server(image, environment, place, meter))
            pod = _await_pod(kubectl)
        except Refused as refused:
            kubectl.apply(manifests.server(image, environment, place))
            return _await_pod(kubectl)["metadata"]["name"], Beside(without=refused.failure.message)
        name = pod["metadata"]["name"]
        address = f"{pod['status']['podIP']}:{manifests.METER_PORT}"
        return name, Beside([Meter(name, address, place.cpus)])

    def _playing(
        self, kubectl: Kubectl, url: str, beside: Beside, generator: Generator, plan: LoadPlan
    ) -> contextlib.AbstractContextManager[Load]:
        image = generator_image(self.project).reference()
        plan = plan.model_copy(update={"url": url, "spin_us": 0})
        here = replace(generator, sources=())
        return playing_in(kubectl, here, plan, image=image, not_on=self.node.name, beside=beside)

    def _remove(self, name: str, logs: Path) -> None:
        with contextlib.suppress(KubectlFailed):
            self._kubectl.run("delete", "namespace", name, "--ignore-not-found", "--wait=false")
        shutil.rmtree(logs, ignore_errors=True)


def marker() -> str:
    """This process, among all of all machines."""
    return f"{machine_marker()}/{owner_marker()}"


def left_behind(namespaces: Sequence[Mapping[str, Any]], machine: str) -> list[str]:
    """The namespaces whose owner was a process of this machine and is gone. Those of other machines stay."""
    found = []
    for each in namespaces:
        where, _, owner = each["metadata"].get("annotations", {}).get(OWNER, "").rpartition("/")
        if where == machine and not owner_lives(owner) and "deletionTimestamp" not in each["metadata"]:
            found.append(each["metadata"]["name"])
    return found


def end_orphans(kubectl: Kubectl, note: Note) -> None:
    """Remove the namespaces that killed runs of this machine left."""
    [(label, value)] = OURS.items()
    for name in left_behind(kubectl.get("namespaces", "--selector", f"{label}={value}")["items"], machine_marker()):
        note(f"removed namespace {name}, left by a pushbench that was killed")
        kubectl.run("delete", "namespace", name, "--wait=false")


def _await_pod(kubectl: Kubectl) -> Mapping[str, Any]:
    """The server's pod once the server runs. Raises ServerFailed, and Refused where the cluster makes no such pod."""
    deadline = time.monotonic() + START_SECONDS
    why = "no pod was made"
    while time.monotonic() < deadline:
        found = kubectl.get("pods", "--selector", SELECTOR)["items"]
        for pod in found:
            name = pod["metadata"]["name"]
            if how := pod_status.ended([pod], name, SERVER):
                raise ServerFailed("start", f"ended with {how} before it was healthy", _log_of(kubectl, name))
            if pod_status.runs(pod, SERVER) and pod["status"].get("podIP"):
                return cast("Mapping[str, Any]", pod)
            why = pod_status.waiting(pod)
            if "ImagePull" in why or "ErrImage" in why or "CreateContainer" in why:
                hint = "is the image in a registry that the nodes reach? docs/containers.md says how"
                raise ServerFailed("start", f"the pod does not start: {why}; {hint}")
        if not found and (refused := pod_status.refusal(kubectl.get("deployment", SERVER))):
            raise Refused("start", f"the cluster refuses the pod: {refused}")
        time.sleep(0.3)
    raise ServerFailed("start", f"the pod did not start within {START_SECONDS:g} s: {why}")


def _log_of(kubectl: Kubectl, pod: str, *options: str) -> str:
    return kubectl.run("logs", pod, f"--container={SERVER}", *options)


@contextlib.contextmanager
def _forwarding(kubectl: Kubectl, pod: str, logs: Path) -> Iterator[str]:
    """The URL of a pod on this machine."""
    program = kubectl.start("port-forward", pod, f":{PORT}", "--address=127.0.0.1", log=logs / "forward.log")
    try:
        deadline = time.monotonic() + START_SECONDS
        while not (found := FORWARDED.search(program.log_tail())):
            if program.exit_code() is not None or time.monotonic() > deadline:
                raise KubectlFailed(one_line(program.log_tail(), 300) or "no port is forwarded")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{found[1]}"
    finally:
        program.stop(0)


def _version(kubectl: Kubectl) -> str:
    """`1.34`, of the API server: patch releases do not change results."""
    told = json.loads(kubectl.run("get", "--raw", "/version"))
    return f"{told['major']}.{told['minor'].rstrip('+')}"
