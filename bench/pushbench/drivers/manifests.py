"""The objects of a trial on Kubernetes: the counterpart of `compose/bench.yml`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushbench.catalog.servers import HEALTHZ, PORT_OPENS

PORT = 8080
SERVER, LOAD, METER = "server", "load", "meter"
"""names of the server's objects, the load's objects, and the container beside the server"""
METER_PORT = 18080
METER_PROGRAM = "/usr/bin/meter"
"""in the image of k6"""
USER = 12345
"""of the image of k6, and of server and meter unless `server.yml` sets another one: only a process of the same user
sees a server's cgroup"""
REACH = "reach"
"""name of the pod that checks whether pods other than runners reach the server"""
QUESTION = "pushbench.question"
"""the label of pods that run one command and exit"""
SERVICE = {"pushbench.service": "true"}
"""the label of pods that the server may reach"""
OURS = {"app.kubernetes.io/managed-by": "pushbench"}
OWNER = "pushbench.owner"
"""the annotation of a namespace: the machine and the process that created it"""
HOSTNAME = "kubernetes.io/hostname"
GENERATOR_MEMORY = "512Mi"

Manifest = dict[str, Any]

CONFINED: Manifest = {
    "readOnlyRootFilesystem": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
SMALL: Manifest = {"cpu": "100m", "memory": "64Mi"}
TMP: Manifest = {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}
RUN: Manifest = {"name": "run", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}
RUN_MOUNT: Manifest = {"name": "run", "mountPath": "/run"}
DATA: Manifest = {"name": "data", "emptyDir": {}}  # on the node's disk, as long as the pod
DATA_MOUNT: Manifest = {"name": "data", "mountPath": "/data"}
TMP_MOUNT: Manifest = {"name": "tmp", "mountPath": "/tmp"}  # noqa: S108 - of the container


@dataclass(frozen=True)
class Place:
    """Where a server runs, and the share of the nodes that each of its pods gets."""

    nodes: Sequence[str]
    cpus: float
    replicas: int = 1
    memory: str = "2Gi"  # as in compose/bench.yml


def namespace(name: str, owner: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": OURS, "annotations": {OWNER: owner}},
    }


def server(
    image: str,
    environment: Mapping[str, str],
    place: Place,
    meter: str | None = None,
    *,
    ready: str = HEALTHZ,
    user: int = USER,
) -> list[Manifest]:
    """The server, its address, and who may reach it; `meter` is the image of the container beside it, which sees its
    processes. Requests equal limits, so the pod is of the class Guaranteed. The kubelet checks whether it is `ready`
    only until it is.
    """
    labels = {"app": SERVER}
    amount = {"cpu": f"{place.cpus * 1000:.0f}m", "memory": place.memory}
    container = {
        "name": SERVER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": _variables(environment),
        "ports": [{"containerPort": PORT}],
        "startupProbe": _until_ready(PORT, ready),
        "resources": {"requests": amount, "limits": amount},
        "securityContext": CONFINED,
        "volumeMounts": [TMP_MOUNT],
    }
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "affinity": {"nodeAffinity": _only("In", place.nodes)},
        "topologySpreadConstraints": [_spread(labels)],
        "terminationGracePeriodSeconds": 5,
        "securityContext": _user(user, user),
        "shareProcessNamespace": bool(meter),
        "containers": [container, *([_meter(meter, PORT)] if meter else [])],
        "volumes": [TMP],
    }
    ports = [{"port": PORT}, *([{"port": METER_PORT}] if meter else [])]
    deployment = {
        "replicas": place.replicas,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    policy = {
        "podSelector": {"matchLabels": labels},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [
            {"from": [_pods({"runner": "true"})], "ports": ports},
        ],
        "egress": [{"to": [_pods(SERVICE)]}],
    }
    return [
        _object("apps/v1", "Deployment", SERVER, deployment),
        _address(SERVER, labels, PORT),
        _object("networking.k8s.io/v1", "NetworkPolicy", SERVER, policy),
    ]


def service(
    name: str,
    image: str,
    policy: Mapping[str, Any],
    port: int,
    *,
    user: tuple[int, int],
    not_on: Sequence[str],
    meter: str | None = None,
) -> list[Manifest]:
    """A service as in `policy` of compose/bench.yml, run by this numeric user and group; only the server reaches it.
    `meter` is as for a server.
    """
    memory = policy["mem_limit"].removesuffix("g") + "Gi"
    paths = [each.rpartition(":")[2] for each in policy.get("volumes", [])]
    folders = [str(number) for number in range(len(paths))]
    kept = [{**DATA_MOUNT, "mountPath": path, "subPath": each} for path, each in zip(paths, folders, strict=True)]
    container = {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": policy["command"],
        "env": _variables(policy.get("environment", {})),
        "ports": [{"containerPort": port}],
        "startupProbe": _until_ready(port, PORT_OPENS),
        "resources": {"requests": {"cpu": "250m", "memory": memory}, "limits": {"cpu": "1", "memory": memory}},
        "securityContext": CONFINED,
        "volumeMounts": [TMP_MOUNT, RUN_MOUNT, *kept],
    }
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {**_user(*user), "fsGroup": user[1]},
        "affinity": {"nodeAffinity": _only("NotIn", not_on)},
        "terminationGracePeriodSeconds": 1,
        "shareProcessNamespace": bool(meter),
        "initContainers": [_folders(image, folders)] if folders else [],
        "containers": [container, *([_meter(meter, port)] if meter else [])],
        "volumes": [TMP, RUN, DATA],
    }
    return _reached_by_the_server(name, port, pod, metered=bool(meter))


def _reached_by_the_server(name: str, port: int, pod: Manifest, *, metered: bool) -> list[Manifest]:
    labels = {"app": name}
    deployment = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": {**labels, **SERVICE}}, "spec": pod},
    }
    clocks = {"from": [_pods({"runner": "true"})], "ports": [{"port": METER_PORT}]}
    rules = {
        "podSelector": {"matchLabels": labels},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [_pods({"app": SERVER})], "ports": [{"port": port}]}, *([clocks] if metered else [])],
    }
    return [
        _object("apps/v1", "Deployment", name, deployment),
        _address(name, labels, port),
        _object("networking.k8s.io/v1", "NetworkPolicy", name, rules),
    ]


def _address(name: str, labels: Mapping[str, str], port: int) -> Manifest:
    """The Service of pods. It routes to them from their start to their end, ready or not. Otherwise, when a meter
    exits, its pod would not be ready, and connections to the running server would be refused until the meter runs
    again. The driver waits until pods are ready before it starts a load.
    """
    spec = {"selector": dict(labels), "ports": [{"port": port}], "publishNotReadyAddresses": True}
    return _object("v1", "Service", name, spec)


def load(
    image: str, scenario: str, plan: str, generators: int, *, not_on: Sequence[str], meters: Sequence[str] = ()
) -> list[Manifest]:
    """A load of the k6 operator: runners on nodes of their own, never on the server's. Their logs contain events and
    report. They compare their clocks with those at the addresses `meters`.
    """
    amount = {"cpu": "1", "memory": GENERATOR_MEMORY}
    apart = {"labelSelector": {"matchLabels": {"runner": "true"}}, "topologyKey": HOSTNAME}
    variables = {"PUSH_LOAD": "/load/load.json", "PUSH_REPORT": "stdout", "PUSH_EVENTS_FD": "1"}
    if meters:
        variables["PUSH_METERS"] = " ".join(meters)
    runner = {
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "automountServiceAccountToken": "false",
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containerSecurityContext": CONFINED,
        "resources": {"requests": amount, "limits": amount},
        "affinity": {
            "nodeAffinity": _only("NotIn", not_on),
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]},
        },
        "env": [{"name": name, "value": value} for name, value in variables.items()],
        "volumeMounts": [{"name": LOAD, "mountPath": "/load", "readOnly": True}, TMP_MOUNT],
        "volumes": [{"name": LOAD, "configMap": {"name": LOAD}}, TMP],
    }
    testrun = {
        "parallelism": generators,
        "script": {"localFile": f"/home/k6/{scenario}"},
        "arguments": "--no-usage-report",
        "runner": runner,
    }
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": LOAD}, "data": {"load.json": plan}},
        _object("k6.io/v1alpha1", "TestRun", LOAD, testrun),
    ]


def _until_ready(port: int, ready: str) -> Manifest:
    """A startup probe each second, for longer than the driver waits."""
    how: Manifest = {"tcpSocket": {"port": port}} if ready == PORT_OPENS else {"httpGet": {"path": ready, "port": port}}
    return {**how, "periodSeconds": 1, "timeoutSeconds": 1, "failureThreshold": 120}


def _only(operator: str, nodes: Sequence[str]) -> Manifest:
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": operator, "values": list(nodes)}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


def _spread(labels: Mapping[str, str]) -> Manifest:
    """Spread the pods evenly over the nodes."""
    evenly = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule"}
    return {**evenly, "labelSelector": {"matchLabels": labels}}


def _folders(image: str, names: Sequence[str]) -> Manifest:
    """An init container that creates folders for a service's data; its user owns them, as in the engine's volumes."""
    return {
        "name": "folders",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["mkdir", "-p", *(f"/data/{name}" for name in names)],
        "resources": {"requests": SMALL, "limits": SMALL},
        "securityContext": CONFINED,
        "volumeMounts": [DATA_MOUNT],
    }


def question(name: str, image: str, command: Sequence[str]) -> Manifest:
    """A pod that runs a command of an image and exits. A job creates it, and waits for what a new namespace lacks."""
    container = {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "resources": {"requests": SMALL, "limits": SMALL},
        "securityContext": CONFINED,
    }
    spec = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": _user(USER, USER),
        "containers": [container],
    }
    template = {"metadata": {"labels": {QUESTION: name}}, "spec": spec}
    return _object("batch/v1", "Job", name, {"backoffLimit": 0, "template": template})


def _user(user: int, group: int) -> Manifest:
    return {"runAsUser": user, "runAsGroup": group, "runAsNonRoot": True}


def _variables(environment: Mapping[str, str]) -> list[Manifest]:
    """The environment as a list; no value is expanded."""
    return [{"name": name, "value": str(value).replace("$(", "$$(")} for name, value in environment.items()]


def _pods(labels: Mapping[str, str]) -> Manifest:
    return {"podSelector": {"matchLabels": dict(labels)}}


def _meter(image: str, port: int) -> Manifest:
    """The container that accounts for the processes beside it, which listen on a port. It reaches nothing else."""
    return {
        "name": METER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": [METER_PROGRAM, f"-listen=:{METER_PORT}", f"-port={port}"],
        "ports": [{"containerPort": METER_PORT}],
        "resources": {"requests": SMALL, "limits": SMALL},
        "securityContext": CONFINED,
    }


def _object(version: str, kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
