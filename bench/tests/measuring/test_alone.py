"""Two measurements never share a machine or a cluster, and one in a cluster leaves this machine free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.drivers.driver import Driver
from pushbench.drivers.kubectl import Kubectl
from pushbench.drivers.kubernetes import KubernetesDriver
from pushbench.drivers.nodes import Node
from pushbench.drivers.process import ProcessDriver
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.ownership import boot_id
from pushbench.measuring.alone import alone, is_kept_awake

SPLIT = CpuSplit([0], [1])
NODE = Node("one", "m7.large", 4, 1 << 33, "6.18", "containerd 2.1", "", "another kernel")


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))


def process() -> Driver:
    return ProcessDriver(Project.current(), SPLIT, None, None)


def in_cluster(name: str, *, node: Node = NODE) -> Driver:
    return KubernetesDriver(Project.current(), SPLIT, [node], 1, "1.34", None, name, Kubectl("kubectl"), "pushbench")


@contextmanager
def held(*drivers: Driver, clients_here: bool = False) -> Iterator[None]:
    with alone(drivers, lambda _: None, clients_here=clients_here):
        yield


def refused(driver: Driver, *, clients_here: bool = False) -> str:
    """Why the driver may not measure now; empty if it may."""
    try:
        with held(driver, clients_here=clients_here):
            return ""
    except UserError as error:
        return error.what


def test_a_run_in_a_cluster_leaves_the_machine_and_other_clusters_free() -> None:
    with held(in_cluster("a")):
        assert not refused(process())
        assert not refused(in_cluster("b"))
        assert "measuring in this cluster (pid " in refused(in_cluster("a"))
    assert not refused(in_cluster("a"))
    with held(process()):
        assert not refused(in_cluster("a"))
        assert "measuring on this machine (pid " in refused(process())


def test_a_cluster_whose_node_is_this_machine_holds_both() -> None:
    here = in_cluster("a", node=replace(NODE, boot=boot_id()))
    assert boot_id(), "else no kernel is another"
    with held(here):
        assert "on this machine" in refused(process())
    with held(process()):
        assert "on this machine" in refused(here)
    with held(in_cluster("a")):
        assert "in this cluster" in refused(here)


def test_rules_whose_clients_are_here_hold_the_machine_too() -> None:
    with held(in_cluster("a"), clients_here=True):
        assert "on this machine" in refused(process())
        assert "in this cluster" in refused(in_cluster("a"))
    with held(in_cluster("a")):
        assert "in this cluster" in refused(in_cluster("a"), clients_here=True)


def test_several_drivers_of_one_place_do_not_wait_for_each_other() -> None:
    with held(process(), process(), in_cluster("a"), in_cluster("a")):
        assert refused(process())


@pytest.mark.parametrize("may", [False, True])
def test_cpus_are_kept_awake_where_the_machine_is_held(monkeypatch: pytest.MonkeyPatch, may: bool) -> None:
    kept = 0

    @contextmanager
    def awake() -> Iterator[None]:
        nonlocal kept
        kept += 1
        yield

    monkeypatch.setattr("pushbench.measuring.alone.awake", awake)
    monkeypatch.setattr("pushbench.measuring.alone.may_stay_awake", lambda: may)
    here = in_cluster("a", node=replace(NODE, boot=boot_id()))
    for driver, asked in ((process(), True), (here, True), (in_cluster("a"), False)):
        kept = 0
        with held(driver):
            assert kept == asked
        assert is_kept_awake(driver) == (asked and may)
