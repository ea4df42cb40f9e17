"""A run that can be watched: streams what the dashboards show to VictoriaMetrics, once a second during the run.

k6 writes the load itself (remote write). This module has its arguments, the resources from the sampler's samples, the
stage marks and the limits. They are only for display: records and verdicts do not use this module.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from pushbench.judging.thresholds import Thresholds
from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample
from pushbench.records.record import PlannedTrial, Record
from pushbench.watching.bounds import limits_of
from pushbench.watching.live_endpoint import Endpoint, Writer

Windows = Sequence[tuple[float, float]]
Value = tuple[str, Mapping[str, str], float]
"""name, labels, value"""


class Feed:
    """The stream of one trial. This class sends nothing."""

    k6_arguments: Sequence[str] = ()
    k6_environment: Mapping[str, str] = {}

    def begin(self, windows: Windows) -> None:
        """Take the steady windows of a load that has started."""

    def sample(self, sample: Sample) -> None:
        """Take a sample of the machine. The sampler's thread calls this, so it must not wait."""


class Live(Protocol):
    def trial(self, planned: PlannedTrial) -> contextlib.AbstractContextManager[Feed]: ...


class NotLive:
    """No stream."""

    @contextlib.contextmanager
    def trial(self, planned: PlannedTrial) -> Iterator[Feed]:
        yield Feed()


class Stream:
    """The stream of the run that makes `record`, with the limits of its servers."""

    def __init__(self, url: str, record: Record, thresholds: Thresholds, note: Callable[[str], None]) -> None:
        self._endpoint, self._record, self._thresholds, self._note = Endpoint.parse(url), record, thresholds, note
        self._told = False

    @contextlib.contextmanager
    def trial(self, planned: PlannedTrial) -> Iterator[Feed]:
        writer = Writer(self._endpoint, self._failed)  # its thread inherits the CPUs of this one
        writer.start()
        try:
            yield StreamedTrial(self._endpoint, writer.put, self._record, planned, self._thresholds)
        finally:
            writer.close()

    def _failed(self, reason: str) -> None:
        if not self._told:
            self._told = True
            self._note(f"live: {self._endpoint} does not answer ({reason}); measuring continues without it")


def open_stream(url: str | None, record: Record, thresholds: Thresholds, note: Callable[[str], None]) -> Live:
    return NotLive() if url is None else Stream(url, record, thresholds, note)


class StreamedTrial(Feed):
    """A feed of a trial. All its series have the labels run and server; stage marks also have the stage's name."""

    def __init__(
        self,
        endpoint: Endpoint,
        put: Callable[[str], None],
        record: Record,
        planned: PlannedTrial,
        thresholds: Thresholds,
    ) -> None:
        self._put = put
        self._identity = {"run": record.id, "server": _label(planned)}
        self._stages = record.schedule.stages
        shown = ("loss_ratio", f"{record.words.headline_latency}_seconds.p95")
        limits = [limits_of(thresholds, record, planned.server, each.name) for each in self._stages]
        self._limits = [{metric: each[metric].value for metric in shown if metric in each} for each in limits]
        environment = record.environment
        self._cpus = {"server": len(environment.server_cpus), "generator": len(environment.generator_cpus)}
        self._windows: Windows = ()
        tags = [f"--tag={name}={value}" for name, value in self._identity.items()]
        self.k6_arguments = ["--out=experimental-prometheus-rw", *tags]
        self.k6_environment = {
            "K6_PROMETHEUS_RW_SERVER_URL": endpoint.remote_write,
            "K6_PROMETHEUS_RW_PUSH_INTERVAL": "1s",
            "K6_PROMETHEUS_RW_TREND_STATS": "med,p(95),p(99),max",  # of k6's own Trends; k6/x/push has none
        }

    def begin(self, windows: Windows) -> None:
        self._windows = windows

    def sample(self, sample: Sample) -> None:
        milliseconds = round((time.time() - (time.monotonic() - sample.at)) * 1000)
        programs = {"server": sample.server, "services": sample.services, "generator": sample.generator}
        lines = [
            line(name, labels, value, milliseconds)
            for name, labels, value in [*self._marks(sample.at), *self._resources(programs)]
        ]
        self._put("".join(lines))

    def _marks(self, at: float) -> Iterator[Value]:
        """The marks of a stage. A ramp belongs to the stage that it leads to; the time after the last window belongs to
        the last stage."""
        ended = sum(1 for _, end in self._windows if end <= at)
        index = min(ended, len(self._stages) - 1)
        measured = ended == index and self._windows[index][0] <= at
        labels = {**self._identity, "stage": self._stages[index].name}
        yield "pushbench_stage_clients", labels, self._stages[index].clients
        yield "pushbench_stage_measured", labels, int(measured)
        for metric, value in self._limits[index].items():
            yield "pushbench_limit", {**self._identity, "metric": metric}, value

    def _resources(self, programs: Mapping[str, Usage | None]) -> Iterator[Value]:
        """The resources of the programs that are there."""
        for program, usage in programs.items():
            if usage:
                labels = {**self._identity, "program": program}
                yield "pushbench_cpu_seconds_total", labels, usage.cpu_seconds
                yield "pushbench_memory_bytes", labels, usage.memory_bytes
                if usage.threads is not None:
                    yield "pushbench_threads", labels, usage.threads
                if program in self._cpus:
                    yield "pushbench_cpus", labels, self._cpus[program]


def _label(planned: PlannedTrial) -> str:
    return planned.server if planned.arm == "head" else f"{planned.server} ({planned.arm})"


def line(name: str, labels: Mapping[str, str], value: float, milliseconds: int) -> str:
    """One sample in Prometheus' text format."""
    pairs = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{pairs}}} {value!r} {milliseconds}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
