"""What a cluster did to a trial, from its pods when the load began and its pods and nodes now. Pure.

A server that exits, or is killed for its own memory use, is not a fault of the cluster: that is its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pushbench.drivers.manifests import METER, SERVER
from pushbench.drivers.pod_status import containers
from pushbench.foundation.text import one_line
from pushbench.records.record import Finding

Object = Mapping[str, Any]
POD_LOST = "pod_lost"
DISRUPTED = "DisruptionTarget"
"""the condition of a pod that is evicted, preempted or deleted with its node"""


def faults(before: Sequence[Object], now: Sequence[Object], nodes: Sequence[Object]) -> list[Finding]:
    """The findings that invalidate the trial; each pod is named once."""
    latest = {pod["metadata"]["uid"]: pod for pod in now}
    by_name = {node["metadata"]["name"]: node for node in nodes}
    known = {pod["metadata"]["uid"] for pod in before}
    fresh = [pod for pod in now if pod["metadata"]["uid"] not in known and "deletionTimestamp" not in pod["metadata"]]
    found = []
    for pod in before:
        what = next(_faults_of(pod, latest.get(pod["metadata"]["uid"]), by_name), None)
        if what and what.code == POD_LOST and (where := _where_to(pod, fresh)):
            what = what.model_copy(update={"message": f"{what.message}; {where}"})
        if what:
            found.append(what)
    return found


def is_over(pod: Object) -> bool:
    """Whether all containers of a pod have ended successfully."""
    return bool(pod["status"].get("phase") == "Succeeded")


def _faults_of(pod: Object, now: Object | None, nodes: Mapping[str, Object]) -> Iterator[Finding]:
    whose, node = _whose(pod), pod["spec"].get("nodeName", "")
    if away := _away(nodes.get(node)):
        yield Finding(code="node_gone", message=f"the node {node} of {whose} {away}")
    if now is None:
        yield Finding(code=POD_LOST, message=f"the pod of {whose} was removed")
        return
    status = now["status"]
    for condition in status.get("conditions", []):
        if condition["type"] == DISRUPTED and condition["status"] == "True":
            why = f"{condition.get('reason', DISRUPTED)}: {condition.get('message', '')}"
            yield Finding(code=POD_LOST, message=one_line(f"the cluster ended the pod of {whose}: {why}", 300))
    if status.get("reason"):  # Evicted, NodeLost
        why = f"{status['reason']}: {status.get('message', '')}"
        yield Finding(code=POD_LOST, message=one_line(f"the cluster ended the pod of {whose}: {why}", 300))
    if "deletionTimestamp" in now["metadata"]:
        yield Finding(code=POD_LOST, message=f"the pod of {whose} was removed")
    for container in status.get("containerStatuses", []):
        name = container["name"]
        if name != SERVER and (how := _how(container, _restarts(pod, name))):
            code = "meter_lost" if name == METER else "generator_lost" if _is_runner(pod) else "service_lost"
            what = "the meter" if name == METER else whose
            yield Finding(code=code, message=f"{what} ended with {how}")


def _where_to(pod: Object, fresh: Sequence[Object]) -> str | None:
    """Where the cluster has started a replacement of this pod; None if no replacement has a node."""
    app, here = _app(pod), pod["spec"].get("nodeName")
    others = [each["spec"].get("nodeName") for each in fresh if _app(each) == app and not _is_runner(pod)]
    if there := next(filter(None, others), None):
        return "a replacement is on its node" if there == here else f"it was moved from the node {here} to {there}"
    return None


def _whose(pod: Object) -> str:
    name = pod["metadata"]["name"]
    if _is_runner(pod):
        return f"the generator {name}"
    app = _app(pod)
    return "the server" if app == SERVER else f"the service {app}"


def _app(pod: Object) -> str:
    return str(pod["metadata"].get("labels", {}).get("app", ""))


def _is_runner(pod: Object) -> bool:
    return bool(pod["metadata"].get("labels", {}).get("runner") == "true")


def _away(node: Object | None) -> str | None:
    if node is None:
        return "was removed"
    for condition in node["status"].get("conditions", []):
        if condition["type"] == "Ready" and condition["status"] != "True":
            return one_line(f"is not ready: {condition.get('message', condition['status'])}", 300)
    return None


def _restarts(pod: Object, name: str) -> int:
    return next((int(each.get("restartCount", 0)) for each in containers(pod, name)), 0)


def _how(container: Object, restarts: int) -> str | None:
    """How a container ended since the load began; None while it runs, or if it ended successfully."""
    state = container.get("state", {})
    if container.get("restartCount", 0) > restarts:
        state = container.get("lastState", {})
    ended = state.get("terminated")
    if not ended or (ended["exitCode"] == 0 and container.get("restartCount", 0) == restarts):
        return None
    return f"exit code {ended['exitCode']} ({ended.get('reason', 'no reason given')})"
