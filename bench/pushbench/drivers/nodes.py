"""The nodes of a Kubernetes cluster, and which of them run the servers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

ROLE = "pushbench.role"
"""a label of nodes; nodes with the value `server` run the servers"""
TYPE = "node.kubernetes.io/instance-type"
PLUGINS = {
    "cilium": "Cilium", "anetd": "Cilium", "calico": "Calico", "canal": "Canal", "flannel": "Flannel",
    "antrea": "Antrea", "weave": "Weave", "kindnet": "kindnet", "aws-node": "AWS VPC", "azure-cns": "Azure CNI",
    "ovnkube": "OVN", "kube-router": "kube-router",
}  # fmt: skip
"""by a substring of the name of the daemon set that each project and provider installs"""
KEPT = ("NoSchedule", "NoExecute")
KI = 1024


@dataclass(frozen=True)
class Node:
    """A node that accepts pods."""

    name: str
    model: str
    """the machine type if the cluster reports it, otherwise the architecture"""
    cpus: int
    memory_bytes: int
    kernel: str
    runtime: str
    role: str
    boot: str = ""
    """the boot id of the kernel"""

    def is_like(self, other: Node) -> bool:
        """Whether results do not depend on which of the two nodes runs the server."""
        return replace(self, name=other.name, role=other.role, boot=other.boot) == other

    @property
    def server_cpus(self) -> int:
        """All CPUs except one, which the kubelet and other pods of the node need."""
        return max(1, self.cpus - 1)


def network_plugin(daemons: Sequence[str]) -> str | None:
    """The network plugin of a cluster, identified by the names of its daemon sets; None if it is unknown."""
    return next((plugin for name in daemons for mark, plugin in PLUGINS.items() if mark in name), None)


def usable(items: Sequence[Mapping[str, Any]]) -> list[Node]:
    """The nodes that are ready and accept pods without tolerations, sorted by name."""
    found = []
    for item in items:
        spec, status = item.get("spec", {}), item["status"]
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status["conditions"])
        tainted = any(taint["effect"] in KEPT for taint in spec.get("taints", []))
        if ready and not tainted and not spec.get("unschedulable"):
            found.append(_node(item))
    return sorted(found, key=lambda node: node.name)


def for_servers(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with the role, or else the first of all."""
    return [node for node in nodes if node.role == "server"] or [nodes[0]]


def _node(item: Mapping[str, Any]) -> Node:
    labels, info = item["metadata"].get("labels", {}), item["status"]["nodeInfo"]
    capacity = item["status"]["capacity"]
    return Node(
        name=item["metadata"]["name"],
        model=labels.get(TYPE, info["architecture"]),
        cpus=int(capacity["cpu"]),
        memory_bytes=int(capacity["memory"].removesuffix("Ki")) * KI,
        kernel=info["kernelVersion"],
        runtime=info["containerRuntimeVersion"].replace("://", " "),
        role=labels.get(ROLE, ""),
        boot=info.get("bootID", ""),
    )
