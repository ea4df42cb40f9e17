"""The driver kubernetes on a real cluster: a trial is complete, and nothing of it stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cluster.at_hand import TOOL, Cluster, await_that

CHECKOUT = Path(__file__).parents[3]
RUN = ["run", "node-ws", "--driver", "kubernetes", "--profile", "smoke", "--generators", "2", "--json"]
OURS = "app.kubernetes.io/managed-by=pushbench"

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


def start(cluster: Cluster, out: Path, prefix: str) -> subprocess.Popen[str]:
    path = f"{Path(cluster.kubectl).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **({"KUBECONFIG": cluster.kubeconfig} if cluster.kubeconfig else {})}
    command = [str(CHECKOUT / "pushbench"), *RUN, "--namespace-prefix", prefix, "--out", str(out)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def namespaces(cluster: Cluster, prefix: str) -> list[str]:
    names = [each["metadata"]["name"] for each in cluster.get("namespaces", "--selector", OURS)["items"]]
    return [name for name in names if name.startswith(prefix)]


def test_a_trial_is_complete_and_its_namespace_goes(cluster: Cluster, tmp_path: Path) -> None:
    said, errors = start(cluster, tmp_path, "push-whole").communicate(timeout=200)
    [record] = [json.loads(each.read_text()) for each in (tmp_path / "records").glob("*.json")]
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
    warnings = {each["code"]: each["message"] for each in trial["validity"]["warnings"]}
    assert {"start_skew", "border_uncertainty", "not_verified"} <= warnings.keys()
    assert "not_accounted" not in warnings
    assert (record["environment"]["driver"], record["environment"]["generators"]) == ("kubernetes", 2)
    await_that("the namespace is gone", lambda: not namespaces(cluster, "push-whole"))


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
