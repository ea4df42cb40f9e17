"""The interface of all profilers; `choice` selects one for each runtime."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pushbench.building.toolchains import Toolset
from pushbench.machine import processes
from pushbench.machine.processes import Program
from pushbench.profiling.profile import Profile, Unprofiled, Window

TOOL_SECONDS = 120.0
"""for a program that reads a profiler's output, on a busy machine"""
END_SECONDS = 30.0
"""for an attached profiler to write its file"""


@dataclass(frozen=True)
class Place:
    """The surroundings of a profiler."""

    server: Path
    """the server's folder"""
    files: Path
    """an empty folder for the profiler's output"""
    tools: Toolset
    cpus: Sequence[int]
    """the generator's: an attached profiler uses none of the server's CPU time"""

    def environment(self) -> dict[str, str]:
        return processes.clean_environment(self.tools.environment)


class Profiler(Protocol):
    """One profiler of one start of a server."""

    @property
    def name(self) -> str: ...

    @property
    def options(self) -> Sequence[str]:
        """Options of the runtime, after the program of the server's command."""
        ...

    @property
    def by_wall(self) -> bool:
        """As in `difference.Measured`."""
        ...

    def begin(self, pids: Sequence[int], window: Window) -> None:
        """Attach to the server's processes, the first process first, in time for all of the window.

        Called when the load begins, before the window. Raises Unprofiled.
        """
        ...

    def end(self) -> None:
        """Detach, after the window. Raises Unprofiled."""
        ...

    def read(self, windows: Sequence[Window], epoch: float) -> Profile:
        """The profile inside `windows`, once the server has ended; `epoch` is the wall clock minus the monotonic clock.

        Raises Unprofiled.
        """
        ...


class Attached:
    """The common part of profilers that are separate programs: they inspect the server, and write a file at the end."""

    options: Sequence[str] = ()

    def __init__(self, place: Place, name: str, file: str) -> None:
        self.name = name
        self._place = place
        self._file = place.files / file
        self._program: Program | None = None

    def attach(self, argv: Sequence[str]) -> None:
        """Start the program. Raises Unprofiled if it does not start."""
        where, log = self._place, self._place.files / f"{self.name}.log"
        try:
            self._program = processes.start(
                argv, folder=where.files, environment=where.environment(), cpus=where.cpus, log=log
            )
        except OSError as error:
            raise Unprofiled(f"{self.name} does not start: {error.strerror}") from None

    def end(self) -> None:
        if self._program:
            self._program.stop(END_SECONDS, how=signal.SIGINT)

    def written(self) -> Path:
        """The file, after the end. Raises Unprofiled if it is missing."""
        if not self._file.exists():
            said = self._program.log_tail() if self._program else ""
            raise Unprofiled(f"{self.name} wrote no profile: {last_line(said.encode())}")
        return self._file


def run_tool(place: Place, argv: Sequence[str], given: str = "", most: int = 0) -> bytes:
    """The output of a program, at most `most` bytes if that is given. Raises Unprofiled if the program fails."""
    name = Path(argv[0]).name
    output = place.files / f"{name}.out"
    environment: Mapping[str, str] = {**place.environment(), **_caches()}
    try:
        with output.open("wb") as file:
            done = subprocess.run(
                argv,
                cwd=place.server,
                env=environment,
                input=given.encode(),
                stdout=file,
                stderr=subprocess.PIPE,
                timeout=TOOL_SECONDS,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unprofiled(f"{name} fails: {error}") from None
    if done.returncode != 0:
        raise Unprofiled(f"{name} fails: {last_line(done.stderr)}")
    if most and output.stat().st_size > most:
        raise Unprofiled(f"{name} writes more than {most >> 20} MiB")
    return output.read_bytes()


def last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def _caches() -> dict[str, str]:
    """The folder of Go's compiled tools, such as `go tool addr2line`, if the user has it outside of HOME."""
    return {name: os.environ[name] for name in ("GOCACHE", "GOFLAGS", "GOPATH") if name in os.environ}
