"""One pair of trials with a profiler on both arms: never judged, never part of a record.

The driver and the watch of a trial are wrapped, to find out when the server runs and when its load is measured.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from pushbench.catalog.servers import Server
from pushbench.comparing.arms import Arm, ArmName, Arms
from pushbench.drivers.driver import Build, Driver, Instance
from pushbench.drivers.process import ProcessDriver
from pushbench.generator.events import Second, Started
from pushbench.machine.processes import Exit
from pushbench.machine.procfs import stats
from pushbench.machine.sampling import Sample
from pushbench.measuring.common import measure_one
from pushbench.measuring.company import Company, run_together
from pushbench.measuring.plan import make_rounds, trial_seconds
from pushbench.measuring.trial import Bench
from pushbench.profiling.choice import profiler_of
from pushbench.profiling.difference import Measured
from pushbench.profiling.profile import Unprofiled, Window
from pushbench.profiling.profilers import Place, Profiler
from pushbench.records.record import PlannedTrial, Record, Trial
from pushbench.watching.progress import LoadWatch, Unwatched, Watch

ARMS: Sequence[ArmName] = ("base", "head")
LEAST_SAMPLES = 30
"""of an arm: fewer show nothing"""
PROFILER_SECONDS = 10.0
"""extra time of a pair with profilers, for reading what they wrote"""
NO_CONTAINERS = (
    "profilers need the process driver: a measured container has no capability (PERFMON, SYS_PTRACE) "
    "and no place to write to"
)


@dataclass(frozen=True)
class ProfiledTrial:
    """What the profiler and the trial found in the same seconds."""

    trial: Trial
    measured: Measured
    profiler: str


def profile_pair(
    record: Record, bench: Bench, arms: Arms, server: str, *, together: bool, seed: int, watch: Watch, scratch: Path
) -> Mapping[ArmName, ProfiledTrial]:
    """Play one round of `record` again, with a profiler on each arm. Raises Unprofiled if that is impossible or finds
    nothing.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="profiles-", dir=scratch))
    try:
        sides = {name: _Side(bench, arms[name], server, folder / name) for name in ARMS}
        planned = make_rounds({server: [1]}, seed=seed, first=0, arms=ARMS, together=[server] * together)
        seconds = trial_seconds(record.schedule) * (1 if together else 2) + PROFILER_SECONDS
        watch.trial(planned[0], 0, record, seconds)
        if together:
            watches: list[LoadWatch] = [watch, *(Unwatched() for _ in planned[1:])]
            pairs = zip(planned, watches, strict=True)
            trials = run_together([partial(_play, sides[each.arm], each, seen) for each, seen in pairs])
        else:
            trials = [_play(sides[each.arm], each, watch, None) for each in planned]
        return {trial.arm: sides[trial.arm].read(trial) for trial in trials}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _play(side: _Side, planned: PlannedTrial, watch: LoadWatch, company: Company | None) -> Trial:
    return measure_one(side.bench, planned, side.prepared, side.watching(watch), company)


class _Side:
    """One arm with its profiler."""

    def __init__(self, bench: Bench, arm: Arm, server: str, files: Path) -> None:
        files.mkdir()
        before = arm.prepared[server]
        if not isinstance(arm.driver, ProcessDriver):
            raise Unprofiled(NO_CONTAINERS)
        assert isinstance(before.result, Build), "only what was built is in the arms"
        place = Place(before.server.folder, files, before.result.toolchains, bench.generator.cpus)
        self.profiler = profiler_of(before.server, place)
        self.prepared = replace(before, result=replace(before.result, options=tuple(self.profiler.options)))
        generator = replace(bench.generator, workspace=bench.generator.workspace / files.name)
        self._following = _Following(self.profiler)
        driver = cast(Driver, _FollowedDriver(arm.driver, self._following))
        self.bench = replace(bench, driver=driver, generator=generator)
        self._epoch = time.time() - time.monotonic()

    def watching(self, watch: LoadWatch) -> LoadWatch:
        return _Watching(self._following, watch)

    def read(self, trial: Trial) -> ProfiledTrial:
        """Raises Unprofiled."""
        if trial.failure and trial.failure.step != "stop":  # a profiler may delay the server's exit beyond its timeout
            raise Unprofiled(f"the {trial.arm} failed to {trial.failure.step}: {trial.failure.message}")
        self._following.require_good()
        work, cpu_seconds = work_of(trial, self.bench.load.words.work.name)
        profile = self.profiler.read(self._following.windows, self._epoch)
        if profile.count < LEAST_SAMPLES:
            raise Unprofiled(f"the profile of the {trial.arm} has {profile.count} samples: too few to tell anything")
        return ProfiledTrial(
            trial, Measured(profile, work, cpu_seconds, by_wall=self.profiler.by_wall), self.profiler.name
        )


def work_of(trial: Trial, unit: str) -> tuple[int, float]:
    """Units of work and CPU seconds of the server in the steady windows. Raises Unprofiled."""
    work, cpu = 0, 0.0
    for stage in trial.stages:
        cost = stage.metrics.get(f"cpu_seconds_per_{unit}")
        if cost is not None and stage.arrived:
            work, cpu = work + stage.arrived, cpu + cost * stage.arrived
    if not work:
        arrived = any(stage.arrived for stage in trial.stages)
        missing = "the server's CPU is not known" if arrived else "nothing was received"
        reasons = "; ".join(reason.message for reason in trial.validity.reasons) or missing
        raise Unprofiled(f"the trial of the {trial.arm} measured nothing: {reasons}")
    return work, cpu


class _Following(threading.Thread):
    """Attaches the profiler when the load begins, and detaches it after the last window."""

    def __init__(self, profiler: Profiler) -> None:
        super().__init__(name="profiler", daemon=True)
        self._profiler = profiler
        self._ended = threading.Event()
        self._failed: Unprofiled | None = None
        self.instance: Instance | None = None
        self.windows: Sequence[Window] = ()

    def load_began(self, windows: Sequence[Window]) -> None:
        self.windows = windows
        self.start()

    def run(self) -> None:
        whole = (self.windows[0][0], self.windows[-1][1])
        try:
            self._profiler.begin(self._pids(), whole)
            try:
                self._ended.wait(max(0.0, whole[1] - time.monotonic()))
            finally:
                self._profiler.end()
        except Unprofiled as failed:
            self._failed = failed

    def _pids(self) -> list[int]:
        """The server's processes, the main one first."""
        assert self.instance, "it runs before its load begins"
        members = self.instance.tree.members(list(stats()))
        return [stat.pid for stat in sorted(members, key=lambda stat: stat.start_ticks)]

    def before_the_end(self) -> None:
        """Wait until the profiler is detached: the server is about to be stopped."""
        self._ended.set()
        if self.is_alive():
            self.join()

    def require_good(self) -> None:
        """Raises Unprofiled."""
        if not self.windows:
            raise Unprofiled("the load did not begin")
        if self._failed:
            raise self._failed


class _FollowedInstance:
    """A running server that is stopped only after its profiler."""

    def __init__(self, instance: Instance, following: _Following) -> None:
        self._instance, self._following = instance, following

    def terminate(self, timeout: float) -> Exit:
        self._following.before_the_end()
        return self._instance.terminate(timeout)

    def __getattr__(self, name: str) -> object:
        return getattr(self._instance, name)


class _FollowedDriver:
    """The same driver; a profiler follows its servers."""

    def __init__(self, driver: Driver, following: _Following) -> None:
        self._driver, self._following = driver, following

    @contextlib.contextmanager
    def running(self, server: Server, build: Build, env: Mapping[str, str] | None = None) -> Iterator[Instance]:
        with self._driver.running(server, build, env) as instance:
            self._following.instance = instance
            try:
                yield cast(Instance, _FollowedInstance(instance, self._following))
            finally:
                self._following.before_the_end()

    def __getattr__(self, name: str) -> object:
        return getattr(self._driver, name)


@dataclass(frozen=True)
class _Watching:
    """Passes all events on."""

    following: _Following
    watch: LoadWatch

    def started(self, load: Started) -> None:
        self.following.load_began(load.windows)
        self.watch.started(load)

    def second(self, second: Second) -> None:
        self.watch.second(second)

    def sample(self, sample: Sample) -> None:
        self.watch.sample(sample)
