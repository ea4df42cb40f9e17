"""The resource use of one program: CPU, memory, threads and context switches of its whole process tree.

It reads only /proc, so it needs neither root nor its own cgroup. `results` computes rates and windows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pushbench.machine.procfs import Stat, keyed_numbers, read, stats


@dataclass(frozen=True)
class Usage:
    """Counters and levels of a tree at one moment; the counters only make sense as differences."""

    at: float
    """time.monotonic() when it was read"""
    cpu_seconds: float
    user_seconds: float
    system_seconds: float
    memory_bytes: int
    """anonymous memory of all processes, and the files and shared memory of the process that maps most of them:
    workers share their program text, which a plain sum of RSS would count once for each"""
    threads: int
    processes: int
    context_switches: Mapping[int, int] = field(default_factory=dict)
    """by thread, as the kernel counts them; empty unless they were asked for"""
    throttled_seconds: float | None = None
    """how long a CPU quota stopped it, summed over CPUs; None where nothing says it"""
    quota_cores: float | None = None
    """CPUs that its quota is worth; None without one"""


class Accounted(Protocol):
    """A program whose resource use can be read."""

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        """The program's processes among all of the machine."""
        ...

    def usage(self, everyone: Sequence[Stat] | None = None, *, with_switches: bool = False) -> Usage | None:
        """The current use; None if the program has ended. With `everyone` it does not list all processes again."""
        ...


@dataclass(frozen=True)
class Tree:
    """The processes of a program, found by its first one: the session that it leads and all descendants. This includes
    processes that left the session or lost their parent.
    """

    root: int

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        inside = {stat.pid for stat in everyone if self.root in (stat.pid, stat.session)}
        grown = True
        while grown:
            more = {stat.pid for stat in everyone if stat.parent in inside} - inside
            inside |= more
            grown = bool(more)
        return [stat for stat in everyone if stat.pid in inside and stat.state != "Z"]

    def usage(self, everyone: Sequence[Stat] | None = None, *, with_switches: bool = False) -> Usage | None:
        return _total(self.members(list(stats()) if everyone is None else everyone), with_switches)


@dataclass(frozen=True)
class Parts:
    """A program of several, each with a name: the use of all is their sum."""

    parts: Mapping[str, Accounted]

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return [stat for part in self.parts.values() for stat in part.members(everyone)]

    def usage(self, everyone: Sequence[Stat] | None = None, *, with_switches: bool = False) -> Usage | None:
        """The current use of all; None if one of them has ended."""
        known = list(stats()) if everyone is None else everyone
        return together(self.usages(known, with_switches=with_switches).values())

    def usages(self, everyone: Sequence[Stat], *, with_switches: bool = False) -> dict[str, Usage | None]:
        """The current use of each."""
        return {name: part.usage(everyone, with_switches=with_switches) for name, part in self.parts.items()}


def together(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum over programs; None if one of them has ended, or if there are none."""
    found = list(usages)
    present = [usage for usage in found if usage]
    if not present or len(present) < len(found):
        return None
    throttled, quotas = [each.throttled_seconds for each in present], [each.quota_cores for each in present]
    return Usage(
        at=present[0].at,
        cpu_seconds=sum(usage.cpu_seconds for usage in present),
        user_seconds=sum(usage.user_seconds for usage in present),
        system_seconds=sum(usage.system_seconds for usage in present),
        memory_bytes=sum(usage.memory_bytes for usage in present),
        threads=sum(usage.threads for usage in present),
        processes=sum(usage.processes for usage in present),
        context_switches=_all_switches(present),
        throttled_seconds=_sum_of_known(throttled),
        quota_cores=_sum_of_known(quotas),
    )


def _all_switches(usages: Sequence[Usage]) -> dict[int, int]:
    """By thread; where two machines number theirs alike, the counts add up."""
    found: dict[int, int] = {}
    for usage in usages:
        for thread, count in usage.context_switches.items():
            found[thread] = found.get(thread, 0) + count
    return found


def _sum_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _total(members: Iterable[Stat], with_switches: bool) -> Usage | None:
    """Read the current use of processes; None if none is left."""
    processes = anonymous = threads = shared = 0
    cpu = user = system = 0.0
    switches: dict[int, int] = {}
    at = time.monotonic()
    for stat in members:
        status = read(f"/proc/{stat.pid}/status")
        own = _cpu_clock(stat.pid)
        if status is None or own is None:
            continue
        kilobytes = keyed_numbers(status)
        processes += 1
        threads += stat.threads
        anonymous += kilobytes.get("RssAnon", 0)
        shared = max(shared, kilobytes.get("RssFile", 0) + kilobytes.get("RssShmem", 0))
        # Children that were waited for are in no clock any more, only in these ticks of their parent.
        cpu += own + stat.children_user_seconds + stat.children_system_seconds
        user += stat.user_seconds + stat.children_user_seconds
        system += stat.system_seconds + stat.children_system_seconds
        if with_switches:
            switches |= context_switches([stat])
    if not processes:
        return None
    return Usage(at, cpu, user, system, (anonymous + shared) * 1024, threads, processes, switches)


def switches_between(begin: Usage, end: Usage) -> int:
    """Context switches of the threads that exist at the end; those of threads that ended before are lost."""
    return sum(count - begin.context_switches.get(thread, 0) for thread, count in end.context_switches.items())


def _cpu_clock(pid: int) -> float | None:
    """CPU seconds of all threads of a process, ended ones included, with nanosecond precision.

    The number of a process's CPU clock is `(~pid << 3) | 2` (MAKE_PROCESS_CPUCLOCK with CPUCLOCK_SCHED, in
    include/linux/posix-timers.h), which is what clock_getcpuclockid(3) returns.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return None


def mapped_file_bytes(members: Iterable[Stat]) -> int:
    """Files and shared memory of the process that maps most of them."""
    statuses = (keyed_numbers(read(f"/proc/{stat.pid}/status") or "") for stat in members)
    return max((status.get("RssFile", 0) + status.get("RssShmem", 0) for status in statuses), default=0) * 1024


def context_switches(members: Iterable[Stat]) -> dict[int, int]:
    """The context switches by thread, as the kernel counts them."""
    found = {}
    for stat in members:
        folder = f"/proc/{stat.pid}/task"
        try:
            threads = os.listdir(folder)  # noqa: PTH208 - as in procfs
        except OSError:
            continue
        for thread in threads:
            status = read(f"{folder}/{thread}/status")
            if status is not None:
                # The two counters are the last lines; cutting them out costs a tenth of parsing the file.
                counters = keyed_numbers(status[status.rfind("\nvoluntary_ctxt_switches") :])
                found[int(thread)] = sum(counters.values())
    return found
