"""The driver kubernetes: a server is a pod in a namespace of its own, and the k6 operator runs the load beside it.

A meter beside the server accounts for its usage. The driver cannot kill servers yet.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pushbench.building.builds import Note
from pushbench.building.images import generator_image, image_of
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import NO_PROCESS, Server
from pushbench.drivers import cluster_services, manifests, nodes
from pushbench.drivers.cluster_account import Meter
from pushbench.drivers.cluster_load import Beside, playing_in
from pushbench.drivers.cluster_services import Around, running_in
from pushbench.drivers.driver import Build, DriverName, await_health, reported_by
from pushbench.drivers.kubectl import Kubectl, KubectlFailed
from pushbench.drivers.kubelet import Kubelet
from pushbench.drivers.manifests import OURS, OWNER, PORT, SERVER, Place
from pushbench.drivers.nodes import Node
from pushbench.drivers.pods import PodInstance, Refused, await_pods, first_reached, forwarding
from pushbench.drivers.services import KNOWN
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.generator.load import Generator, Load, LoadPlan, Player
from pushbench.machine.environment import CpuSplit, shorten_kernel
from pushbench.machine.ownership import boot_id, machine_marker, owner_lives, owner_marker

OPERATOR = "https://raw.githubusercontent.com/grafana/k6-operator/v1.5.0/bundle.yaml"
PREFIX = "pushbench"
"""of namespaces, unless another one is requested"""
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")


@dataclass(frozen=True)
class ClusterChoice:
    """The options of the driver."""

    context: str | None = None
    """None means the current one"""
    prefix: str | None = None
    """None means PREFIX"""
    generators: int = 1


@dataclass(frozen=True)
class KubernetesDriver:
    """Runs each server on the nodes for servers, with all their CPUs except one."""

    project: Project
    split: CpuSplit
    """CPUs of this machine, which neither runs servers nor generates load"""
    nodes: Sequence[Node]
    """nodes that accept pods"""
    generators: int
    version: str
    plugin: str | None
    """of the network; None if it is unknown"""
    cluster: str
    """identifies the cluster, independently of the name of the context"""
    _kubectl: Kubectl
    prefix: str
    workers: int | None = None
    verifying: bool = False
    """the rules reach the servers without kubectl"""
    name: DriverName = "kubernetes"

    @classmethod
    def find(
        cls, project: Project, split: CpuSplit, workers: int | None, choice: ClusterChoice, note: Note
    ) -> KubernetesDriver:
        """The driver for a reachable cluster, after removing what killed runs left there. Raises UserError."""
        prefix = PREFIX if choice.prefix is None else choice.prefix
        if not NAME.fullmatch(prefix):
            hint = "lower-case letters, digits and dashes, at most 40"
            raise UserError(f"--namespace-prefix: no namespace can be called {prefix!r}", hint=hint)
        kubectl = Kubectl.find(choice.context)
        try:
            version = _version(kubectl)
            if "testruns.k6.io" not in kubectl.run("get", "crd", "--output", "name"):
                hint = f"`kubectl apply --server-side -f {OPERATOR}` installs it"
                raise UserError("the cluster has no k6 operator, which plays the load", hint=hint)
            found = nodes.usable(kubectl.get("nodes")["items"])
            plugin = _plugin(kubectl)
            cluster = str(kubectl.get("namespace", "kube-system")["metadata"]["uid"])
            end_orphans(kubectl, note)
        except KubectlFailed as error:
            raise UserError(f"the cluster does not answer: {error}", hint="see `kubectl cluster-info`") from None
        if len(found) <= choice.generators:
            what = f"{choice.generators + 1} nodes are needed, one for the server and one for each generator"
            raise UserError(
                f"the cluster has {len(found)} nodes that accept pods: {what}", hint="give fewer --generators"
            )
        names = " and ".join(node.name for node in nodes.for_servers(found))
        note(f"driver: kubernetes {version}, servers on {names}")
        return cls(project, split, found, choice.generators, version, plugin, cluster, kubectl, prefix, workers)

    @property
    def node(self) -> Node:
        """The first node for servers."""
        return nodes.for_servers(self.nodes)[0]

    @property
    def here(self) -> bool:
        """Whether a node shares the kernel of this machine, as the nodes of kind do."""
        return any(node.boot == boot_id() for node in self.nodes)

    @property
    def engine(self) -> str:
        return ", ".join(filter(None, [f"Kubernetes {self.version}", self.node.runtime, self.plugin]))

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
        if server.spec.compose:
            return NO_PROCESS
        rest = len(self.nodes) - len(self._place(server, self.nodes).nodes)
        if rest < self.generators:
            return f"its {server.spec.replicas} replicas leave {rest} nodes for {self.generators} generators"
        return None

    def products(self, services: Sequence[str]) -> dict[str, str]:
        if not any(KNOWN[name].product for name in services):
            return {}
        name = self._new_name()
        try:
            self._kubectl.apply([manifests.namespace(name, marker())])
            return cluster_services.products(self._kubectl.within(name), services)
        except (KubectlFailed, ServerFailed) as error:
            raise UserError(f"the versions of the services are unknown: {error}") from None
        finally:
            self._remove(name)

    def digest(self, server: Server) -> str:
        return image_of(server).reference()

    def build(self, server: Server, note: Note) -> Build:
        return Build(server.id, self.digest(server))

    @contextlib.contextmanager
    def running(self, server: Server, build: Build, env: Mapping[str, str] | None = None) -> Iterator[PodInstance]:
        if self.verifying:
            _require_verifiable(server)
        name = self._new_name()
        kubectl = self._kubectl.within(name)
        logs = self.project.logs / name
        place = self._place(server, self._left())
        own = {"PORT": str(PORT), "WORKERS": str(self.workers or max(1, int(place.cpus)))}
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, logs, ignore_errors=True)
            stack.callback(self._remove, name)
            try:
                logs.mkdir(parents=True)
                self._kubectl.apply([manifests.namespace(name, marker())])
                around = Around(kubectl, place.nodes, self._meter, logs, self.project.scenarios / server.spec.suite)
                started = running_in(around, server.spec.services)
                own |= {service.variable: service.url for service in started}
                pods, beside = self._start(kubectl, server, build, {**own, **(env or {})}, place=place)
                beside = replace(beside, meters=[*beside.meters, *(each.meter for each in started if each.meter)])
                address = kubectl.get("service", SERVER)["spec"]["clusterIP"]
                if self.verifying:
                    urls = [_reached(address, pods)]
                else:
                    urls = [stack.enter_context(forwarding(kubectl, _name(pod), PORT, logs)) for pod in pods]
            except KubectlFailed as error:
                raise ServerFailed("start", f"the pod does not start: {error}") from None
            player = self._playing(kubectl, f"http://{address}:{PORT}", beside, place)
            metered = any(not meter.of_service for meter in beside.meters)
            names = [_name(pod) for pod in pods]
            instance = PodInstance(kubectl, names, urls[0], player=player, services=started, metered=metered, logs=logs)
            stack.callback(instance.terminate)
            for url in reversed(urls):
                instance.url = url
                instance.reported = reported_by(server, await_health(instance, server.spec.ready))
            yield instance

    def _left(self) -> list[Node]:
        """The nodes that still accept pods and are like the first for servers. Raises ServerFailed if there is none."""
        try:
            found = nodes.usable(self._kubectl.get("nodes")["items"])
        except KubectlFailed as error:
            raise ServerFailed("start", f"the cluster does not answer: {error}") from None
        like = [node for node in found if node.is_like(self.node)]
        if not like:
            raise ServerFailed("start", f"the cluster has no node like {self.node.name} any more")
        return like

    def _place(self, server: Server, found: Sequence[Node]) -> Place:
        """As many of the servers' nodes as there are replicas; the replicas share their CPUs."""
        replicas = server.spec.replicas
        chosen = nodes.for_servers(found)[:replicas]
        of_one_node = math.ceil(replicas / len(chosen))
        cpus = min(node.server_cpus for node in chosen) / of_one_node
        return Place([node.name for node in chosen], cpus, replicas)

    def _start(
        self, kubectl: Kubectl, server: Server, build: Build, env: Mapping[str, str], *, place: Place
    ) -> tuple[list[Mapping[str, Any]], Beside]:
        """The server's pods with their meters, or without meters where the cluster refuses them. Raises KubectlFailed
        and ServerFailed.
        """
        spec = server.spec
        user = spec.image.user or manifests.USER
        objects = partial(manifests.server, build.digest, {**spec.env, **env}, place, ready=spec.ready, user=user)
        try:
            kubectl.apply(objects(self._meter))
            pods = await_pods(kubectl, SERVER, place.replicas)
        except Refused as refused:
            kubectl.apply(objects())
            pods = await_pods(kubectl, SERVER, place.replicas)
            kubelet = Kubelet(kubectl, {_name(pod): pod["spec"]["nodeName"] for pod in pods})
            return pods, Beside(without=refused.failure.message, kubelet=kubelet)
        meters = [Meter(_name(pod), f"{pod['status']['podIP']}:{manifests.METER_PORT}", place.cpus) for pod in pods]
        return pods, Beside(meters)

    @property
    def _meter(self) -> str:
        """The image that contains the meter."""
        return generator_image(self.project).reference()

    def _playing(self, kubectl: Kubectl, url: str, beside: Beside, place: Place) -> Player:
        def play(generator: Generator, plan: LoadPlan) -> contextlib.AbstractContextManager[Load]:
            given = plan.model_copy(update={"url": url, "spin_us": 0})
            here = replace(generator, sources=())
            return playing_in(kubectl, here, given, image=self._meter, not_on=place.nodes, beside=beside)

        return play

    def _new_name(self) -> str:
        return f"{self.prefix}-{secrets.token_hex(4)}"

    def _remove(self, name: str) -> None:
        with contextlib.suppress(KubectlFailed):
            self._kubectl.run("delete", "namespace", name, "--ignore-not-found", "--wait=false")


def _require_verifiable(server: Server) -> None:
    """Raises UserError for a server whose rules need the content of a service after the service's end."""
    if kept := next((each for each in server.spec.services if KNOWN[each].content), None):
        what = f"the rules of {server.spec.suite} stop {kept} and then read its content, which is lost with its pod"
        raise UserError(what, hint="verify with --driver docker")


def _name(item: Mapping[str, Any]) -> str:
    return str(item["metadata"]["name"])


def _reached(service: str, pods: Sequence[Mapping[str, Any]]) -> str:
    """The URL at which this machine reaches all pods: of their Service, or of the only pod. Raises UserError.

    kubectl's forwarding keeps reading from a server when the client has stopped, so rules of slow clients are
    meaningless through it.
    """
    alone = [str(pod["status"]["podIP"]) for pod in pods] if len(pods) == 1 else []
    if address := first_reached([service, *alone], PORT):
        return f"http://{address}:{PORT}"
    raise UserError(
        "the rules need a direct network path from this machine to the pods: kubectl's forwarding hides slow clients",
        hint="verify on a node of the cluster, or the same image with --driver docker",
    )


def marker() -> str:
    """Identifies this process among the processes of all machines."""
    return f"{machine_marker()}/{owner_marker()}"


def left_behind(namespaces: Sequence[Mapping[str, Any]], machine: str) -> list[str]:
    """The namespaces whose owner was a process of this machine that has ended. Those of other machines are left out."""
    found = []
    for each in namespaces:
        where, _, owner = each["metadata"].get("annotations", {}).get(OWNER, "").rpartition("/")
        if where == machine and not owner_lives(owner) and "deletionTimestamp" not in each["metadata"]:
            found.append(each["metadata"]["name"])
    return found


def end_orphans(kubectl: Kubectl, note: Note) -> None:
    """Remove the namespaces that killed runs of this machine left behind."""
    [(label, value)] = OURS.items()
    for name in left_behind(kubectl.get("namespaces", "--selector", f"{label}={value}")["items"], machine_marker()):
        note(f"removed namespace {name}, left by a pushbench that was killed")
        kubectl.run("delete", "namespace", name, "--wait=false")


def _plugin(kubectl: Kubectl) -> str | None:
    """The network plugin; None if this user may not list it."""
    with contextlib.suppress(KubectlFailed):
        daemons = kubectl.get("daemonsets", "--all-namespaces")["items"]
        return nodes.network_plugin([_name(each) for each in daemons])
    return None


def _version(kubectl: Kubectl) -> str:
    """The API server's version, such as `1.34`: patch releases do not change results."""
    told = json.loads(kubectl.run("get", "--raw", "/version"))
    return f"{told['major']}.{told['minor'].rstrip('+')}"
