"""A load that the k6 operator runs in a cluster, observed through the logs of its runners."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from pushbench.drivers import manifests
from pushbench.drivers.cluster_account import Heard, Meter, account_of, starts_here
from pushbench.drivers.cluster_clocks import Compared, parse_compared
from pushbench.drivers.cluster_faults import faults, is_over
from pushbench.drivers.kubectl import Kubectl, KubectlFailed
from pushbench.drivers.kubelet import Coarse, Kubelet
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line
from pushbench.generator.events import Second, Started, parse_event, together, window_end
from pushbench.generator.load import MARGIN_SECONDS, Account, Generator, LoadFailed, LoadPlan, planned_seconds
from pushbench.generator.pods import Part, merge_parts
from pushbench.generator.reports import reports_in
from pushbench.machine.processes import Program
from pushbench.records.load_report import LoadReport
from pushbench.records.record import Finding

BEGIN_SECONDS = 120.0
"""for the operator to check the scenario and start the runners, and for these to begin: 15 with pulled images"""
LOOK_SECONDS = 0.5
EVENTS = (b'{"at":', b'{"ahead_us":')
"""how an event of the generator begins: its keys are in alphabetical order"""
SILENT_SECONDS = 5.0
"""a generator prints an event each second; the node of a silent one may be gone"""
NOTICED_SECONDS = 20.0
"""in addition to the margin: by default, a cluster notices 40 s after its last sign of life that a node is gone"""
RUNNERS = f"k6_cr={manifests.LOAD},runner=true"


@dataclass(frozen=True)
class Beside:
    """The meters beside the server."""

    meters: Sequence[Meter] = ()
    without: str = "there is no meter"
    """why there are no meters"""
    kubelet: Kubelet | None = None
    """queried where there are no meters"""


@dataclass
class _Runner:
    """One runner, and its log so far."""

    pod: str
    following: Program
    place: int = 0
    told: float = field(default_factory=time.monotonic)
    """when it last printed an event, or its pod was last checked"""
    started: tuple[Started, float] | None = None
    """by its own clock, and when this process read it"""
    compared: list[Compared] = field(default_factory=list)
    spent: dict[float, float] = field(default_factory=dict)
    """CPU seconds by moments of its own clock"""
    second: Second | None = None

    @property
    def heard(self) -> Heard | None:
        return Heard(*self.started, self.compared, sorted(self.spent.items())) if self.started else None


class ClusterLoad:
    """A load in progress. Moments by the runners' clocks are converted to this machine's once all have begun."""

    pids: tuple[int, ...] = ()

    def __init__(self, kubectl: Kubectl, generator: Generator, plan: LoadPlan, beside: Beside) -> None:
        self._kubectl, self._generator, self._beside = kubectl, generator, beside
        self._longest = planned_seconds(plan.schedule) + MARGIN_SECONDS
        self._runners: list[_Runner] = []
        self._starts: list[Started] = []
        self._cut: int | None = None
        self._before: list[manifests.Manifest] = []
        """the pods at the beginning of the load"""

    @property
    def account(self) -> Account:
        if not self._starts:
            return Account()
        logs = {}
        for meter in self._beside.meters:
            try:
                logs[meter] = self._kubectl.patiently("logs", meter.pod, f"--container={manifests.METER}")
            except KubectlFailed as error:
                logs[meter] = str(error)
        account = account_of(logs, self._heard(), self._starts, *self._instead())
        account.reasons += self._faults()
        account.warnings += self._policy()
        return account

    def _policy(self) -> Iterator[Finding]:
        """Whether the network kept other pods than runners from the server, as the NetworkPolicy demands."""
        try:
            said = self._kubectl.run("logs", f"job/{manifests.REACH}").strip()
        except KubectlFailed:
            said = ""
        if said == "true":
            message = "the cluster's network enforces no NetworkPolicy: other pods reach the server"
            yield Finding(code="open_network", message=message)
        elif said != "false":
            yield Finding(
                code="open_network", message="whether the cluster's network enforces NetworkPolicy is not known"
            )

    def _instead(self) -> tuple[str, Sequence[Coarse]]:
        """Why there is no meter, and the kubelet's readings instead."""
        kubelet = self._beside.kubelet
        if kubelet is None:
            return self._beside.without, ()
        told = kubelet.told_until(max(end for start in self._starts for _, end in start.windows))
        return f"{self._beside.without}{f'; {kubelet.error}' if kubelet.error else ''}", told

    def _faults(self) -> list[Finding]:
        """What the cluster has done to the pods since the load began."""
        try:
            now = json.loads(self._kubectl.patiently("get", "--output", "json", "pods"))["items"]
            nodes = json.loads(self._kubectl.patiently("get", "--output", "json", "nodes"))["items"]
        except KubectlFailed as error:
            return [Finding(code="cluster_lost", message=f"the cluster does not answer after the load: {error}")]
        return faults(self._before, now, nodes)

    def events(self) -> Iterator[Started | Second | None]:
        """The events, as those of a load on this machine. Raises LoadFailed."""
        try:
            yield from self._begin()
            yield from self._follow()
        except KubectlFailed as error:
            raise LoadFailed(f"the cluster does not answer: {error}") from None

    def end_of_stage(self, moment: float) -> float:
        return window_end(self._starts, moment) if self._starts else moment

    def interrupt(self) -> None:
        """Leave out the stages that have not ended. The runners continue: the operator passes no signal on to k6."""
        if self._cut is None and self._starts:
            now = time.monotonic()
            self._cut = sum(end <= now for _, end in together(self._starts).windows)

    def report(self) -> LoadReport:
        parts = []
        try:
            for runner in self._runners:
                for line, report in reports_in(self._kubectl.patiently("logs", runner.pod)):
                    parts.append(Part(f"{runner.pod}:{line}", report))
            if len(parts) != len(self._runners):
                raise LoadFailed(f"{len(parts)} of {len(self._runners)} generators reported; {self._why()}")
            merged = merge_parts(parts, "the runners")
        except (KubectlFailed, UserError, ValueError) as error:
            raise LoadFailed(str(error)) from None
        began = round(min(start.at for start in self._starts) * 1e6) if self._starts else 0
        report = merged.report.model_copy(update={"started_monotonic_us": began})
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
        self._before = [pod for pod in self._kubectl.get("pods")["items"] if _stays(pod)]
        for pod in sorted(each["metadata"]["name"] for each in found):
            self._runners.append(_Runner(pod, self._follower(pod)))

    def _follow(self) -> Iterator[Started | Second | None]:
        """The events until all logs end."""
        deadline = time.monotonic() + BEGIN_SECONDS + self._longest
        while True:
            ended = all(self._has_ended(runner) for runner in self._runners)
            for runner in self._runners:
                for content in self._read(runner):
                    if second := _hear(runner, content):
                        runner.second = second
                        yield Second.total(each.second for each in self._runners if each.second)
            if not self._starts and (starts := self._begun()):
                self._starts = starts
                deadline = max(start.end for start in starts) + MARGIN_SECONDS + NOTICED_SECONDS
                yield together(starts)
            if ended:
                if not self._starts:
                    raise LoadFailed(f"the generators did not report when they began; {self._last_words()}")
                return
            if self._beside.kubelet:
                self._beside.kubelet.ask()
            if time.monotonic() > deadline:
                raise LoadFailed(f"the generators did not end within the planned time; {self._why()}")
            yield None
            time.sleep(LOOK_SECONDS)

    def _follower(self, pod: str) -> Program:
        return self._kubectl.start("logs", "--follow", pod, log=self._generator.workspace / f"{pod}.log")

    def _has_ended(self, runner: _Runner) -> bool:
        """Whether a runner has ended successfully. If only its log ended, the log is followed again from its beginning.

        Raises LoadFailed if the runner failed, or is silent because it is gone.
        """
        code = runner.following.exit_code()
        if code is None and time.monotonic() < runner.told + SILENT_SECONDS:
            return False
        runner.told = time.monotonic()
        with contextlib.suppress(KubectlFailed):
            now = self._kubectl.get("pods", "--selector", RUNNERS)["items"]
            if code == 0 and any(is_over(pod) for pod in now if pod["metadata"]["name"] == runner.pod):
                return True
            nodes = self._kubectl.get("nodes")["items"]
            lost = [each for each in faults(self._before, now, nodes) if runner.pod in each.message]
            if lost:
                raise LoadFailed(lost[0].message)
            if code is not None:
                runner.following.stop(0)
                runner.following, runner.place = self._follower(runner.pod), 0
        return False

    def _why(self) -> str:
        found = self._faults()
        return found[0].message if found else self._last_words()

    def _heard(self) -> list[Heard]:
        return [heard for runner in self._runners if (heard := runner.heard)]

    def _begun(self) -> list[Started]:
        """The starts of all generators by this machine's clock; empty until all have begun and compared clocks."""
        heard, meters = self._heard(), self._beside.meters
        if len(heard) < len(self._runners) or not all(each.answered(meters) for each in heard):
            return []
        return starts_here(heard, meters)

    def _read(self, runner: _Runner) -> Iterator[dict[str, Any]]:
        """The events in the new lines of a runner's log."""
        with runner.following.log.open("rb") as log:
            log.seek(runner.place)
            lines, _, _ = log.read().rpartition(b"\n")
        runner.place += len(lines) + bool(lines)
        if lines:
            runner.told = time.monotonic()
        for line in lines.splitlines():
            if line.startswith(EVENTS):
                with contextlib.suppress(ValueError):  # a line interrupted by another one
                    content = json.loads(line)
                    if isinstance(content, dict):
                        yield content

    def _last_words(self) -> str:
        said = [line for runner in self._runners for line in runner.following.log_tail().splitlines() if line.strip()]
        return f"their last output: {one_line(' | '.join(said[-3:]), 500)}" if said else "they printed nothing"


def _hear(runner: _Runner, content: dict[str, Any]) -> Second | None:
    """Record an event of a runner; returns a Second, moved to this machine's clock, for live views."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        if compared := parse_compared(content):
            runner.compared.append(compared)
            return None
        event = parse_event(content)
        if isinstance(event, Second):
            runner.spent[event.at] = int(content["cpu_us"]) / 1e6
            return replace(event, at=time.monotonic())
        if event:
            runner.started = runner.started or (event, time.monotonic())
    return None


def _stays(pod: manifests.Manifest) -> bool:
    """Whether a pod belongs to the whole trial: the operator's initializer and starter exit early."""
    labels = pod["metadata"].get("labels", {})
    return "app" in labels and (labels["app"] != "k6" or labels.get("runner") == "true")


def _why(pods: list[manifests.Manifest]) -> str:
    """The scheduler's message about a runner without a node."""
    conditions = [each for pod in pods for each in pod["status"].get("conditions", [])]
    said = [each["message"] for each in conditions if each["status"] == "False" and each.get("message")]
    return f": {one_line(said[0], 300)}" if said else ""


@contextlib.contextmanager
def playing_in(
    kubectl: Kubectl, generator: Generator, plan: LoadPlan, *, image: str, not_on: Sequence[str], beside: Beside
) -> Iterator[ClusterLoad]:
    """Have the operator run a load in a namespace; delete the load at the end of the block."""
    shutil.rmtree(generator.workspace, ignore_errors=True)
    generator.workspace.mkdir(parents=True)
    whole = plan.model_copy(update={"generators": generator.processes})
    scenario = generator.scenario.relative_to(generator.folder).as_posix()
    given = whole.model_dump_json(by_alias=True)
    asked = [meter.address for meter in beside.meters]
    objects = manifests.load(image, scenario, given, generator.processes, not_on=not_on, meters=asked)
    reach = [manifests.METER_PROGRAM, f"-reach={urlsplit(plan.url).netloc}"]
    objects.append(manifests.question(manifests.REACH, image, reach))
    running = ClusterLoad(kubectl, generator, plan, beside)
    try:
        kubectl.apply(objects)
        yield running
    except KubectlFailed as error:
        raise LoadFailed(f"the load does not start: {error}") from None
    finally:
        running.stop()
        with contextlib.suppress(KubectlFailed):
            kubectl.run("delete", "testrun", manifests.LOAD, "--ignore-not-found", "--wait=false")
