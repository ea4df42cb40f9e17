"""What the machine did to a measurement: counters whose change inside a window casts doubt on it. Reads only.

What counts as too much is for `validity`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pushbench.cgroups import UNIFIED, mounts
from pushbench.procfs import TICKS_PER_SECOND, Stat, keyed_numbers, read

PAGE_BYTES = 4096
KERNEL_THREADS = 2  # the pid of kthreadd, the parent of them all


@dataclass(frozen=True)
class Machine:
    """Counters of the machine at one moment."""

    at: float
    steal_seconds: float
    """CPU time that the hypervisor gave to others, on the CPUs of the run"""
    swapped_bytes: int
    throttled: int
    """periods in which our cgroup, or one above it, was stopped for using up its CPU quota"""
    clock_offset_seconds: float
    """CLOCK_REALTIME minus CLOCK_MONOTONIC: changes only when somebody sets the clock"""
    frequency_hz: float | None
    """mean over the server's CPUs; None where the machine does not say"""
    others: Mapping[tuple[int, str], float]
    """CPU seconds of every process that is no part of the run, by (pid, command); without the kernel's threads, which
    work on behalf of whoever sends and receives"""


def read_machine(
    everyone: Sequence[Stat], own: Collection[int], cpus: Collection[int], server_cpus: Collection[int]
) -> Machine:
    """`everyone` is all processes, `own` the pids that belong to the run."""
    cpu_lines = (line.split() for line in (read("/proc/stat") or "").splitlines() if line.startswith("cpu"))
    used = {f"cpu{cpu}" for cpu in cpus}
    steal = sum(int(fields[8]) for fields in cpu_lines if fields[0] in used)
    pages = keyed_numbers(read("/proc/vmstat") or "")
    return Machine(
        at=time.monotonic(),
        steal_seconds=steal / TICKS_PER_SECOND,
        swapped_bytes=(pages.get("pswpin", 0) + pages.get("pswpout", 0)) * PAGE_BYTES,
        throttled=max((_throttled(path) for path in _cpu_stat_files()), default=0),
        clock_offset_seconds=_clock_offset(),
        frequency_hz=_frequency(server_cpus),
        others={
            (stat.pid, stat.command): stat.user_seconds + stat.system_seconds
            for stat in everyone
            if stat.pid not in own and KERNEL_THREADS not in (stat.pid, stat.parent)
        },
    )


def _clock_offset() -> float:
    """The offset from the closest of some pairs of readings: between two readings the process may have waited."""
    pairs = []
    for _ in range(5):
        before, real, after = time.monotonic(), time.time(), time.monotonic()
        pairs.append((after - before, real - (before + after) / 2))
    return min(pairs)[1]


def _frequency(cpus: Collection[int]) -> float | None:
    kilohertz = [read(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq") for cpu in cpus]
    known = [float(text) * 1000 for text in kilohertz if text]
    return sum(known) / len(known) if known else None


def _throttled(cpu_stat: Path) -> int:
    return keyed_numbers(read(str(cpu_stat)) or "").get("nr_throttled", 0)


@cache
def _cpu_stat_files() -> list[Path]:
    """cpu.stat of our cgroup and of every one above it, in version 1 and 2: a quota may be set on any of them.

    In a container without a cgroup namespace the path is the host's and is not there; then the mount point is ours.
    """
    found = []
    for line in (read("/proc/self/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" or "cpu" in controllers.split(","):
            mount = mounts().get(UNIFIED if number == "0" else "cpu")
            if mount:
                inside = mount / path.lstrip("/")
                levels = [inside, *inside.parents]
                found += [level / "cpu.stat" for level in levels if level.is_relative_to(mount)]
    return [path for path in found if path.exists()]
