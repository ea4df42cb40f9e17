"""The driver kubernetes on a real cluster: a trial is complete, and nothing of it stays behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.at_hand import TOOL, Cluster, await_that

CHECKOUT = Path(__file__).parents[3]
RUN = ["--driver", "kubernetes", "--profile", "smoke", "--json"]
OURS = "app.kubernetes.io/managed-by=pushbench"

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


def start(
    cluster: Cluster, out: Path, prefix: str, server: str = "node-ws", generators: int = 2, more: Sequence[str] = ()
) -> subprocess.Popen[str]:
    path = f"{Path(cluster.kubectl).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **({"KUBECONFIG": cluster.kubeconfig} if cluster.kubeconfig else {})}
    command = [str(CHECKOUT / "pushbench"), "run", server, *RUN, "--generators", str(generators)]
    command += ["--namespace-prefix", prefix, "--out", str(out), *more]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def namespaces(cluster: Cluster, prefix: str) -> list[str]:
    names = [each["metadata"]["name"] for each in cluster.get("namespaces", "--selector", OURS)["items"]]
    return [name for name in names if name.startswith(prefix)]


def record_of(out: Path) -> dict[str, Any]:
    [found] = [json.loads(each.read_text()) for each in (out / "records").glob("*.json")]
    return dict(found)


def warnings_of(trial: dict[str, Any]) -> dict[str, str]:
    return {each["code"]: each["message"] for each in trial["validity"]["warnings"]}


def test_a_trial_is_complete_and_its_namespace_goes(cluster: Cluster, tmp_path: Path) -> None:
    said, errors = start(cluster, tmp_path, "push-whole").communicate(timeout=200)
    record = record_of(tmp_path)
    [trial] = record["trials"]
    assert trial["failure"] is None, said + errors
    assert trial["validity"]["valid"], trial["validity"]
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
    assert len(series["seconds"]) >= 6
    assert None not in series["throttled_seconds"], "the meter sees the server's control group"
    # Each delivery has a board's message of some 100 bytes; the meter sees the pod's whole traffic.
    assert sum(series["pod_sent_bytes"]) > 600 * 100
    warnings = warnings_of(trial)
    assert {"start_skew", "border_uncertainty", "not_verified"} <= warnings.keys()
    assert "not_accounted" not in warnings
    assert (record["environment"]["driver"], record["environment"]["generators"]) == ("kubernetes", 2)
    await_that("the namespace is gone", lambda: not namespaces(cluster, "push-whole"))


def test_replicas_share_clients_and_a_service(cluster: Cluster, tmp_path: Path) -> None:
    """Boards have members on both pods, so each message goes through Redis."""
    server = "node-cluster-redis/channel-per-board"
    said, errors = start(cluster, tmp_path, "push-two", server).communicate(timeout=200)
    [trial] = record_of(tmp_path)["trials"]
    assert trial["failure"] is None, said + errors
    assert trial["validity"]["valid"], trial["validity"]
    [stage] = trial["stages"]
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == 20 * 3 * 10
    assert stage["metrics"]["cpu_cores"] > 0.001
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


def test_the_next_run_removes_what_a_killed_one_left_and_nothing_else(cluster: Cluster, tmp_path: Path) -> None:
    with cluster.namespace("push-left-by-somebody"):
        killed = start(cluster, tmp_path, "push-left")
        await_that("a namespace of the run", lambda: bool(namespaces(cluster, "push-left")))
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        [left] = namespaces(cluster, "push-left")
        following = start(cluster, tmp_path, "push-next")
        try:
            await_that("what was left is gone", lambda: left not in namespaces(cluster, "push-left"))
        finally:
            following.send_signal(signal.SIGINT)
            _, errors = following.communicate(timeout=120)
        assert f"removed namespace {left}" in errors
        assert cluster.get("namespace", "push-left-by-somebody")["status"]["phase"] == "Active"
    await_that("the interrupted run's namespace is gone", lambda: not namespaces(cluster, "push-next"))
