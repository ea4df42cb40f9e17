"""The driver kubernetes on a real cluster: a trial is complete, and nothing of it stays behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pushbench.metrics.validity import DISTURBANCES
from tests.cluster.at_hand import TOOL, Cluster, await_that

CHECKOUT = Path(__file__).parents[3]
RUN = ["--driver", "kubernetes", "--profile", "smoke", "--json"]
LOCK = str(Path(tempfile.gettempdir()) / "pushbench-cluster-tests.lock")
OURS = "app.kubernetes.io/managed-by=pushbench"

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


def pushbench(cluster: Cluster, *arguments: str, **more: str) -> subprocess.Popen[str]:
    """The command with `kubectl` of the cluster, and more variables of the environment. It waits for no run here."""
    path = f"{Path(cluster.kubectl).parent}:{os.environ['PATH']}"
    own = {
        "PATH": path,
        "PUSHBENCH_LOCK": LOCK,
        **({"KUBECONFIG": cluster.kubeconfig} if cluster.kubeconfig else {}),
        **more,
    }
    command = [str(CHECKOUT / "pushbench"), *arguments]
    return subprocess.Popen(
        command, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def start(
    cluster: Cluster, out: Path, prefix: str, server: str = "node-ws", generators: int = 2, more: Sequence[str] = ()
) -> subprocess.Popen[str]:
    options = ["--generators", str(generators), "--namespace-prefix", prefix, "--out", str(out)]
    return pushbench(cluster, "run", server, *RUN, *options, *more)


def namespaces(cluster: Cluster, prefix: str) -> list[str]:
    """Those of runs with the prefix."""
    return [name for name, _ in _namespaces(cluster, prefix)]


def running(cluster: Cluster, prefix: str) -> list[str]:
    """Those that nobody has removed."""
    return [name for name, phase in _namespaces(cluster, prefix) if phase == "Active"]


def _namespaces(cluster: Cluster, prefix: str) -> list[tuple[str, str]]:
    found = cluster.get("namespaces", "--selector", OURS)["items"]
    names = [(each["metadata"]["name"], each["status"]["phase"]) for each in found]
    return [each for each in names if each[0].startswith(prefix)]


def trials_in(out: Path) -> list[dict[str, Any]]:
    """The trials so far; none before there is a record."""
    return record_of(out)["trials"] if list((out / "records").glob("*.json")) else []


def record_of(out: Path) -> dict[str, Any]:
    [found] = [json.loads(each.read_text()) for each in (out / "records").glob("*.json")]
    return dict(found)


def harms_of(trial: dict[str, Any]) -> list[str]:
    """Why a trial is invalid, without what others did to this machine, which says nothing of the cluster."""
    return [each["message"] for each in trial["validity"]["reasons"] if each["code"] not in DISTURBANCES]


def warnings_of(trial: dict[str, Any]) -> dict[str, str]:
    return {each["code"]: each["message"] for each in trial["validity"]["warnings"]}


def test_a_trial_is_complete_and_its_namespace_goes(cluster: Cluster, tmp_path: Path) -> None:
    said, errors = start(cluster, tmp_path, "push-whole").communicate(timeout=200)
    record = record_of(tmp_path)
    [trial] = record["trials"]
    assert trial["failure"] is None, said + errors
    assert harms_of(trial) == []
    [stage] = trial["stages"]
    # Three seconds of 20 clients that send once a second to boards of ten, the sender included.
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == 20 * 3 * 10
    metrics, series = stage["metrics"], trial["resources"]
    assert metrics["clients"] == 20
    # A Node process that pushes 200 messages a second: neither nothing nor a core, and some tens of megabytes.
    assert 0.001 < metrics["cpu_cores"] < 1.0
    assert metrics["cpu_seconds_per_delivery"] * 200 == pytest.approx(metrics["cpu_cores"], rel=0.1)
    assert 2e7 < metrics["memory_bytes.peak"] < 5e8
    assert metrics["context_switches_per_second"] > 1
    assert 0.001 < metrics["generator_cpu_cores"] < 2.0
    assert metrics["services_cpu_cores"] is None, "it has none"
    assert len(series["seconds"]) >= 6
    assert None not in series["throttled_seconds"], "the meter sees the server's control group"
    # Each delivery has a board's message of some 100 bytes; the meter sees the pod's whole traffic.
    assert sum(series["pod_sent_bytes"]) > 600 * 100
    warnings = warnings_of(trial)
    assert {"start_skew", "border_uncertainty", "not_verified"} <= warnings.keys()
    assert "not known" not in warnings.get("open_network", ""), "a pod tried to reach the server"
    assert "not_accounted" not in warnings
    assert (record["environment"]["driver"], record["environment"]["generators"]) == ("kubernetes", 2)
    await_that("the namespace is gone", lambda: not namespaces(cluster, "push-whole"))


def test_replicas_share_clients_and_a_service(cluster: Cluster, tmp_path: Path) -> None:
    """Boards have members on both pods, so each message goes through Redis."""
    server = "node-cluster-redis/channel-per-board"
    said, errors = start(cluster, tmp_path, "push-two", server).communicate(timeout=200)
    [trial] = record_of(tmp_path)["trials"]
    assert trial["failure"] is None, said + errors
    assert harms_of(trial) == []
    [stage] = trial["stages"]
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == 20 * 3 * 10
    assert stage["metrics"]["cpu_cores"] > 0.001
    assert 0.0001 < stage["metrics"]["services_cpu_cores"] < 1.0, "Redis passes on 20 messages a second"
    spread = re.fullmatch(r"the Service gave the 2 pods (\d+) and (\d+) connections", warnings_of(trial)["spread"])
    assert spread
    assert int(spread[1]) + int(spread[2]) == 20, "all clients, each once"


def test_streams_of_another_suite_are_complete(cluster: Cluster, tmp_path: Path) -> None:
    said, errors = start(cluster, tmp_path, "push-sse", "spring-mvc-sse").communicate(timeout=200)
    [trial] = record_of(tmp_path)["trials"]
    assert trial["failure"] is None, said + errors
    stages = [(each["name"], each["metrics"]["clients"], each["receipts"]) for each in trial["stages"]]
    assert [(name, clients) for name, clients, _ in stages] == [("closed-5", 5), ("open-20", 40)]
    assert all(each["expected"] == each["received"] > 0 for _, _, each in stages)
    assert all(each["metrics"]["cpu_cores"] > 0.01 for each in trial["stages"])
