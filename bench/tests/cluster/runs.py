"""Runs of the command against a cluster, their records and their namespaces."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushbench.metrics.validity import DISTURBANCES
from tests.cluster.at_hand import Cluster

CHECKOUT = Path(__file__).parents[3]
RUN = ["--driver", "kubernetes", "--profile", "smoke", "--json"]
LOCK = str(Path(tempfile.gettempdir()) / "pushbench-cluster-tests.lock")
OURS = "app.kubernetes.io/managed-by=pushbench"
DELIVERIES = 20 * 3 * 10
"""in three seconds, from 20 clients that send once a second to boards of ten, the sender included"""


def pushbench(cluster: Cluster, *arguments: str, **more: str) -> subprocess.Popen[str]:
    """Start the command with the cluster's `kubectl` and `more` environment variables. It waits for no run here."""
    own = {"PATH": f"{Path(cluster.kubectl).parent}:{os.environ['PATH']}", "PUSHBENCH_LOCK": LOCK}
    if cluster.kubeconfig:
        own["KUBECONFIG"] = cluster.kubeconfig
    return subprocess.Popen(
        [str(CHECKOUT / "pushbench"), *arguments],
        env={**os.environ, **more, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start(
    cluster: Cluster,
    out: Path,
    prefix: str,
    server: str = "node-ws",
    generators: int = 2,
    rounds: int = 1,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    options = ["--generators", str(generators), "--rounds", str(rounds), "--namespace-prefix", prefix]
    return pushbench(cluster, "run", server, *RUN, *options, "--out", str(out), **(environment or {}))


def namespaces(cluster: Cluster, prefix: str) -> list[str]:
    """The namespaces of runs with the prefix."""
    return [name for name, _ in _namespaces(cluster, prefix)]


def running(cluster: Cluster, prefix: str) -> list[str]:
    """The namespaces with the prefix that have not been removed."""
    return [name for name, phase in _namespaces(cluster, prefix) if phase == "Active"]


def _namespaces(cluster: Cluster, prefix: str) -> list[tuple[str, str]]:
    found = cluster.get("namespaces", "--selector", OURS)["items"]
    names = [(each["metadata"]["name"], each["status"]["phase"]) for each in found]
    return [each for each in names if each[0].startswith(prefix)]


def trials_in(out: Path) -> list[dict[str, Any]]:
    """The trials so far; empty before there is a record."""
    return record_of(out)["trials"] if list((out / "records").glob("*.json")) else []


def record_of(out: Path) -> dict[str, Any]:
    [found] = [json.loads(each.read_text()) for each in (out / "records").glob("*.json")]
    return dict(found)


def harms_of(trial: dict[str, Any]) -> list[str]:
    """Why a trial is invalid, as `code: message`, without disturbances by other load on this machine. Those show
    nothing about the cluster, unless it throttled the server.
    """
    found = trial["validity"]["reasons"]
    kept = [each for each in found if each["code"] not in DISTURBANCES or each["code"] == "throttled"]
    return [f"{each['code']}: {each['message']}" for each in kept]


def warnings_of(trial: dict[str, Any]) -> dict[str, str]:
    return {each["code"]: each["message"] for each in trial["validity"]["warnings"]}
