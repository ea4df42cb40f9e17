"""Instructions that a program retires, from the CPU's own counters, independent of other load on the machine.

Linux' perf_event_open(2), without root: instructions in user space only, which perf_event_paranoid 2, the kernel's
default, allows. Virtual machines often have no such counters; then there is nothing to read, and no warning.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pushbench.machine.procfs import Stat

SYSCALL = {"x86_64": 298, "aarch64": 241}
"""number of perf_event_open (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h)"""
ATTRIBUTE_BYTES = 128
"""PERF_ATTR_SIZE_VER7; older kernels accept it as long as the fields that they lack are 0"""
READ_FORMAT = 0b11
"""PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING follow the value"""
FLAGS = 1 << 1 | 1 << 5 | 1 << 6
"""of struct perf_event_attr: inherit, exclude_kernel, exclude_hv"""
CLOSE_ON_EXEC = 1 << 3


@dataclass(frozen=True)
class Event:
    """`type` and `config` of struct perf_event_attr (include/uapi/linux/perf_event.h)."""

    type: int
    config: int


INSTRUCTIONS = Event(type=0, config=1)
TASK_CLOCK = Event(type=1, config=1)
"""nanoseconds on a CPU: the kernel counts it, so every machine has it"""


class Counter:
    """The counts of some threads, and of all threads that they start, since the counter was opened."""

    def __init__(self, files: Sequence[int]) -> None:
        self._files = files

    @classmethod
    def of(cls, members: Iterable[Stat], event: Event = INSTRUCTIONS) -> Counter | None:
        """A counter of all threads of these processes; None if the machine cannot count that, or does not permit it."""
        files: list[int] = []
        for thread in _threads(members):
            file = _open(thread, event)
            if file is None:
                Counter(files).close()
                return None
            if file >= 0:
                files.append(file)
        return cls(files) if files else None

    def read(self) -> float | None:
        """The count, extrapolated if the counter had to share the CPU's counters; None if a counter never ran."""
        total = 0.0
        for file in self._files:
            value, enabled, running = struct.unpack("=QQQ", os.read(file, 24))
            if enabled and not running:
                return None
            total += value * enabled / running if running else 0
        return total

    def close(self) -> None:
        for file in self._files:
            os.close(file)
        self._files = ()


def _threads(members: Iterable[Stat]) -> list[int]:
    found: list[int] = []
    for stat in members:
        with contextlib.suppress(OSError):
            found += [int(name) for name in os.listdir(f"/proc/{stat.pid}/task")]  # noqa: PTH208 - as in procfs
    return found


def _open(thread: int, event: Event) -> int | None:
    """A file descriptor, -1 for a thread that has ended, None if the event cannot be counted."""
    number = SYSCALL.get(platform.machine())
    if number is None:
        return None
    attribute = struct.pack("=IIQQQQQ", event.type, ATTRIBUTE_BYTES, event.config, 0, 0, READ_FORMAT, FLAGS)
    content = ctypes.create_string_buffer(attribute, ATTRIBUTE_BYTES)
    library = ctypes.CDLL(None, use_errno=True)
    any_cpu, no_group = ctypes.c_int(-1), ctypes.c_int(-1)
    found: int = library.syscall(
        ctypes.c_long(number), content, ctypes.c_int(thread), any_cpu, no_group, ctypes.c_ulong(CLOSE_ON_EXEC)
    )
    if found >= 0:
        return found
    return -1 if ctypes.get_errno() == errno.ESRCH else None
