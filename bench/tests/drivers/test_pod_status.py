"""Reading a pod's status, from documents in the form that API servers return."""

from __future__ import annotations

from typing import Any

from pushbench.drivers.pod_status import ended, refusal, runs, waiting

RUNNING: dict[str, Any] = {
    "name": "server",
    "started": True,
    "state": {"running": {"startedAt": "2026-11-24T02:41:31Z"}},
}
OOM = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-24T02:41:39Z"}}
METER_GONE = {"name": "meter", "state": {"running": {}}, "lastState": {"terminated": {"exitCode": 2}}}


def pod(*containers: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "server-1"}, "status": {"containerStatuses": list(containers), **status}}


def test_the_end_of_a_server_is_told_in_words() -> None:
    assert ended([pod(RUNNING, phase="Running")], "server-1", "server") is None
    restarted = pod({**RUNNING, "lastState": OOM}, phase="Running")
    assert ended([restarted], "server-1", "server") == "exit code 137 (OOMKilled)"
    evicted = pod(phase="Failed", reason="Evicted", message="The node was low on resource: memory.")
    assert ended([evicted], "server-1", "server") == "Evicted: The node was low on resource: memory."
    assert ended([], "server-1", "server") == "the removal of its pod"
    another = {"metadata": {"name": "server-2"}, "status": {"containerStatuses": [RUNNING]}}
    assert ended([another], "server-1", "server") == "the removal of its pod"


def test_the_end_of_a_meter_is_not_the_servers() -> None:
    assert ended([pod(METER_GONE, RUNNING)], "server-1", "server") is None
    assert ended([pod(METER_GONE, RUNNING)], "server-1", "meter") == "exit code 2 (no reason given)"


def test_a_pod_whose_meter_runs_alone_is_still_waiting() -> None:
    pulling = {"name": "server", "state": {"waiting": {"reason": "ErrImageNeverPull", "message": "not present"}}}
    starting = pod({"name": "meter", "started": True, "state": {"running": {}}}, pulling, phase="Running")
    assert not runs(starting, "server")
    assert runs(starting, "meter")
    assert waiting(starting) == "ErrImageNeverPull: not present"
    assert not runs(pod({**RUNNING, "started": False}), "server"), "its startup probe has not passed"
    assert waiting({"status": {"phase": "Pending"}}) == "it is pending"


def test_a_refused_pod_has_the_reason_of_the_cluster() -> None:
    message = 'pods "server-6d" is forbidden: violates PodSecurity "restricted:latest": shareProcessNamespace'
    failed = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    assert refusal({"status": {"conditions": [failed]}}) == message
    assert refusal({"status": {"conditions": [{**failed, "status": "False"}]}}) is None
    assert refusal({"status": {}}) is None
