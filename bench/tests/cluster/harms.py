"""Harms that can happen to a running trial in a cluster, inflicted on one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.at_hand import Cluster, await_that
from tests.cluster.runs import namespaces

API_AWAY_SECONDS = 10.0
APART_SECONDS = 1.2
"""minimum between the starts of two generators: more than is allowed, and less than a window"""
THROTTLED = {"cpu": "10m"}
"""the lowest quota of a kubelet: 1 ms of each 100; Node.js needs about twice that for 200 deliveries a second"""
RESUMED = json.dumps({"data": {"attributes": {"paused": False}, "id": "default", "type": "status"}})
RESUME = (
    "PATCH /v1/status HTTP/1.1\\r\\nHost: k6\\r\\nContent-Type: application/json\\r\\nConnection: close\\r\\n"
    f"Content-Length: {len(RESUMED)}\\r\\n\\r\\n{RESUMED}"
)
"""the starter's request to k6, as a printf format"""


@dataclass(frozen=True)
class Pod:
    name: str
    uid: str
    node: str


class Seen:
    """The namespaces of a run, one after the other."""

    def __init__(self, cluster: Cluster, prefix: str) -> None:
        self._cluster, self._prefix = cluster, prefix
        self.seen: set[str] = set()

    def next(self) -> str:
        """The namespace of the next trial."""
        fresh: list[str] = []

        def made() -> bool:
            fresh[:] = sorted(set(namespaces(self._cluster, self._prefix)) - self.seen)
            return bool(fresh)

        await_that("the next trial has a namespace", made)
        self.seen.add(fresh[0])
        return fresh[0]

    def next_in_load(self) -> str:
        """The namespace of the next trial, once its load has begun."""
        namespace = self.next()
        await_load(self._cluster, namespace, "runner=true")
        return namespace


def await_load(cluster: Cluster, namespace: str, *which: str) -> None:
    """Wait until a generator logs that it has begun. `which` is the name of its pod, or a selector."""
    chosen = [f"--selector={each}" if "=" in each else each for each in which]

    def begun() -> bool:
        with contextlib.suppress(AssertionError):  # no runner yet
            return '"event":"start"' in cluster.run("--namespace", namespace, "logs", *chosen, "--tail=-1")
        return False

    await_that("a load begins", begun)


def pods_of(cluster: Cluster, namespace: str, selector: str) -> list[Pod]:
    """The running pods that match the selector, sorted by name."""
    found = cluster.get("pods", "--namespace", namespace, "--selector", selector)["items"]
    running = [each for each in found if each["status"]["phase"] == "Running"]
    pods = [Pod(each["metadata"]["name"], each["metadata"]["uid"], each["spec"]["nodeName"]) for each in running]
    return sorted(pods, key=lambda pod: pod.name)


def pod_of(cluster: Cluster, namespace: str, selector: str) -> Pod:
    return pods_of(cluster, namespace, selector)[0]


def here(program: str, *, option: str = "", cgroup: str = "") -> list[int]:
    """The processes of a program on this machine, where a cluster may run. `option` selects those with this option,
    `cgroup` those in a control group whose name contains this uid of a pod.
    """
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            first, *options = (process / "cmdline").read_text(errors="replace").split("\0")
            if Path(first).name != program or (option and option not in options):
                continue
            if cgroup in (process / "cgroup").read_text().replace("_", "-"):
                found.append(int(process.name))
    return found


@contextmanager
def stopped(processes: list[int]) -> Iterator[None]:
    """Stop the processes within the block, so that they get no CPU."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def kill(cluster: Cluster, namespace: str, pattern: str) -> None:
    """Send SIGKILL to processes with the pattern in their command, from the meter, which sees the whole pod."""
    command = f'for p in /proc/[0-9]*; do grep -q "{pattern}" $p/cmdline && kill -9 ${{p#/proc/}}; done; true'
    pod = pod_of(cluster, namespace, "app=server").name
    with contextlib.suppress(AssertionError):  # if the exec ends with its container
        cluster.run("--namespace", namespace, "exec", pod, "--container=meter", "--", "sh", "-c", command)


def remove_a_generator(cluster: Cluster, namespace: str) -> None:
    pod = pod_of(cluster, namespace, "runner=true").name
    cluster.run("--namespace", namespace, "delete", "pod", pod, "--grace-period=0", "--force")


def kill_the_meter(cluster: Cluster, namespace: str) -> None:
    kill(cluster, namespace, "[b]in/meter")


def kill_the_server(cluster: Cluster, namespace: str) -> None:
    kill(cluster, namespace, "[/]scripted")


def move_the_server(cluster: Cluster, namespace: str) -> None:
    """Evict the server's pod, as when a node is drained, and let its Deployment require a node without a generator."""
    server, generator = (pod_of(cluster, namespace, selector) for selector in ("app=server", "runner=true"))
    nodes = {each["metadata"]["name"] for each in cluster.get("nodes")["items"]}
    [free] = sorted(nodes - {server.node, generator.node})[:1]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": server.name, "namespace": namespace},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{server.name}/eviction"
    cluster.run("create", "--raw", path, "--filename", "-", given=eviction)
    chosen = "nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values"
    change = [{"op": "replace", "path": f"/spec/template/spec/affinity/{chosen}", "value": [free]}]
    patch = ["patch", "deployment", "server", "--type=json", f"--patch={json.dumps(change)}"]
    cluster.run("--namespace", namespace, *patch)


def throttle_the_server(cluster: Cluster, namespace: str) -> None:
    """Lower the CPU quota of the server's running container, and wait until it is in force."""
    pod = pod_of(cluster, namespace, "app=server").name
    lowered = {"name": "server", "resources": {"requests": THROTTLED, "limits": THROTTLED}}
    patch = json.dumps({"spec": {"containers": [lowered]}})
    within = ("--namespace", namespace)
    cluster.run(*within, "patch", "pod", pod, "--subresource=resize", f"--patch={patch}")

    def in_force() -> bool:
        state = cluster.get("pod", pod, *within)["status"]["containerStatuses"]
        return any(each.get("resources", {}).get("limits", {}).get("cpu") == THROTTLED["cpu"] for each in state)

    await_that("the lower quota is in force", in_force)


def begin_apart(cluster: Cluster, namespace: str) -> bool:
    """Stop one of two generators just before the operator's starter calls it, if it runs on this machine; the other
    begins meanwhile. Return False if it runs elsewhere.
    """
    within = ("--namespace", namespace)
    cluster.run(*within, "wait", "job/load-starter", "--for=create", "--timeout=100s")  # all generators wait for it
    first, second = pods_of(cluster, namespace, "runner=true")
    if not (held := here("k6", cgroup=second.uid)):
        return False
    with stopped(held):
        # The starter calls one generator after the other, in any order, and waits for each answer. So it may reach the
        # first only after the second has resumed. The first gets the same request from this test.
        await_that("the starter runs", lambda: bool(pods_of(cluster, namespace, "job-name=load-starter")))
        cluster.run(*within, "exec", first.name, "--", "sh", "-c", f"printf '{RESUME}' | busybox nc 127.0.0.1 6565")
        await_load(cluster, namespace, first.name)
        time.sleep(APART_SECONDS)  # the gap under test
    return True


@contextmanager
def a_node_lost(cluster: Cluster, namespace: str) -> Iterator[bool]:
    """Lose the generator's node within the block, if it runs on this machine: stop its kubelet and delete the node, as
    a cloud does when a machine is gone. Yield False if it runs elsewhere.
    """
    name = pod_of(cluster, namespace, "runner=true").node
    kubelet = here("kubelet", option=f"--hostname-override={name}")
    if not kubelet:
        yield False
        return
    node = cluster.get("node", name)
    for key in ("uid", "resourceVersion", "creationTimestamp"):
        del node["metadata"][key]
    with stopped(kubelet):
        cluster.run("delete", "node", name)
        try:
            yield True
        finally:
            cluster.run("create", "--filename", "-", given=node)


def stop_the_api_server() -> None:
    """Stop it for API_AWAY_SECONDS, if it runs on this machine."""
    if found := here("kube-apiserver"):
        with stopped(found):
            time.sleep(API_AWAY_SECONDS)  # the outage under test
