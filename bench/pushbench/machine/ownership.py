"""The owner of a program, whether it still runs, and the locks for measuring on this machine and in a cluster.

Every program that Pushbench starts carries PUSHBENCH_OWNER in its environment. If its owner was killed, the next
command finds the program by that marker and ends it, and nothing else.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.foundation.errors import UserError
from pushbench.machine.procfs import read, read_stat, stats

OWNER = "PUSHBENCH_OWNER"
PATIENCE_SECONDS = 5.0
"""for killed processes to end"""


def owner_marker(pid: int | None = None) -> str:
    """`pid:start time`, which identifies a process even after its pid was reused."""
    pid = pid or os.getpid()
    stat = read_stat(pid)
    return f"{pid}:{stat.start_ticks if stat else 0}"


def machine_marker() -> str:
    """A short digest that tells this machine, or container, from others."""
    names = (read("/etc/machine-id") or "", socket.gethostname())
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:12]


def boot_id() -> str:
    """The identity of the running kernel, which all of its containers share."""
    return (read("/proc/sys/kernel/random/boot_id") or "").strip()


@dataclass(frozen=True)
class Orphan:
    pid: int
    command: str


def end_orphans() -> list[Orphan]:
    """Kill the programs whose owner is gone, in this user's processes and this pid namespace only; returns them."""
    ended = []
    for stat in stats():
        marker = _owner_of(stat.pid)
        if marker and not owner_lives(marker):
            ended.append(Orphan(stat.pid, stat.command))
    kill_all([orphan.pid for orphan in ended])
    return ended


@contextlib.contextmanager
def only_run_on_machine(note: Callable[[str], None], *, wait: bool = False) -> Iterator[None]:
    """Lock the machine, and end programs that a killed run left: two measurements at once would disturb each other.

    Raises UserError with the holder's name, unless `wait` is set. All users share one lock file; PUSHBENCH_LOCK names
    another, for tests that measure nothing.
    """
    with _only_run(_lock_file(), "on this machine", note, wait=wait):
        yield


@contextlib.contextmanager
def only_run_in_cluster(cluster: str, note: Callable[[str], None], *, wait: bool = False) -> Iterator[None]:
    """Like `only_run_on_machine`, for the runs that this machine starts in one cluster; `cluster` identifies it. The
    machine stays free, and runs that other machines start in the cluster do not see the lock.
    """
    file, digest = _lock_file(), hashlib.sha256(cluster.encode()).hexdigest()[:12]
    with _only_run(file.with_name(f"{file.stem}-{digest}{file.suffix}"), "in this cluster", note, wait=wait):
        yield


def _lock_file() -> Path:
    return Path(os.environ.get("PUSHBENCH_LOCK", "/tmp/pushbench.lock"))  # noqa: S108 - as every user can write there


@contextlib.contextmanager
def _only_run(path: Path, where: str, note: Callable[[str], None], *, wait: bool) -> Iterator[None]:
    if sys.platform != "linux":
        raise UserError("measurements need Linux, which pins and accounts the processes")
    with contextlib.suppress(FileExistsError, PermissionError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        path.chmod(0o666)
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = f"another pushbench run is measuring {where} (pid {file.read().strip() or 'unknown'})"
            if not wait:
                hint = "end it, or wait for it with --wait"
                raise UserError(holder, where=str(path), hint=hint) from None
            note(f"waiting: {holder}")
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        for orphan in end_orphans():
            note(f"ended {orphan.command} (pid {orphan.pid}), left by a pushbench that was killed")
        try:
            yield
        finally:
            # A signal may arrive between the start of a program and the block that would have ended it.
            own = owner_marker()
            kill_all([stat.pid for stat in stats() if _owner_of(stat.pid) == own])


def kill_all(pids: Sequence[int]) -> None:
    """SIGKILL each process and wait until none runs any more: a zombie holds no port and no memory."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any((stat := read_stat(pid)) and stat.state != "Z" for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)


def _owner_of(pid: int) -> str | None:
    """The marker of a process; None if it has none or is out of reach (another user's or container's)."""
    folder = Path("/proc") / str(pid)
    try:
        if folder.stat().st_uid != os.geteuid() or _pid_namespace(pid) != _pid_namespace(os.getpid()):
            return None
        variables = (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    prefix = f"{OWNER}=".encode()
    return next((each.removeprefix(prefix).decode() for each in variables if each.startswith(prefix)), None)


def _pid_namespace(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/pid").readlink())


def owner_lives(marker: str) -> bool:
    """Whether the process that a marker names still runs."""
    pid, _, start_ticks = marker.partition(":")
    stat = read_stat(int(pid)) if pid.isdecimal() else None
    return stat is not None and stat.state != "Z" and str(stat.start_ticks) == start_ticks
