"""Profiles of compiled servers, from perf: the kernel samples their stacks by their CPU clock."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pushbench.profiling.elf import code_of
from pushbench.profiling.perf import FIELDS, add_perf, go_names, lookups, read_samples
from pushbench.profiling.profile import MOST_BYTES, Profile, Window
from pushbench.profiling.profilers import Attached, Place, last_line, run_tool

PER_SECOND = 997
"""samples per second of CPU time; a prime, so that no timer of a server is synchronous with it"""
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
MOST_PARANOID = 2
"""the highest level at which users may sample their own processes"""
CAPABILITY_PERFMON, CAPABILITY_ADMIN = 38, 21
CALL_GRAPHS = {"go": "fp", "cargo": "dwarf,16384"}
"""Go keeps frame pointers; a release build of Rust has only the unwind tables for panics"""


class Perf(Attached):
    """Attached from the beginning of the load; its samples have times."""

    by_wall = False

    def __init__(self, place: Place, toolchain: str, binary: Path) -> None:
        super().__init__(place, "perf", "perf.data")
        self._toolchain, self._binary = toolchain, binary

    def begin(self, pids: Sequence[int], window: Window) -> None:
        how = ["--event", "cpu-clock", "--freq", str(PER_SECOND), "--call-graph", CALL_GRAPHS[self._toolchain]]
        clock = ["--clockid", "CLOCK_MONOTONIC"]
        processes = ",".join(map(str, pids))
        argv = ["perf", "record", "--quiet", *how, *clock, "--pid", processes, "--output", str(self._file)]
        self.attach(argv)

    def read(self, windows: Sequence[Window], epoch: float) -> Profile:
        script = ["perf", "script", "--fields", FIELDS, "--input", str(self.written())]
        samples = read_samples(run_tool(self._place, script, most=MOST_BYTES), windows)
        names = {}
        if self._toolchain == "go" and samples:
            names = go_names(lookups(samples, self._binary), code_of(self._binary), self._go)
        profile = Profile()
        add_perf(profile, samples, self._binary, names, self._module())
        return profile

    def _go(self, addresses: str) -> str:
        command = self._place.tools.command(["go", "tool", "addr2line", str(self._binary)], self._place.server)
        return run_tool(self._place, command, addresses).decode(errors="replace")

    def _module(self) -> str:
        try:
            lines = (self._place.server / "go.mod").read_text().splitlines()
        except OSError:
            return ""
        return next((line.split()[1] for line in lines if line.startswith("module ")), "")


def perf_lacks() -> str | None:
    """What this machine lacks for perf."""
    if not shutil.which("perf"):
        return "perf is not installed: `apt install linux-perf` (Debian), `apt install linux-tools-generic` (Ubuntu)"
    try:
        paranoid = int(PARANOID.read_text())
    except (OSError, ValueError):
        return "the kernel has no perf events"
    if paranoid > MOST_PARANOID and not _may_always():
        wanted = f"sudo sysctl kernel.perf_event_paranoid={MOST_PARANOID}"
        return f"kernel.perf_event_paranoid is {paranoid}, and perf needs {MOST_PARANOID} or less: `{wanted}`"
    tried = subprocess.run(
        ["perf", "record", "--quiet", "--event", "cpu-clock", "--output", "/dev/null", "true"],
        capture_output=True,
        check=False,
    )
    return f"perf does not work here: {last_line(tried.stderr)}" if tried.returncode else None


def _may_always() -> bool:
    try:
        lines = Path(f"/proc/{os.getpid()}/status").read_text().splitlines()
        held = int(next(line.split()[1] for line in lines if line.startswith("CapEff:")), 16)
    except (OSError, StopIteration, ValueError):
        return False
    return bool(held & (1 << CAPABILITY_PERFMON | 1 << CAPABILITY_ADMIN))
