"""Control groups, version 1 and 2: their mount points, and the resource use of one. Reads only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pushbench.machine.procfs import (
    TICKS_PER_SECOND,
    Stat,
    keyed_numbers,
    open_files_ratio,
    open_sockets,
    read,
    stats,
)
from pushbench.machine.resources import Usage, counts_by_thread, mapped_file_bytes, most_of_known

UNIFIED = "cgroup2"


@cache
def mounts() -> Mapping[str, Path]:
    """The mount point of the version 2 hierarchy (under UNIFIED), and of each controller of version 1."""
    found = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, folder, kind, options, *_ = line.split()
            if kind == "cgroup2":
                found[UNIFIED] = Path(folder)
            elif kind == "cgroup":
                found |= {option: Path(folder) for option in options.split(",")}
    return found


@dataclass(frozen=True)
class Cgroup:
    """The control group of a container, by the container's id; groups below it are counted with it."""

    cpu: Path
    memory: Path
    unified: bool

    @classmethod
    def of_container(cls, container: str) -> Cgroup | None:
        """The control group of a container; None if it is not visible, as with an engine in a virtual machine."""
        cpu, memory = (_folder(mounts().get(controller), container) for controller in ("cpuacct", "memory"))
        if cpu and memory:
            return cls(cpu, memory, unified=False)
        folder = _folder(mounts().get(UNIFIED), container)
        return cls(folder, folder, unified=True) if folder else None

    def members(self, everyone: Sequence[Stat]) -> list[Stat]:
        pids: set[int] = set()
        for file in (self.cpu / "cgroup.procs", *self.cpu.glob("*/**/cgroup.procs")):
            pids |= {int(line) for line in (read(str(file)) or "").split()}
        return [stat for stat in everyone if stat.pid in pids and stat.state != "Z"]

    def usage(self, everyone: Sequence[Stat] | None = None, *, by_thread: bool = False) -> Usage | None:
        members = self.members(list(stats()) if everyone is None else everyone)
        at = time.monotonic()
        seconds = self._cpu_seconds()
        memory = keyed_numbers(read(str(self.memory / "memory.stat")) or "")
        if not members or seconds is None:
            return None
        total, user, system = seconds
        return Usage(
            at=at,
            cpu_seconds=total,
            user_seconds=user,
            system_seconds=system,
            # A group is charged for the pages of a file only if it was the first to read them, so those are counted as
            # the process driver counts them.
            memory_bytes=memory.get("anon" if self.unified else "total_rss", 0) + mapped_file_bytes(members),
            threads=sum(stat.threads for stat in members),
            processes=len(members),
            open_files_ratio=most_of_known(open_files_ratio(stat.pid) for stat in members),
            **(counts_by_thread(members) if by_thread else {}),
        )

    def open_sockets(self) -> int:
        return open_sockets(self.members(list(stats())))

    def _cpu_seconds(self) -> tuple[float, float, float] | None:
        """Total, user and system CPU seconds."""
        if self.unified:
            found = keyed_numbers(read(str(self.cpu / "cpu.stat")) or "")
            names = ("usage_usec", "user_usec", "system_usec")
            return None if "usage_usec" not in found else _three([found.get(name, 0) / 1e6 for name in names])
        total = read(str(self.cpu / "cpuacct.usage"))
        ticks = keyed_numbers(read(str(self.cpu / "cpuacct.stat")) or "")
        split = [ticks.get(name, 0) / TICKS_PER_SECOND for name in ("user", "system")]
        return _three([int(total) / 1e9, *split]) if total else None


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    total, user, system = values
    return total, user, system


def _folder(mount: Path | None, container: str) -> Path | None:
    """`docker/<id>` with the cgroupfs driver, `system.slice/docker-<id>.scope` with systemd's, perhaps further down."""
    if mount is None:
        return None
    for pattern in (f"docker/{container}", f"system.slice/docker-{container}.scope", f"**/*{container}*"):
        if found := next((path for path in mount.glob(pattern) if path.is_dir()), None):
            return found
    return None
