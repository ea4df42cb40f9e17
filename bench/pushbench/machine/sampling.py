"""Samples of the machine during a load: at the borders of every stage's steady window, and each second.

A thread sleeps until absolute moments of the monotonic clock. It only takes samples; `results` evaluates them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pushbench.machine.disturbance import Machine, read_machine
from pushbench.machine.environment import CpuSplit
from pushbench.machine.instructions import Counter
from pushbench.machine.procfs import Stat, stats
from pushbench.machine.resources import Accounted, Parts, Usage, together


@dataclass(frozen=True)
class Sample:
    """One sample of the machine."""

    at: float
    server: Usage | None
    """None when the server has ended"""
    services: Usage | None
    """None also if the server needs no services"""
    generator: Usage | None
    machine: Machine | None
    """at borders only; also None there if nothing could be read"""
    instructions: float | None = None
    """of the server since the first sample; at borders, if the machine counts them"""
    parts: Mapping[str, Usage | None] = field(default_factory=dict)
    """the parts of the server, if it is a system"""
    traffic: tuple[int, int] | None = None
    """bytes that the server's pods have received and sent; None if the server has no network of its own"""
    border: bool = False
    """whether a window begins or ends there"""


@dataclass(frozen=True)
class Watched:
    """The programs and CPUs to sample."""

    server: Accounted
    services: Sequence[Accounted]
    generators: Sequence[Accounted]
    cpus: CpuSplit
    company: Sequence[Accounted] = ()
    """the programs of a trial at the same time"""
    restarted: bool = False
    """the server is killed and restarted meanwhile: counters of its instructions would miss the new process"""

    def count_instructions(self) -> Counter | None:
        return None if self.restarted else Counter.of(self.server.members(list(stats())))

    def look(self, *, border: bool, instructions: Counter | None = None) -> Sample:
        """Take one sample. Values that are slow to read, or useless in a series, are read at borders only."""
        at = time.monotonic()
        everyone = list(stats())
        machine = None
        if border:
            elsewhere = {os.getpid(), *_pids((*self.services, *self.generators), everyone)}
            own = elsewhere | _pids((self.server, *self.company), everyone)
            machine = read_machine(everyone, own, set() if self.cpus.shared else elsewhere, self.cpus)
        parts = self.server.usages(everyone, by_thread=border) if isinstance(self.server, Parts) else {}
        return Sample(
            at,
            together(parts.values()) if parts else self.server.usage(everyone, by_thread=border),
            together(service.usage(everyone) for service in self.services),
            together(generator.usage(everyone) for generator in self.generators),
            machine,
            instructions.read() if instructions and border else None,
            parts,
            border=border,
        )


def _pids(programs: Iterable[Accounted], everyone: Sequence[Stat]) -> set[int]:
    return {stat.pid for program in programs for stat in program.members(everyone)}


class Sampler(threading.Thread):
    """Takes samples at `borders` and at every whole second from `begin` to the last border, and passes each on."""

    def __init__(
        self, watched: Watched, begin: float, borders: Sequence[float], show: Callable[[Sample], None] = lambda _: None
    ) -> None:
        super().__init__(name="sampler", daemon=True)
        self._watched, self._show = watched, show
        self._enough = threading.Event()
        seconds = range(int(borders[-1] - begin) + 1)
        self._moments = sorted(
            {**{begin + second: False for second in seconds}, **dict.fromkeys(borders, True)}.items()
        )
        self.samples: list[Sample] = []

    def run(self) -> None:
        counter = self._watched.count_instructions()
        for moment, border in self._moments:
            if self._enough.wait(max(0.0, moment - time.monotonic())):
                break
            self.samples.append(self._watched.look(border=border, instructions=counter))
            self._show(self.samples[-1])
        if counter:
            counter.close()

    def stop(self) -> list[Sample]:
        """Stop, and return the samples taken so far."""
        self._enough.set()
        self.join()
        return self.samples
