"""Drivers for servers that run at the same time on one machine."""

from __future__ import annotations

from dataclasses import replace

from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import Driver
from pushbench.drivers.kubernetes import KubernetesDriver
from pushbench.drivers.process import ProcessDriver
from pushbench.machine.environment import CpuSplit


def in_lane(driver: Driver, lane: int) -> Driver:
    """The driver for servers of one lane, counted from 0; these servers are not measured.

    Every second lane swaps the CPUs of server and generator, so that the first two servers do not share CPUs.
    """
    split = driver.split
    if lane % 2 and len(split.server) == len(split.generator):  # as many, so that servers have as many workers
        split = CpuSplit(split.generator, split.server)
    match driver:
        case ProcessDriver():
            return with_own_logs(replace(driver, split=split), lane)
        case DockerDriver():
            return replace(driver, split=split)
        case KubernetesDriver():
            return replace(driver, verifying=True)
    raise TypeError(f"{driver.name} is no driver that can be changed")


def with_own_logs(driver: Driver, lane: int) -> Driver:
    """The driver for servers that run beside the same servers of other lanes, on the same CPUs."""
    if lane and isinstance(driver, ProcessDriver):
        return replace(driver, arm=f"{driver.arm}lane-{lane}")
    return driver
