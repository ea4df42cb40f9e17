"""Programs that Pushbench starts: their CPUs, their environment, and how they are stopped.

Every program leads its own session and carries the marker of its owner (see `ownership`).
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.foundation.files import tail
from pushbench.machine.ownership import OWNER, kill_all, owner_marker
from pushbench.machine.procfs import stats

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
NOFILE_MOST = 1 << 20  # the kernel's own default ceiling; "infinity" makes some programs loop over all numbers


def clean_environment(*prescribed: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a measured program, without the user's shell, which could change a result."""
    base = {"PATH": SYSTEM_PATH, "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
    for variables in prescribed:
        base |= variables
    return base | {OWNER: owner_marker()}


@dataclass(frozen=True)
class Exit:
    """How a stopped program ended, and how long that took."""

    code: int
    """the negative signal number if a signal ended it, as in subprocess"""
    seconds: float
    killed: bool
    """it did not end in time"""


def ending(code: int) -> str:
    """An exit code in words."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


class Program:
    """A running program: the leader of its own session."""

    def __init__(self, popen: subprocess.Popen[bytes], log: Path) -> None:
        self._popen = popen
        self.pid = popen.pid
        self.log = log

    def exit_code(self) -> int | None:
        """The exit code after the end, which also reaps the process; None while it runs."""
        return self._popen.poll()

    def wait(self, timeout: float) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._popen.wait(timeout)
        return None

    def send(self, which: signal.Signals) -> None:
        """Send it a signal, if it runs. It may have ended just now, and another thread may have reaped it."""
        self._popen.send_signal(which)

    def log_tail(self) -> str:
        return tail(self.log)

    def output_bytes(self) -> int:
        return self.log.stat().st_size

    def stop(self, timeout: float, *, how: signal.Signals = signal.SIGTERM) -> Exit:
        """Stop it by the signal `how`, and after `timeout` seconds by SIGKILL; then SIGKILL the rest of its session."""
        began = time.monotonic()
        self.send(how)
        killed = self.wait(timeout) is None
        if killed:
            self.send(signal.SIGKILL)
        code = self._popen.wait()
        seconds = time.monotonic() - began
        kill_all([stat.pid for stat in stats() if stat.session == self.pid])
        return Exit(code, seconds, killed)


def start(
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    cpus: Collection[int],
    log: Path,
    pass_fds: Sequence[int] = (),
) -> Program:
    """Start `argv` on `cpus`, its output in `log`. Raises OSError when it cannot be started.

    The calling thread takes the affinity during the fork, so that the program has it from its first instruction: a JVM
    sizes its pools by the CPUs that it sees at its start.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output, affinity(cpus):
        popen = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    return Program(popen, log)


@contextlib.contextmanager
def affinity(cpus: Collection[int]) -> Iterator[None]:
    """Run the calling thread, and the programs that it starts meanwhile, on `cpus`."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def most_open_files() -> int:
    """The number of files that this process and each child may open after `raise_open_files`."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return NOFILE_MOST if most == resource.RLIM_INFINITY else min(most, NOFILE_MOST)


def raise_open_files() -> None:
    """Let this process and its children open as many files as the limit allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_open_files(), most))
