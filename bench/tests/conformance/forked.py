"""Starts the whiteboard server of these tests by forking a process that has imported it. A test starts the server
several times, and most of its CPU time would go into starting Python and importing modules.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
from collections.abc import Collection, Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import cast

from pushbench.machine.processes import Program
from tests.conformance import whiteboard_server

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([__name__])


class _Forked:
    """The part of `subprocess.Popen` that `Program` uses."""

    def __init__(self, process: ForkServerProcess) -> None:
        assert process.pid is not None, "it was started"
        self._process, self.pid = process, process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, which: int) -> None:
        # The fork server reaps the process before it reports its exit code.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, which)

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("the whiteboard server", timeout or 0)
        return code


def start(faults: Collection[str], *, folder: Path, environment: Mapping[str, str], log: Path) -> Program:
    """Start the server as `processes.start` starts a program: in its own session, with its output in `log`."""
    log.write_bytes(b"")  # so that only output of this start is read
    process = _context.Process(target=_serve, args=(faults, folder, environment, log), daemon=True)
    process.start()
    return Program(cast("subprocess.Popen[bytes]", _Forked(process)), log)


def _serve(faults: Collection[str], folder: Path, environment: Mapping[str, str], log: Path) -> None:
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with log.open("wb") as output:
        for standard in (1, 2):
            os.dup2(output.fileno(), standard)
    whiteboard_server.run(faults)
