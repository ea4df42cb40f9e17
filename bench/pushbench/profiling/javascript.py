"""Profiles of Node.js and Bun, from `--cpu-prof`: the runtime writes a file for each process when it ends."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.profiling.cpuprofile import add_cpuprofile
from pushbench.profiling.profile import Profile, Unprofiled, Window, read_bounded
from pushbench.profiling.profilers import Place

INTERVAL_US = 500
"""between two samples: a server that uses 8 % of a CPU gives some 1,000 in 7 s"""
NOT_INLINED = "--no-turbo-inlining"
"""V8 inlines short functions, and its profiler counts a loop of an inlined function as the caller's"""
MOST_FILES = 100
"""of one start: a file for each process and each worker thread"""
PRELOADS = {"node": "--require", "bun": "--preload"}
ENDING = """\
process.on('SIGTERM', () => {
  if (process.listenerCount('SIGTERM') === 1) process.exit(0);
});
"""
"""A runtime that SIGTERM kills writes no profile, so this makes a server exit that does not handle SIGTERM itself."""


class CpuProf:
    """The profiler built into the runtime."""

    by_wall = True

    def __init__(self, place: Place, runtime: str) -> None:
        self._place, self._runtime = place, runtime
        self.name = f"{runtime} --cpu-prof"
        self.options = ["--cpu-prof", f"--cpu-prof-dir={place.files}"]
        preloaded = place.files / "ending.cjs"
        preloaded.write_text(ENDING)
        self.options += [PRELOADS[runtime], str(preloaded)]
        if runtime == "node":
            self.options += [f"--cpu-prof-interval={INTERVAL_US}", NOT_INLINED]

    def begin(self, pids: Sequence[int], window: Window) -> None: ...

    def end(self) -> None: ...

    def read(self, windows: Sequence[Window], epoch: float) -> Profile:
        files = sorted(self._place.files.glob("*.cpuprofile"))
        if not files:
            why = f"it was killed, or this version of {self._runtime} has no --cpu-prof"
            raise Unprofiled(f"{self._runtime} wrote no profile: {why}")
        if len(files) > MOST_FILES:
            raise Unprofiled(f"{self._runtime} wrote {len(files):,} profiles: {MOST_FILES} at most")
        profile = Profile()
        for file in files:
            add_cpuprofile(profile, read_bounded(file), self._place.server, windows, epoch)
        return profile
