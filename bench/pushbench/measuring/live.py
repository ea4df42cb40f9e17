"""A run that can be watched: what the dashboards show, streamed into VictoriaMetrics once a second while it measures.

k6 writes the load by itself (remote write); here are its arguments, the resources from the sampler's samples, and the
stage marks. For the eye only: records and verdicts do not know this module.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample
from pushbench.measuring.live_endpoint import Endpoint, Writer
from pushbench.records.record import Schedule

Windows = Sequence[tuple[float, float]]
Value = tuple[str, Mapping[str, str], float]
"""name, labels, value"""


class Feed:
    """One trial as it is streamed. This one goes nowhere."""

    k6_arguments: Sequence[str] = ()
    k6_environment: Mapping[str, str] = {}

    def begin(self, windows: Windows) -> None:
        """The load has started, and these are its steady windows."""

    def sample(self, sample: Sample) -> None:
        """A look at the machine; comes from the sampler's thread and must not wait."""


class Live(Protocol):
    def trial(self, server: str, schedule: Schedule) -> contextlib.AbstractContextManager[Feed]: ...


class NotLive:
    """Nobody watches."""

    @contextlib.contextmanager
    def trial(self, server: str, schedule: Schedule) -> Iterator[Feed]:
        yield Feed()


class Stream:
    """The stream of the run with that id."""

    def __init__(self, url: str, run: str, note: Callable[[str], None]) -> None:
        self._endpoint, self._run, self._note = Endpoint.parse(url), run, note
        self._told = False

    @contextlib.contextmanager
    def trial(self, server: str, schedule: Schedule) -> Iterator[Feed]:
        writer = Writer(self._endpoint, self._failed)  # its thread gets the CPUs of the one that starts it
        writer.start()
        try:
            yield StreamedTrial(self._endpoint, writer.put, self._run, server, schedule)
        finally:
            writer.close()

    def _failed(self, reason: str) -> None:
        if not self._told:
            self._told = True
            self._note(f"live: {self._endpoint} does not answer ({reason}); measuring goes on without it")


def open_stream(url: str | None, run: str, note: Callable[[str], None]) -> Live:
    return NotLive() if url is None else Stream(url, run, note)


class StreamedTrial(Feed):
    """Everything has the labels run and server; the stage marks also the stage, by its name."""

    def __init__(
        self, endpoint: Endpoint, put: Callable[[str], None], run: str, server: str, schedule: Schedule
    ) -> None:
        self._put = put
        self._identity = {"run": run, "server": server}
        self._stages = schedule.stages
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
        """A ramp belongs to the stage that it leads to, what comes after the last window to the last one."""
        ended = sum(1 for _, end in self._windows if end <= at)
        index = min(ended, len(self._stages) - 1)
        measured = ended == index and self._windows[index][0] <= at
        labels = {**self._identity, "stage": self._stages[index].name}
        yield "pushbench_stage_clients", labels, self._stages[index].clients
        yield "pushbench_stage_measured", labels, int(measured)

    def _resources(self, programs: Mapping[str, Usage | None]) -> Iterator[Value]:
        """Nothing of a program that is not there."""
        for program, usage in programs.items():
            if usage:
                labels = {**self._identity, "program": program}
                yield "pushbench_cpu_seconds_total", labels, usage.cpu_seconds
                yield "pushbench_memory_bytes", labels, usage.memory_bytes
                yield "pushbench_threads", labels, usage.threads


def line(name: str, labels: Mapping[str, str], value: float, milliseconds: int) -> str:
    """One sample in Prometheus' text format."""
    pairs = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{pairs}}} {value!r} {milliseconds}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
