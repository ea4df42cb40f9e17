"""The resource use of one program: CPU, memory, threads and context switches of its whole process tree.

It reads only /proc, so it needs neither root nor its own cgroup. `results` computes rates and windows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypedDict, TypeVar

from pushbench.machine.procfs import Stat, keyed_numbers, open_files_ratio, open_sockets, read, stats

Number = TypeVar("Number", int, float)

Count = TypeVar("Count", int, float)

COMPILERS = ("C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT")
"""names of the threads with which HotSpot compiles code while it runs (compileBroker.cpp), cut to the 15 characters
that the kernel keeps"""
_NAMED_COMPILER = tuple(f"Name:\t{name}" for name in COMPILERS)
"""the first characters of the `status` of such a thread"""


class CountsByThread(TypedDict, total=False):
    """The values of each thread, by its number; see Usage."""

    context_switches: Mapping[int, int]
    waited_seconds: Mapping[int, float]
    compiler_seconds: Mapping[int, float]


@dataclass(frozen=True)
class Usage:
    """Counters and levels of a tree at one moment; the counters only make sense as differences."""

    at: float
    """time.monotonic() when it was read"""
    cpu_seconds: float
    user_seconds: float | None
    """None, like `system_seconds` and `threads`, if only the total is reported"""
    system_seconds: float | None
    memory_bytes: int
    """anonymous memory of all processes, and the files and shared memory of the process that maps most of them:
    workers share their program text, which a plain sum of RSS would count once for each"""
    threads: int | None
    processes: int
    context_switches: Mapping[int, int] = field(default_factory=dict)
    """by thread, as the kernel counts them; empty unless requested"""
    waited_seconds: Mapping[int, float] = field(default_factory=dict)
    """by thread: how long it was ready to run and had no CPU; empty unless requested and counted by the kernel"""
    compiler_seconds: Mapping[int, float] = field(default_factory=dict)
    """by thread: the CPU time of threads that compile code; empty unless requested, the kernel counts it, and there are
    any"""
    open_files_ratio: float | None = None
    """of the process that is nearest to its limit of open files: the share in use; None if unknown"""
    throttled_seconds: float | None = None
    """how long a CPU quota stopped it, summed over CPUs; None if unknown"""
    quota_cores: float | None = None
    """CPUs that its quota is worth; None without one"""


class Accounted(Protocol):
    """A program whose resource use can be read."""

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        """The program's processes among all of the machine."""
        ...

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        """The current use; None if the program has ended. With `everyone` it does not list all processes again, and
        `by_thread` reads the counts of each thread, too.
        """
        ...

    def open_sockets(self) -> int:
        """How many sockets of any kind its processes hold."""
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

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        return _total(self.members(list(stats()) if everyone is None else everyone), by_thread)

    def open_sockets(self) -> int:
        return open_sockets(self.members(list(stats())))


@dataclass(frozen=True)
class Parts:
    """A program of several parts, each with a name: the use of all is their sum."""

    parts: Mapping[str, Accounted]

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        return [stat for part in self.parts.values() for stat in part.members(everyone)]

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        """The current use of all; None if one of them has ended."""
        known = list(stats()) if everyone is None else everyone
        return together(self.usages(known, by_thread=by_thread).values())

    def open_sockets(self) -> int:
        return sum(part.open_sockets() for part in self.parts.values())

    def usages(self, everyone: Sequence[Stat], *, by_thread: bool = False) -> dict[str, Usage | None]:
        """The current use of each."""
        return {name: part.usage(everyone, by_thread=by_thread) for name, part in self.parts.items()}


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
        user_seconds=_sum_of_known([usage.user_seconds for usage in present]),
        system_seconds=_sum_of_known([usage.system_seconds for usage in present]),
        memory_bytes=sum(usage.memory_bytes for usage in present),
        threads=_sum_of_known([usage.threads for usage in present]),
        processes=sum(usage.processes for usage in present),
        context_switches=_by_thread(usage.context_switches for usage in present),
        waited_seconds=_by_thread(usage.waited_seconds for usage in present),
        compiler_seconds=_by_thread(usage.compiler_seconds for usage in present),
        open_files_ratio=most_of_known(usage.open_files_ratio for usage in present),
        throttled_seconds=_sum_of_known(throttled),
        quota_cores=_sum_of_known(quotas),
    )


def _by_thread(counts: Iterable[Mapping[int, Count]]) -> dict[int, Count]:
    """The counts of all; if two machines number their threads alike, the counts add up."""
    found: dict[int, Count] = {}
    for each in counts:
        for thread, count in each.items():
            found[thread] = found[thread] + count if thread in found else count
    return found


def _sum_of_known(values: Sequence[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def most_of_known(values: Iterable[Number | None]) -> Number | None:
    """The largest of the known values; None if there is none."""
    return max((value for value in values if value is not None), default=None)


def _total(members: Iterable[Stat], by_thread: bool) -> Usage | None:
    """Read the current use of processes; None if none is left."""
    anonymous = threads = shared = 0
    cpu = user = system = 0.0
    at = time.monotonic()
    present = []
    for stat in members:
        status = read(f"/proc/{stat.pid}/status")
        own = _cpu_clock(stat.pid)
        if status is None or own is None:
            continue
        kilobytes = keyed_numbers(status)
        if "VmSize" not in kilobytes:  # it has ended since its state was read, and its memory is gone
            continue
        present.append(stat)
        threads += stat.threads
        anonymous += kilobytes.get("RssAnon", 0)
        shared = max(shared, kilobytes.get("RssFile", 0) + kilobytes.get("RssShmem", 0))
        # Children that were waited for are in no clock any more, only in these ticks of their parent.
        cpu += own + stat.children_user_seconds + stat.children_system_seconds
        user += stat.user_seconds + stat.children_user_seconds
        system += stat.system_seconds + stat.children_system_seconds
    if not present:
        return None
    counted = counts_by_thread(present) if by_thread else {}
    return Usage(
        at=at,
        cpu_seconds=cpu,
        user_seconds=user,
        system_seconds=system,
        memory_bytes=(anonymous + shared) * 1024,
        threads=threads,
        processes=len(present),
        open_files_ratio=most_of_known(open_files_ratio(stat.pid) for stat in present),
        **counted,
    )


def between(begin: Mapping[int, Count], end: Mapping[int, Count]) -> float:
    """The increase of counts by thread, for the threads that exist at the end; that of ended threads is lost."""
    return sum(count - begin.get(thread, 0) for thread, count in end.items())


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


def counts_by_thread(members: Sequence[Stat]) -> CountsByThread:
    """The values of each thread in a usage, from its `status` and its `schedstat`.

    The latter begins with the nanoseconds on a CPU and those of waiting for one while it was ready to run
    (Documentation/scheduler/sched-stats.rst of the kernel). Both are missing if the kernel does not count them.
    """
    statuses = dict(_of_threads(members, "status"))
    times = {thread: text.split() for thread, text in _of_threads(members, "schedstat")}
    compilers = {thread for thread, status in statuses.items() if status.startswith(_NAMED_COMPILER)}
    return {
        "context_switches": {thread: _context_switches(status) for thread, status in statuses.items()},
        "waited_seconds": {thread: int(waited) / 1e9 for thread, (_, waited, *_) in times.items()},
        "compiler_seconds": {thread: int(ran) / 1e9 for thread, (ran, *_) in times.items() if thread in compilers},
    }


def _context_switches(status: str) -> int:
    # The two counters are the last lines; cutting them out costs a tenth of parsing the file.
    return sum(keyed_numbers(status[status.rfind("\nvoluntary_ctxt_switches") :]).values())


def _of_threads(members: Iterable[Stat], file: str) -> Iterator[tuple[int, str]]:
    """The content of a file of each thread, by the thread's number."""
    for stat in members:
        folder = f"/proc/{stat.pid}/task"
        try:
            threads = os.listdir(folder)  # noqa: PTH208 - as in procfs
        except OSError:
            continue
        for thread in threads:
            if content := read(f"{folder}/{thread}/{file}"):
                yield int(thread), content
