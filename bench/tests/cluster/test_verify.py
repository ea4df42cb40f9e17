"""Servers in a cluster keep their rules, which cover a pod's sockets and memory, and the end of a service."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pushbench.catalog.servers import read_catalog, select
from pushbench.drivers.choice import DriverChoice, choose_driver
from pushbench.drivers.kubernetes import ClusterChoice
from pushbench.drivers.lanes import in_lane
from pushbench.foundation.project import Project
from tests.cluster.at_hand import TOOL, Cluster, await_that
from tests.cluster.runs import pushbench

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]
VERIFY = ["--driver", "kubernetes", "--namespace-prefix", "push-rules", "--json"]


def verified(cluster: Cluster, *arguments: str) -> dict[str, str]:
    """The outcome of each rule."""
    said, errors = pushbench(cluster, "verify", *arguments, *VERIFY).communicate(timeout=200)
    if "the rules need a direct network path" in errors:
        pytest.skip("this machine does not reach the pods")
    [found] = json.loads(said)
    assert [each for each in found["rules"] if each["outcome"] == "failed"] == [], errors
    return {each["name"]: each["outcome"] for each in found["rules"]}


def test_a_server_of_two_pods_keeps_every_rule_and_survives_the_end_of_its_service(stocked: Cluster) -> None:
    outcomes = verified(stocked, "node-cluster-redis/channel-per-board")
    assert len(outcomes) > 30
    assert set(outcomes.values()) == {"passed"}
    assert "outage-of-a-service-is-survived" in outcomes


def test_the_sockets_and_the_memory_of_a_pod_are_those_of_the_server(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(cluster.kubectl).parent}:{os.environ['PATH']}")
    if cluster.kubeconfig:
        monkeypatch.setenv("KUBECONFIG", cluster.kubeconfig)
    project = Project.current()
    [server] = select(read_catalog(project.servers), ["node-ws"])
    choice = DriverChoice("kubernetes", cluster=ClusterChoice(prefix="push-sockets"))
    driver: Any = in_lane(choose_driver(project, [server], choice, print), 0)
    with driver.running(server, driver.build(server, print)) as instance, contextlib.ExitStack() as connections:
        address = urlsplit(instance.url)
        before = instance.tree.open_sockets()
        assert before > 0, "it listens"
        for _ in range(7):
            connections.enter_context(socket.create_connection((address.hostname, address.port)))
        await_that("seven more", lambda: instance.tree.open_sockets() == before + 7, seconds=10)
        connections.close()
        await_that("none of them is left", lambda: instance.tree.open_sockets() == before, seconds=10)
        used = instance.tree.usage()
        assert 2e7 < used.memory_bytes < 5e8
        assert used.cpu_seconds > 0.01
