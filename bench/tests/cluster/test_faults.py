"""What happens to running trials on a real cluster is found and named, and the trials after it are measured."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.at_hand import TOOL, Cluster, await_that
from tests.cluster.test_driver import harms_of, namespaces, pushbench, running, start, trials_in

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]
API_AWAY_SECONDS = 10.0


def in_a_load(cluster: Cluster, prefix: str, seen: set[str]) -> str:
    """The namespace of the next trial, once its load has begun."""
    current = ""

    def begun() -> bool:
        nonlocal current
        fresh = sorted(set(namespaces(cluster, prefix)) - seen)
        if not fresh:
            return False
        current = fresh[0]
        with contextlib.suppress(AssertionError):  # no runner yet
            logs = cluster.run("--namespace", current, "logs", "--selector", "runner=true", "--tail=-1")
            return '"event":"start"' in logs
        return False

    await_that("a load begins", begun)
    seen.add(current)
    return current


def pod_of(cluster: Cluster, namespace: str, selector: str) -> str:
    found = cluster.get("pods", "--namespace", namespace, "--selector", selector)["items"]
    return str(found[0]["metadata"]["name"])


def kill(cluster: Cluster, namespace: str, pattern: str) -> None:
    """SIGKILL to what has the pattern in its command, from the meter, which sees all processes of the pod."""
    command = f'for p in /proc/[0-9]*; do grep -q "{pattern}" $p/cmdline && kill -9 ${{p#/proc/}}; done; true'
    pod = pod_of(cluster, namespace, "app=server")
    with contextlib.suppress(AssertionError):  # where it ends with its container
        cluster.run("--namespace", namespace, "exec", pod, "--container=meter", "--", "sh", "-c", command)


def remove_a_generator(cluster: Cluster, namespace: str) -> None:
    pod = pod_of(cluster, namespace, "runner=true")
    cluster.run("--namespace", namespace, "delete", "pod", pod, "--grace-period=0", "--force")


def kill_the_meter(cluster: Cluster, namespace: str) -> None:
    kill(cluster, namespace, "[b]in/meter")


def kill_the_server(cluster: Cluster, namespace: str) -> None:
    kill(cluster, namespace, "[s]erver.js")


def evict_the_server(cluster: Cluster, namespace: str) -> None:
    name = pod_of(cluster, namespace, "app=server")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    cluster.run("create", "--raw", path, "--filename", "-", given=eviction)


def here(program: str, option: str = "") -> list[int]:
    """The processes of a program on this machine, where a cluster has its own there, with an option."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            first, *options = command.read_text(errors="replace").split("\0")
            if Path(first).name == program and (not option or option in options):
                found.append(int(command.parent.name))
    return found


def stop_a_node(cluster: Cluster, namespace: str) -> None:
    """The kubelet of the generator's node, where it runs on this machine: the cluster hears no more of the node."""
    name = pod_of(cluster, namespace, "runner=true")
    node = cluster.get("pod", name, "--namespace", namespace)["spec"]["nodeName"]
    for process in here("kubelet", f"--hostname-override={node}"):
        STOPPED.append(process)
        os.kill(process, signal.SIGSTOP)


def stop_the_api_server(_: Cluster, __: str) -> None:
    """Where it runs on this machine."""
    found = here("kube-apiserver")
    for process in found:
        os.kill(process, signal.SIGSTOP)
    if found:
        time.sleep(API_AWAY_SECONDS)  # what is tested
    for process in found:
        os.kill(process, signal.SIGCONT)


HARMS: list[Callable[[Cluster, str], None]] = [
    remove_a_generator, kill_the_meter, evict_the_server, kill_the_server, stop_a_node, stop_the_api_server,
]  # fmt: skip
STOPPED: list[int] = []


def reasons(trial: dict[str, Any]) -> list[str]:
    return [f"{each['code']}: {each['message']}" for each in trial["validity"]["reasons"]]


def kill_the_command(run: subprocess.Popen[str], cluster: Cluster, out: Path, prefix: str) -> str:
    """SIGKILL to the command in its second trial. The namespace that it leaves."""
    await_that("the first trial is kept", lambda: bool(trials_in(out)))
    await_that("the second has a namespace", lambda: bool(running(cluster, prefix)))
    run.kill()
    run.communicate()
    [left] = running(cluster, prefix)
    return left


def test_each_harm_is_named_and_the_next_trial_runs(cluster: Cluster, tmp_path: Path) -> None:
    """The command is killed in between, and resumed: it removes what it left, and nothing else."""
    prefix, (first, *others) = "push-harm", HARMS
    run = start(cluster, tmp_path, prefix, generators=1, more=["--rounds", str(len(HARMS))])
    seen: set[str] = set()
    try:
        with cluster.namespace(f"{prefix}-of-somebody"):
            first(cluster, in_a_load(cluster, prefix, seen))
            left = kill_the_command(run, cluster, tmp_path, prefix)
            kept = trials_in(tmp_path)
            run = pushbench(cluster, "run", "--resume", "latest", "--out", str(tmp_path), "--json")
            seen.add(left)
            for harm in others:
                harm(cluster, in_a_load(cluster, prefix, seen))
            said, errors = run.communicate(timeout=200)
            assert f"removed namespace {left}" in errors
            assert cluster.get("namespace", f"{prefix}-of-somebody")["status"]["phase"] == "Active"
    finally:
        run.kill()
        for process in STOPPED:
            os.kill(process, signal.SIGCONT)
    trials = trials_in(tmp_path)
    assert trials[:1] == kept
    assert len(trials) == len(HARMS), said + errors
    generator, meter, evicted, killed, node, unharmed = trials
    [why] = reasons(generator)
    assert why.startswith("generator_failed: the pod of the generator load-")
    assert why.endswith("was removed")
    assert reasons(meter) == ["meter_lost: the meter ended with exit code 137 (Error)"]
    assert meter["stages"][0]["receipts"]["lost"] == 0, "what clients saw is kept"
    assert any("pod_lost: " in why and "the server" in why for why in reasons(evicted)), reasons(evicted)
    # That it ended by itself is the server's result.
    assert (killed["validity"]["valid"], killed["failure"]["step"]) == (True, "load"), killed["validity"]
    assert "exit code 137" in killed["failure"]["message"]
    if STOPPED:
        [why] = reasons(node)
        assert re.fullmatch(r"generator_failed: .*the node \S+ of the generator \S+ is not ready: .*", why)
    assert unharmed["failure"] is None, unharmed["failure"]
    assert harms_of(unharmed) == []
    assert json.dumps(unharmed["stages"][0]["metrics"]["cpu_cores"]) != "null"
    await_that("nothing is left", lambda: not namespaces(cluster, prefix))
