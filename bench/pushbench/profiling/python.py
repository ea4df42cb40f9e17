"""Profiles of Python, from py-spy: it reads the stacks of another process."""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pushbench.profiling.collapsed import add_collapsed
from pushbench.profiling.profile import Profile, Window, read_bounded
from pushbench.profiling.profilers import Attached, Place

PER_SECOND = 250
"""samples; each stops the server for some 100 us"""
START_SECONDS = 1.0
"""until py-spy takes its first sample"""
PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")


class PySpy(Attached):
    """Attached for the length of the window: its file has no times."""

    by_wall = True

    def __init__(self, place: Place) -> None:
        super().__init__(place, "py-spy", "stacks.txt")

    def begin(self, pids: Sequence[int], window: Window) -> None:
        time.sleep(max(0.0, window[0] - START_SECONDS / 2 - time.monotonic()))
        most = str(math.ceil(window[1] - time.monotonic()) + 5)  # in case it is not stopped
        how = ["--rate", str(PER_SECOND), "--duration", most, "--format", "raw", "--full-filenames", "--subprocesses"]
        argv = [_program() or "py-spy", "record", *how, "--output", str(self._file), "--pid", str(pids[0])]
        self.attach(argv)

    def read(self, windows: Sequence[Window], epoch: float) -> Profile:
        profile = Profile()
        add_collapsed(profile, read_bounded(self.written()), self._place.server, 1 / PER_SECOND)
        return profile


def py_spy_lacks() -> str | None:
    """What this machine lacks for py-spy."""
    if not _program():
        return "py-spy is not installed: `pip install py-spy`"
    try:
        scope = int(PTRACE_SCOPE.read_text())
    except (OSError, ValueError):
        scope = 0  # a kernel without Yama
    if scope and os.geteuid() != 0:
        return f"kernel.yama.ptrace_scope is {scope}, and py-spy needs 0: `sudo sysctl kernel.yama.ptrace_scope=0`"
    return None


def _program() -> str | None:
    """py-spy on the PATH, or beside Pushbench's Python."""
    own = Path(sys.executable).parent / "py-spy"
    return str(own) if own.exists() else shutil.which("py-spy")
