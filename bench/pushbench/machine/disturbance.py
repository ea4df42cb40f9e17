"""Disturbances of a measurement: counters whose change inside a window casts doubt on it. Reads only.

`validity` decides how much is too much.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pushbench.machine.cgroups import UNIFIED, mounts
from pushbench.machine.environment import CpuSplit
from pushbench.machine.procfs import TICKS_PER_SECOND, Stat, keyed_numbers, read

PAGE_BYTES = 4096
KERNEL_THREADS = 2  # the pid of kthreadd, the parent of them all
MEMORY_THREADS = ("kcompactd", "kdamond", "khugepaged", "ksmd", "kswapd")
"""how the commands of the kernel's threads begin that manage memory (Documentation/admin-guide/mm of the kernel)"""


@dataclass(frozen=True)
class Machine:
    """Counters of the machine at one moment."""

    at: float
    steal_seconds: float
    """CPU time that the hypervisor gave to others, on the CPUs of the run"""
    idle_seconds: float
    """of the server's CPUs; when idle, they would have run any ready thread"""
    taken_seconds: float
    """user time on the server's CPUs, less that of the run's processes: only its change has a meaning. It is a lower
    bound: a process of the run may have been on another CPU"""
    own_seconds: float
    """user and system time of the run's processes that use the server's CPUs"""
    swapped_bytes: int
    throttled: int
    """periods in which our cgroup, or one above it, was stopped for using up its CPU quota"""
    clock_offset_seconds: float
    """CLOCK_REALTIME minus CLOCK_MONOTONIC: it changes only when the clock is set"""
    frequency_hz: float | None
    """mean over the server's CPUs; None if the machine does not report it"""
    others: Mapping[tuple[int, str], float]
    """CPU seconds of every process outside the run, by (pid, command); without the kernel's threads, most of which work
    on behalf of the processes that send and receive"""
    memory_threads: Mapping[tuple[int, str], float]
    """CPU seconds of the kernel's threads that manage memory, by (pid, command)"""


def read_machine(everyone: Sequence[Stat], own: Collection[int], elsewhere: Collection[int], cpus: CpuSplit) -> Machine:
    """Read the counters. `everyone` is all processes, `own` the pids that belong to the run, and `elsewhere` those of
    them that never use the server's CPUs.
    """
    times = _times_of_cpus()
    used = [times[cpu] for cpu in {*cpus.server, *cpus.generator} if cpu in times]
    servers = [times[cpu] for cpu in cpus.server if cpu in times]
    ours = [stat for stat in everyone if stat.pid in own and stat.pid not in elsewhere]
    own_user = sum(stat.user_seconds + stat.children_user_seconds for stat in ours)
    own_system = sum(stat.system_seconds + stat.children_system_seconds for stat in ours)
    pages = keyed_numbers(read("/proc/vmstat") or "")
    return Machine(
        at=time.monotonic(),
        steal_seconds=sum(cpu.steal for cpu in used),
        idle_seconds=sum(cpu.idle for cpu in servers),
        taken_seconds=sum(cpu.user for cpu in servers) - own_user,
        own_seconds=own_user + own_system,
        swapped_bytes=(pages.get("pswpin", 0) + pages.get("pswpout", 0)) * PAGE_BYTES,
        throttled=max((_throttled(path) for path in _cpu_stat_files()), default=0),
        clock_offset_seconds=_clock_offset(),
        frequency_hz=_frequency(cpus.server),
        others=_cpu_seconds(
            stat for stat in everyone if stat.pid not in own and KERNEL_THREADS not in (stat.pid, stat.parent)
        ),
        memory_threads=_cpu_seconds(
            stat for stat in everyone if stat.parent == KERNEL_THREADS and stat.command.startswith(MEMORY_THREADS)
        ),
    )


def _cpu_seconds(processes: Iterable[Stat]) -> dict[tuple[int, str], float]:
    return {(stat.pid, stat.command): stat.user_seconds + stat.system_seconds for stat in processes}


def stolen_seconds() -> float:
    """The CPU seconds that the hypervisor has taken from this process's CPUs since the start of the machine."""
    times = _times_of_cpus()
    return sum(times[cpu].steal for cpu in os.sched_getaffinity(0) if cpu in times)


@dataclass(frozen=True)
class Since:
    """A moment, and the CPU time that the hypervisor had taken by then."""

    at: float
    stolen: float

    @classmethod
    def now(cls) -> Since:
        return cls(time.monotonic(), stolen_seconds())

    def stolen_share(self) -> float:
        """The share of the CPU time that the hypervisor has taken since then."""
        now = Since.now()
        return (now.stolen - self.stolen) / max((now.at - self.at) * len(os.sched_getaffinity(0)), 1e-9)


@dataclass(frozen=True)
class _Times:
    """The times of a CPU by kind, in seconds since the start of the machine."""

    user: float
    """of processes of any nice value"""
    idle: float
    """includes waiting for a disk"""
    steal: float


def _times_of_cpus() -> dict[int, _Times]:
    """The lines of /proc/stat by the number of the CPU (proc_stat(5))."""
    times = {}
    for line in (read("/proc/stat") or "").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, _, idle, waiting, _, _, steal = (int(ticks) / TICKS_PER_SECOND for ticks in fields[:8])
            times[int(name.removeprefix("cpu"))] = _Times(user + nice, idle + waiting, steal)
    return times


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
