"""A load that the k6 operator plays in a cluster, seen through the logs of its runners."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass

from pushbench.drivers import manifests
from pushbench.drivers.kubectl import Kubectl, KubectlFailed
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line
from pushbench.generator.load import (
    MARGIN_SECONDS,
    Generator,
    LoadFailed,
    LoadPlan,
    Second,
    Started,
    moved,
    parse_event,
    planned_seconds,
    together,
    window_end,
)
from pushbench.generator.pods import Part, merge_parts
from pushbench.generator.reports import reports_in
from pushbench.machine.processes import Program
from pushbench.records.load_report import LoadReport
from pushbench.records.record import Finding

BEGIN_SECONDS = 120.0
"""for the operator to check the scenario, start the runners and have them begin: 15 with images that are there"""
APART_MOST = 1.0
"""seconds between the starts of the generators: the operator's starter calls one after the other, within some 100 ms"""
LOOK_SECONDS = 0.5
EVENT = b'{"at":'
"""how the generator begins an event"""
RUNNERS = f"k6_cr={manifests.LOAD},runner=true"


@dataclass
class _Runner:
    """One runner, and its log so far."""

    pod: str
    following: Program
    place: int = 0
    started: Started | None = None
    second: Second | None = None


class ClusterLoad:
    """A load in progress. Moments of the runners' clocks become those of this machine when their log arrives."""

    pids: tuple[int, ...] = ()

    def __init__(self, kubectl: Kubectl, generator: Generator, plan: LoadPlan) -> None:
        self._kubectl, self._generator = kubectl, generator
        self._longest = planned_seconds(plan.schedule) + MARGIN_SECONDS
        self._runners: list[_Runner] = []
        self._apart = 0.0
        self._cut: int | None = None

    @property
    def findings(self) -> list[Finding]:
        apart = f"the generators began {self._apart:.2f} s apart by their nodes' clocks"
        unknown = "CPU and memory of the server were not measured: the driver kubernetes has no meter yet"
        return [Finding(code="start_skew", message=apart), Finding(code="not_accounted", message=unknown)]

    def events(self) -> Iterator[Started | Second | None]:
        """As of a load on this machine. Raises LoadFailed."""
        try:
            yield from self._begin()
            yield from self._follow()
        except KubectlFailed as error:
            raise LoadFailed(f"the cluster does not answer: {error}") from None

    def end_of_stage(self, moment: float) -> float:
        starts = [runner.started for runner in self._runners if runner.started]
        return window_end(starts, moment) if starts and len(starts) == len(self._runners) else moment

    def interrupt(self) -> None:
        """Leave out the stages that have not ended. The runners go on: k6 gets no signal through the operator."""
        starts = [runner.started for runner in self._runners if runner.started]
        if self._cut is None and starts:
            now = time.monotonic()
            self._cut = sum(end <= now for _, end in together(starts).windows)

    def report(self) -> LoadReport:
        parts = []
        try:
            for runner in self._runners:
                for line, report in reports_in(self._kubectl.run("logs", runner.pod)):
                    parts.append(Part(f"{runner.pod}:{line}", report))
            if len(parts) != len(self._runners):
                raise LoadFailed(f"{len(parts)} of {len(self._runners)} generators reported; {self._last_words()}")
            merged = merge_parts(parts, "the runners")
        except (KubectlFailed, UserError, ValueError) as error:
            raise LoadFailed(str(error)) from None
        self._apart = merged.apart_seconds
        if self._apart > APART_MOST:
            raise LoadFailed(f"the generators began {self._apart:.1f} s apart, more than {APART_MOST:g} s")
        report = merged.report
        return report if self._cut is None else report.model_copy(update={"stages": report.stages[: self._cut]})

    def stop(self) -> None:
        for runner in self._runners:
            runner.following.stop(0)

    def _begin(self) -> Iterator[None]:
        """Wait until all runners have begun."""
        deadline = time.monotonic() + BEGIN_SECONDS
        wanted = self._generator.processes
        while True:
            found = self._kubectl.get("pods", "--selector", RUNNERS)["items"]
            if sum(pod["status"]["phase"] != "Pending" for pod in found) == wanted:
                break
            if self._kubectl.get("testrun", manifests.LOAD).get("status", {}).get("stage") == "error":
                said = one_line(self._kubectl.run("logs", f"job/{manifests.LOAD}-initializer", "--tail=3"), 500)
                raise LoadFailed(f"the k6 operator refuses the load: {said}")
            if time.monotonic() > deadline:
                raise LoadFailed(f"the runners did not begin within {BEGIN_SECONDS:g} s{_why(found)}")
            yield None
            time.sleep(LOOK_SECONDS)
        for pod in sorted(each["metadata"]["name"] for each in found):
            log = self._generator.workspace / f"{pod}.log"
            self._runners.append(_Runner(pod, self._kubectl.start("logs", "--follow", pod, log=log)))

    def _follow(self) -> Iterator[Started | Second | None]:
        """The events until all logs have ended."""
        deadline = time.monotonic() + BEGIN_SECONDS + self._longest
        told = False
        while True:
            ended = all(runner.following.exit_code() is not None for runner in self._runners)
            for runner in self._runners:
                for event in self._read(runner):
                    if isinstance(event, Started):
                        runner.started = event
                    else:
                        runner.second = event
                        yield Second.total(each.second for each in self._runners if each.second)
            starts = [runner.started for runner in self._runners if runner.started]
            if not told and len(starts) == len(self._runners):
                told = True
                yield together(starts)
            if ended:
                return
            if time.monotonic() > deadline:
                raise LoadFailed(f"the generators did not end within the planned time; {self._last_words()}")
            yield None
            time.sleep(LOOK_SECONDS)

    def _read(self, runner: _Runner) -> Iterator[Started | Second]:
        """The events of the lines that are new in a runner's log."""
        with runner.following.log.open("rb") as log:
            log.seek(runner.place)
            lines, _, _ = log.read().rpartition(b"\n")
        runner.place += len(lines) + bool(lines)
        for line in lines.splitlines():
            if line.startswith(EVENT):
                with contextlib.suppress(ValueError, KeyError, TypeError):  # a line that another one interrupts
                    content = json.loads(line)
                    if event := parse_event(content):
                        yield moved(event, time.monotonic() - event.at)

    def _last_words(self) -> str:
        said = [line for runner in self._runners for line in runner.following.log_tail().splitlines() if line.strip()]
        return f"their last words: {one_line(' | '.join(said[-3:]), 500)}" if said else "they printed nothing"


def _why(pods: list[manifests.Manifest]) -> str:
    """What the scheduler says of a runner that has no node."""
    conditions = [each for pod in pods for each in pod["status"].get("conditions", [])]
    said = [each["message"] for each in conditions if each["status"] == "False" and each.get("message")]
    return f": {one_line(said[0], 300)}" if said else ""


@contextlib.contextmanager
def playing_in(
    kubectl: Kubectl, generator: Generator, plan: LoadPlan, *, image: str, not_on: str
) -> Iterator[ClusterLoad]:
    """Have the operator play a load in a namespace; forget it at the end of the block."""
    shutil.rmtree(generator.workspace, ignore_errors=True)
    generator.workspace.mkdir(parents=True)
    whole = plan.model_copy(update={"generators": generator.processes})
    scenario = generator.scenario.relative_to(generator.folder).as_posix()
    objects = manifests.load(image, scenario, whole.model_dump_json(by_alias=True), generator.processes, not_on=not_on)
    running = ClusterLoad(kubectl, generator, plan)
    try:
        kubectl.apply(objects)
        yield running
    except KubectlFailed as error:
        raise LoadFailed(f"the load does not start: {error}") from None
    finally:
        running.stop()
        with contextlib.suppress(KubectlFailed):
            kubectl.run("delete", "testrun", manifests.LOAD, "--ignore-not-found", "--wait=false")
