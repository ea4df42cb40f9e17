"""The effects of a cluster on a trial, from documents in the form that API servers return."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from pushbench.drivers.cluster_faults import faults, is_over

Object = dict[str, Any]
OOM = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}


def container(name: str, **changed: Any) -> Object:
    return {"name": name, "restartCount": 0, "started": True, "state": {"running": {}}, "lastState": {}, **changed}


def pod(name: str, node: str, labels: Object, *names: str) -> Object:
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": {"nodeName": node},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [container(each) for each in names],
        },
    }


def node(name: str) -> Object:
    return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}


SERVER = pod("server-1", "one", {"app": "server"}, "meter", "server")
RUNNER = pod("load-1-x", "two", {"app": "k6", "runner": "true"}, "k6")
REDIS = pod("redis-1", "two", {"app": "redis", "pushbench.service": "true"}, "redis")
BEFORE = [SERVER, RUNNER, REDIS]
NODES = [node("one"), node("two")]


def found(change: Callable[[list[Object], list[Object]], Any] = lambda _pods, _nodes: None) -> list[tuple[str, str]]:
    pods, nodes = copy.deepcopy(BEFORE), copy.deepcopy(NODES)
    change(pods, nodes)
    return [(each.code, each.message) for each in faults(BEFORE, pods, nodes)]


def status_of(pods: list[Object], place: int, number: int) -> Object:
    one: Object = pods[place]["status"]["containerStatuses"][number]
    return one


def test_a_trial_that_went_well_has_no_fault() -> None:
    def over(pods: list[Object], _: list[Object]) -> None:
        pods[1]["status"]["phase"] = "Succeeded"
        status_of(pods, 1, 0)["state"] = {"terminated": {"exitCode": 0, "reason": "Completed"}}
        pods.append(pod("load-starter", "two", {"app": "k6"}, "k6"))

    assert found() == found(over) == []
    assert not is_over(RUNNER)


def test_a_server_that_ends_by_itself_is_its_own_result() -> None:
    def killed(pods: list[Object], _: list[Object]) -> None:
        status_of(pods, 0, 1).update(restartCount=1, lastState=OOM)

    assert found(killed) == []


def removed(pods: list[Object], _: list[Object]) -> None:
    del pods[0]


def replaced(pods: list[Object], _: list[Object]) -> None:
    """Replace the pod with one of the same name, as a StatefulSet does."""
    pods[0]["metadata"]["uid"] = "another"


def moved(pods: list[Object], _: list[Object]) -> None:
    """Move the pod to a node without a generator, while another pod of the Deployment waits."""
    pods[0] = pod("server-3", "three", {"app": "server"}, "meter", "server")
    waiting = pod("server-2", "", {"app": "server"})
    del waiting["spec"]["nodeName"]
    pods.append(waiting)


def generator_replaced(pods: list[Object], _: list[Object]) -> None:
    """Replace the generator with a pod that generates no part of the load."""
    pods[1] = pod("load-1-y", "two", {"app": "k6", "runner": "true"}, "k6")


def ending(pods: list[Object], _: list[Object]) -> None:
    pods[0]["metadata"]["deletionTimestamp"] = "2026-11-24T03:10:00Z"


def evicted(pods: list[Object], _: list[Object]) -> None:
    pods[0]["status"] = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}


def preempted(pods: list[Object], _: list[Object]) -> None:
    message = "preempting to accommodate a higher priority pod"
    why = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": message}
    pods[2]["status"]["conditions"].append(why)


def generator_killed(pods: list[Object], _: list[Object]) -> None:
    pods[1]["status"]["phase"] = "Failed"
    status_of(pods, 1, 0)["state"] = OOM


def meter_killed(pods: list[Object], _: list[Object]) -> None:
    status_of(pods, 0, 0).update(restartCount=1, lastState={"terminated": {"exitCode": 137, "reason": "Error"}})


def meter_between_two_starts(pods: list[Object], _: list[Object]) -> None:
    status_of(pods, 0, 0)["state"] = {"terminated": {"exitCode": 137, "reason": "Error"}}


def redis_ended(pods: list[Object], _: list[Object]) -> None:
    ended = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    status_of(pods, 2, 0).update(restartCount=1, lastState=ended)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (removed, "pod_lost", "the pod of the server was removed"),
        (replaced, "pod_lost", "the pod of the server was removed; a replacement is on its node"),
        (moved, "pod_lost", "the pod of the server was removed; it was moved from the node one to three"),
        (generator_replaced, "pod_lost", "the pod of the generator load-1-x was removed"),
        (ending, "pod_lost", "the pod of the server was removed"),
        (
            evicted,
            "pod_lost",
            "the cluster ended the pod of the server: Evicted: The node was low on resource: memory.",
        ),
        (
            preempted,
            "pod_lost",
            "the cluster ended the pod of the service redis: PreemptionByScheduler: "
            "preempting to accommodate a higher priority pod",
        ),
        (generator_killed, "generator_lost", "the generator load-1-x ended with exit code 137 (OOMKilled)"),
        (meter_killed, "meter_lost", "the meter ended with exit code 137 (Error)"),
        (meter_between_two_starts, "meter_lost", "the meter ended with exit code 137 (Error)"),
        (redis_ended, "service_lost", "the service redis ended with exit code 0 (Completed)"),
    ],
)
def test_what_the_cluster_did_is_named(
    change: Callable[[list[Object], list[Object]], Any], code: str, message: str
) -> None:
    assert found(change) == [(code, message)]


def test_a_node_that_is_gone_is_named_for_each_pod_that_it_had() -> None:
    def silent(_: list[Object], nodes: list[Object]) -> None:
        unknown = {"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."}
        nodes[1]["status"]["conditions"] = [{"type": "MemoryPressure", "status": "Unknown"}, unknown]

    def gone(pods: list[Object], nodes: list[Object]) -> None:
        del nodes[0], pods[0]

    assert found(silent) == [
        ("node_gone", "the node two of the generator load-1-x is not ready: Kubelet stopped posting node status."),
        ("node_gone", "the node two of the service redis is not ready: Kubelet stopped posting node status."),
    ]
    assert found(gone) == [("node_gone", "the node one of the server was removed")]
