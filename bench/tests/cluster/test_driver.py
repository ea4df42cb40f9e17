"""The driver kubernetes on a real cluster: a trial is complete and leaves nothing behind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import harms
from tests.cluster.at_hand import TOOL, Cluster, await_that
from tests.cluster.runs import DELIVERIES, harms_of, namespaces, record_of, start, warnings_of

PREFIX = "push-whole"

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


@dataclass(frozen=True)
class Pair:
    """Two trials of node-ws with two generators: one undisturbed, and one harmed."""

    whole: dict[str, Any]
    harmed: dict[str, Any]
    environment: dict[str, Any]
    began_apart: bool
    """False if no generator could be held back, so both began normally"""


@pytest.fixture(scope="module")
def pair(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    out = tmp_path_factory.mktemp("pair")
    run = start(cluster, out, PREFIX, rounds=2)
    try:
        trials = harms.Seen(cluster, PREFIX)
        trials.next()
        namespace = trials.next()
        began_apart = harms.begin_apart(cluster, namespace)
        harms.await_load(cluster, namespace, "runner=true")
        harms.throttle_the_server(cluster, namespace)
        said, errors = run.communicate(timeout=200)
    finally:
        run.kill()
    record = record_of(out)
    assert len(record["trials"]) == 2, said + errors
    whole, harmed = record["trials"]
    return Pair(whole, harmed, record["environment"], began_apart)


def test_generators_that_begin_apart_are_named(pair: Pair) -> None:
    if not pair.began_apart:
        pytest.skip("the generators of this cluster are elsewhere")
    [why] = [why for why in harms_of(pair.harmed) if why.startswith("start_skew")]
    named = re.fullmatch(r"start_skew: the generators began (\S+) s apart, more than 1 s", why)
    assert named
    assert float(named[1]) > harms.APART_SECONDS


def test_a_quota_that_is_lowered_is_named(pair: Pair) -> None:
    [why] = [why for why in harms_of(pair.harmed) if why.startswith("throttled")]
    named = re.fullmatch(r"throttled: its CPU quota stopped the server for (\S+) % of the time, above 1 %, .*", why)
    assert named, why
    assert sum(filter(None, pair.harmed["resources"]["throttled_seconds"])) > 0.03


def test_a_trial_is_complete(pair: Pair) -> None:
    trial = pair.whole
    assert trial["failure"] is None, trial["failure"]
    assert harms_of(trial) == []
    [stage] = trial["stages"]
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == DELIVERIES
    metrics, series = stage["metrics"], trial["resources"]
    assert metrics["clients"] == 20
    # A Node process that pushes 200 messages a second uses part of a core and some tens of megabytes.
    assert 0.001 < metrics["cpu_cores"] < 1.0
    assert metrics["cpu_seconds_per_delivery"] * 200 == pytest.approx(metrics["cpu_cores"], rel=0.1)
    assert 2e7 < metrics["memory_bytes.peak"] < 5e8
    assert metrics["context_switches_per_second"] > 1
    assert 0.001 < metrics["generator_cpu_cores"] < 2.0
    assert metrics["services_cpu_cores"] is None, "it has none"
    assert len(series["seconds"]) >= 6
    assert None not in series["throttled_seconds"], "the meter sees the server's control group"
    # Each delivery carries a board's message of about 100 bytes; the meter counts the pod's whole traffic.
    assert sum(series["pod_sent_bytes"]) > 600 * 100
    warnings = warnings_of(trial)
    assert {"start_skew", "border_uncertainty", "not_verified"} <= warnings.keys()
    assert "not known" not in warnings.get("open_network", ""), "a pod tried to reach the server"
    assert "not_accounted" not in warnings
    assert (pair.environment["driver"], pair.environment["generators"]) == ("kubernetes", 2)


def test_replicas_share_clients_and_a_service(stocked: Cluster, tmp_path: Path) -> None:
    """Boards have members on both pods, so each message goes through Redis."""
    server = "node-cluster-redis/channel-per-board"
    said, errors = start(stocked, tmp_path, "push-two", server).communicate(timeout=200)
    [trial] = record_of(tmp_path)["trials"]
    assert trial["failure"] is None, said + errors
    assert harms_of(trial) == []
    [stage] = trial["stages"]
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == DELIVERIES
    assert stage["metrics"]["cpu_cores"] > 0.001
    assert 0.0001 < stage["metrics"]["services_cpu_cores"] < 1.0, "Redis passes on 20 messages a second"
    spread = re.fullmatch(r"the Service gave the 2 pods (\d+) and (\d+) connections", warnings_of(trial)["spread"])
    assert spread
    assert int(spread[1]) + int(spread[2]) == 20, "all clients, each once"


def test_streams_of_another_suite_are_complete(stocked: Cluster, tmp_path: Path) -> None:
    said, errors = start(stocked, tmp_path, "push-sse", "spring-mvc-sse").communicate(timeout=200)
    [trial] = record_of(tmp_path)["trials"]
    assert trial["failure"] is None, said + errors
    stages = [(each["name"], each["metrics"]["clients"], each["receipts"]) for each in trial["stages"]]
    assert [(name, clients) for name, clients, _ in stages] == [("closed-5", 5), ("open-20", 40)]
    assert all(each["expected"] == each["received"] > 0 for _, _, each in stages)
    assert all(each["metrics"]["cpu_cores"] > 0.01 for each in trial["stages"])


def test_the_namespaces_of_trials_go(cluster: Cluster, pair: Pair) -> None:
    await_that("none is left", lambda: not namespaces(cluster, PREFIX))
