"""What the status of a pod means for a trial. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pushbench.foundation.text import one_line

Status = Mapping[str, Any]


def containers(pod: Status, name: str) -> Iterator[Status]:
    """The statuses of a container: one, or none before its creation."""
    return (each for each in pod["status"].get("containerStatuses", []) if each["name"] == name)


def ended(pods: Sequence[Status], name: str, container: str) -> str | None:
    """How a container or its whole pod ended, in words; None while its first start runs."""
    pod = next((each for each in pods if each["metadata"]["name"] == name), None)
    if pod is None:
        return "the removal of its pod"
    if pod["status"].get("reason"):  # Evicted, NodeLost
        return one_line(f"{pod['status']['reason']}: {pod['status'].get('message', '')}", 300)
    for status in containers(pod, container):
        for state in (status.get("state", {}), status.get("lastState", {})):
            if stopped := state.get("terminated"):
                return f"exit code {stopped['exitCode']} ({stopped.get('reason', 'no reason given')})"
    return None


def runs(pod: Status, container: str) -> bool:
    """Whether the container runs and has passed its startup probe."""
    return any("running" in status.get("state", {}) and status.get("started") for status in containers(pod, container))


def waiting(pod: Status) -> str:
    """Why a pod does not run yet."""
    states = [each.get("state", {}).get("waiting", {}) for each in pod["status"].get("containerStatuses", [])]
    said = [*states, *pod["status"].get("conditions", [])]
    told = [each for each in said if each.get("message")] or [each for each in states if each]
    return one_line(f"{told[0].get('reason', '')}: {told[0].get('message', '')}", 300) if told else "it is pending"


def refusal(deployment: Status) -> str | None:
    """Why the cluster creates no pod for a Deployment; None if it does."""
    for condition in deployment["status"].get("conditions", []):
        if condition["type"] == "ReplicaFailure" and condition["status"] == "True":
            return one_line(condition.get("message", "no reason given"), 300)
    return None
