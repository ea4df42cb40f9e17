"""Processes as the kernel reports them: one parser for /proc/<pid>/stat and its neighbours. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Stat:
    """A line of /proc/<pid>/stat (proc_pid_stat(5)); times in seconds, `children` = waited-for ones."""

    pid: int
    command: str
    state: str
    parent: int
    session: int
    user_seconds: float
    system_seconds: float
    children_user_seconds: float
    children_system_seconds: float
    threads: int
    start_ticks: int


def parse_stat(line: str) -> Stat:
    # The command may contain spaces and parentheses, so the fields are counted from the last one.
    head, _, rest = line.rpartition(")")
    pid, _, command = head.partition(" (")
    fields = rest.split(maxsplit=21)
    user, system, children_user, children_system = (int(ticks) / TICKS_PER_SECOND for ticks in fields[11:15])
    return Stat(
        pid=int(pid),
        command=command,
        state=fields[0],
        parent=int(fields[1]),
        session=int(fields[3]),
        user_seconds=user,
        system_seconds=system,
        children_user_seconds=children_user,
        children_system_seconds=children_system,
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
    )


def read_stat(pid: int) -> Stat | None:
    """The line of a process; None if the process does not exist (any more)."""
    text = read(f"/proc/{pid}/stat")
    return parse_stat(text) if text else None


def stats() -> Iterator[Stat]:
    """All processes of this pid namespace that still exist when they are read."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - Path objects for each entry double the cost of a sample
        if name.isdecimal() and (stat := read_stat(int(name))) is not None:
            yield stat


def read(path: str) -> str | None:
    """The content of a small kernel file; None if it does not exist or may not be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, 1 << 16).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)


def keyed_numbers(text: str) -> dict[str, int]:
    """The first number of each line, by name, in files of the form `Name: 12 kB` or `name 12`."""
    numbers = {}
    for line in text.splitlines():
        words = line.replace(":", " ", 1).split(maxsplit=2)
        if len(words) > 1 and words[1].isdecimal():
            numbers[words[0]] = int(words[1])
    return numbers


def listening_inodes(port: int) -> set[int]:
    """The inodes of sockets that listen on a TCP port, on any address."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        lines = Path(table).read_text().splitlines()[1:] if Path(table).exists() else []
        for line in lines:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(int(fields[9]))
    return found


def open_sockets(members: Iterable[Stat]) -> int:
    """How many sockets of any kind processes hold; one that several hold counts once."""
    return len({inode for stat in members for inode in socket_inodes(stat.pid)})


def open_files_ratio(pid: int) -> float | None:
    """The files that a process has open, as a share of those that it may have open (`ulimit -n`).

    None if the kernel does not report it: the size of /proc/<pid>/fd is their number since Linux 6.2 (proc_pid_fd(5)).
    """
    limits = read(f"/proc/{pid}/limits") or ""
    most = next((line.split()[3] for line in limits.splitlines() if line.startswith("Max open files")), "")
    try:
        number = os.stat(f"/proc/{pid}/fd").st_size  # noqa: PTH116 - as above
    except OSError:
        return None
    return number / int(most) if number and most.isdecimal() else None


def socket_inodes(pid: int) -> set[int]:
    """Inodes of the sockets that a process has open."""
    found: set[int] = set()
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208 - as above
    except OSError:
        return found
    for name in names:
        try:
            target = os.readlink(f"{folder}/{name}")  # noqa: PTH115 - as above
        except OSError:
            continue  # it was closed meanwhile; the other files are unaffected
        if target.startswith("socket:["):
            found.add(int(target[8:-1]))
    return found
