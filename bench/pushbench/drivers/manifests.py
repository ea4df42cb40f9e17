"""The objects of a trial on Kubernetes: what `compose/bench.yml` is for containers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushbench.catalog.servers import HEALTHZ, PORT_OPENS

PORT = 8080
SERVER, LOAD, METER = "server", "load", "meter"
"""names of the server's objects, of the load's, and of the container beside the server"""
METER_PORT = 18080
USER = 12345
"""of the image of k6, and of server and meter: only a process of the same user sees a server's cgroup"""
SERVICE = {"pushbench.service": "true"}
"""the label of pods that the server reaches"""
OURS = {"app.kubernetes.io/managed-by": "pushbench"}
OWNER = "pushbench.owner"
"""the annotation of a namespace: the machine and the process that made it"""
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
TMP_MOUNT: Manifest = {"name": "tmp", "mountPath": "/tmp"}  # noqa: S108 - of the container


@dataclass(frozen=True)
class Place:
    """Where a server runs, and how much of the nodes each of its pods gets."""

    nodes: Sequence[str]
    cpus: float
    replicas: int = 1
    memory: str = "2Gi"  # as compose/bench.yml says


def namespace(name: str, owner: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": OURS, "annotations": {OWNER: owner}},
    }


def server(
    image: str, environment: Mapping[str, str], place: Place, meter: str | None = None, *, ready: str = HEALTHZ
) -> list[Manifest]:
    """The server, its address, and who reaches it; `meter` is the image of the container beside it, which sees its
    processes. Requests equal limits, so the pod is of the class Guaranteed. The kubelet asks whether it is `ready`
    until it is, and never again.
    """
    labels = {"app": SERVER}
    amount = {"cpu": f"{place.cpus * 1000:.0f}m", "memory": place.memory}
    container = {
        "name": SERVER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": name, "value": value.replace("$(", "$$(")} for name, value in environment.items()],
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
        "securityContext": {"runAsUser": USER, "runAsGroup": USER, "runAsNonRoot": True},
        "shareProcessNamespace": bool(meter),
        "containers": [container, *([_meter(meter)] if meter else [])],
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
            {"from": [{"podSelector": {"matchLabels": {"runner": "true"}}}], "ports": ports},
        ],
        "egress": [{"to": [{"podSelector": {"matchLabels": SERVICE}}]}],
    }
    return [
        _object("apps/v1", "Deployment", SERVER, deployment),
        _object("v1", "Service", SERVER, {"selector": labels, "ports": [{"port": PORT}]}),
        _object("networking.k8s.io/v1", "NetworkPolicy", SERVER, policy),
    ]


def service(name: str, image: str, policy: Mapping[str, Any], port: int, not_on: Sequence[str]) -> list[Manifest]:
    """A service as `policy` of compose/bench.yml has it; only the server reaches it."""
    user, _, group = policy["user"].partition(":")
    memory = policy["mem_limit"].removesuffix("g") + "Gi"
    container = {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": policy["command"],
        "ports": [{"containerPort": port}],
        "startupProbe": _until_ready(port, PORT_OPENS),
        "resources": {"requests": {"cpu": "250m", "memory": memory}, "limits": {"cpu": "1", "memory": memory}},
        "securityContext": CONFINED,
        "volumeMounts": [TMP_MOUNT],
    }
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"runAsUser": int(user), "runAsGroup": int(group), "runAsNonRoot": True},
        "affinity": {"nodeAffinity": _only("NotIn", not_on)},
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "volumes": [TMP],
    }
    labels = {"app": name}
    deployment = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": {**labels, **SERVICE}}, "spec": pod},
    }
    rules = {
        "podSelector": {"matchLabels": labels},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": SERVER}}}], "ports": [{"port": port}]}],
    }
    return [
        _object("apps/v1", "Deployment", name, deployment),
        _object("v1", "Service", name, {"selector": labels, "ports": [{"port": port}]}),
        _object("networking.k8s.io/v1", "NetworkPolicy", name, rules),
    ]


def load(
    image: str, scenario: str, plan: str, generators: int, *, not_on: Sequence[str], meters: Sequence[str] = ()
) -> list[Manifest]:
    """A load of the k6 operator: runners on nodes of their own, never on the server's. Events and report are lines of
    their logs. They compare their clocks with those at the addresses `meters`.
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
    """A probe of each second, for longer than the driver waits."""
    how: Manifest = {"tcpSocket": {"port": port}} if ready == PORT_OPENS else {"httpGet": {"path": ready, "port": port}}
    return {**how, "periodSeconds": 1, "timeoutSeconds": 1, "failureThreshold": 120}


def _only(operator: str, nodes: Sequence[str]) -> Manifest:
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": operator, "values": list(nodes)}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


def _spread(labels: Mapping[str, str]) -> Manifest:
    """Evenly over the nodes."""
    evenly = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule"}
    return {**evenly, "labelSelector": {"matchLabels": labels}}


def _meter(image: str) -> Manifest:
    """The container that accounts the server's processes. It neither knows nor reaches anything else."""
    return {
        "name": METER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/bin/meter", f"-listen=:{METER_PORT}", f"-port={PORT}"],
        "ports": [{"containerPort": METER_PORT}],
        "resources": {"requests": SMALL, "limits": SMALL},
        "securityContext": CONFINED,
    }


def _object(version: str, kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
