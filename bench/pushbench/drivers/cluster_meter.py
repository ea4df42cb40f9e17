"""The readings of a meter beside a server in its pod, and samples computed from them. Pure.

`k6/cmd/meter` prints ten readings per second. A sample between two readings is interpolated.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import Field, ValidationError

from pushbench.foundation.model import Document
from pushbench.generator.events import Started
from pushbench.machine.disturbance import Machine
from pushbench.machine.resources import Usage, together
from pushbench.machine.sampling import Sample

GAP_MOST = 1.0
"""seconds between two readings: a longer gap is not interpolated"""
BEGIN = '{"meter_at":'


class Used(Document):
    """The usage of the server's processes; times in microseconds."""

    cpu: int = Field(ge=0)
    user: int = Field(ge=0)
    system: int = Field(ge=0)
    memory_bytes: int = Field(ge=0)
    threads: int = Field(ge=0)
    processes: int = Field(ge=0)
    switches: int | None = Field(None, ge=0)
    throttled: int | None = Field(None, ge=0)


class Reading(Document):
    """One line of the meter's output."""

    meter_at: int = Field(
        gt=0, description="time of the reading, in microseconds of CLOCK_MONOTONIC on the server's node"
    )
    realtime: int
    server: Used | None
    received_bytes: int = Field(ge=0)
    sent_bytes: int = Field(ge=0)
    steal: int = Field(ge=0)
    swapped_bytes: int = Field(ge=0)
    clients: int | None = Field(
        None, ge=0, description="clients connected to the server; null in readings that do not count them"
    )

    @property
    def at(self) -> float:
        return self.meter_at / 1e6


def readings_in(log: str) -> list[Reading]:
    """The readings of a log, in order; other lines and a truncated line are left out."""
    found = []
    for line in log.splitlines():
        if line.startswith(BEGIN):
            try:
                found.append(Reading.model_validate(json.loads(line)))
            except (json.JSONDecodeError, ValidationError):
                continue
    return sorted(found, key=lambda reading: reading.meter_at)


@dataclass(frozen=True)
class Metered:
    """The readings of one meter, and the start of the load by its clock."""

    readings: Sequence[Reading]
    started: Started
    quota_cores: float
    """CPUs that the server may use"""

    def around(self, seconds: float) -> tuple[Reading, Reading, float] | None:
        """The readings around a moment of the load, and the moment's position between them as a fraction; or None."""
        moment = self.started.at + seconds
        place = bisect_right(self.readings, moment, key=lambda reading: reading.at)
        if not 0 < place < len(self.readings):
            return None
        before, after = self.readings[place - 1], self.readings[place]
        apart = after.at - before.at
        return None if apart > GAP_MOST else (before, after, (moment - before.at) / apart)

    def usage(self, seconds: float, at: float) -> Usage | None:
        found = self.around(seconds)
        if found is None or found[0].server is None or found[1].server is None:
            return None
        one, other, part = found[0].server, found[1].server, found[2]
        known = one.throttled is not None and other.throttled is not None
        return Usage(
            at=at,
            cpu_seconds=_between(one.cpu, other.cpu, part) / 1e6,
            user_seconds=_between(one.user, other.user, part) / 1e6,
            system_seconds=_between(one.system, other.system, part) / 1e6,
            memory_bytes=one.memory_bytes,
            threads=one.threads,
            processes=one.processes,
            context_switches=self._switches(seconds),
            throttled_seconds=_between(one.throttled or 0, other.throttled or 0, part) / 1e6 if known else None,
            quota_cores=self.quota_cores,
        )

    def clients(self, window: tuple[float, float]) -> int | None:
        """The number of connected clients when they were last counted in a window of the load."""
        begin, end = (self.started.at + seconds for seconds in window)
        counted = [each.clients for each in self.readings if begin <= each.at <= end and each.clients is not None]
        return counted[-1] if counted else None

    def _switches(self, seconds: float) -> dict[int, int]:
        """The context switches of all threads, as if there were one thread."""
        counted = [each for each in self.readings if each.server and each.server.switches is not None]
        moment = self.started.at + seconds
        place = bisect_right(counted, moment, key=lambda reading: reading.at)
        if not 0 < place < len(counted):
            return {}
        before, after = counted[place - 1], counted[place]
        assert before.server and after.server
        part = (moment - before.at) / (after.at - before.at)
        return {0: round(_between(before.server.switches or 0, after.server.switches or 0, part))}


class Spender(Protocol):
    """A program whose usage during a load is known."""

    def usage(self, seconds: float, at: float) -> Usage | None:
        """The usage at a moment of the load, which is `at` by the clock of the samples; None if it is unknown."""
        ...


def samples_of(
    meters: Sequence[Metered],
    told: Started,
    *,
    servers: Sequence[Spender] = (),
    services: Sequence[Spender] = (),
    generators: Sequence[Spender] = (),
) -> list[Sample]:
    """The samples that a sampler beside the server would have taken: each second, and at the borders of all windows.

    `told` is the start of the load by the clock of the samples. `servers` replace the meters where there are none.
    """
    borders = {moment - told.at for window in told.windows for moment in window}
    moments = sorted({*borders, *range(int(max(borders)) + 1)})
    samples = [_sample(meters, moment, told.at + moment, border=moment in borders) for moment in moments]
    return [
        replace(
            sample,
            server=together(each.usage(moment, sample.at) for each in servers or meters),
            services=together(each.usage(moment, sample.at) for each in services),
            generator=together(each.usage(moment, sample.at) for each in generators),
        )
        for moment, sample in zip(moments, samples, strict=True)
    ]


def unread(meters: Sequence[Metered], told: Started) -> int:
    """The number of window borders for which some meter has no reading."""
    borders = [moment - told.at for window in told.windows for moment in window]
    return sum(any(meter.around(border) is None for meter in meters) for border in borders)


def _sample(meters: Sequence[Metered], seconds: float, at: float, *, border: bool) -> Sample:
    around = [meter.around(seconds) for meter in meters]
    known = [each for each in around if each]
    whole = bool(meters) and len(known) == len(meters)
    traffic = None
    if whole:
        received = sum(_between(one.received_bytes, other.received_bytes, part) for one, other, part in known)
        sent = sum(_between(one.sent_bytes, other.sent_bytes, part) for one, other, part in known)
        traffic = round(received), round(sent)
    return Sample(
        at=at,
        server=None,
        services=None,
        generator=None,
        machine=_machine(known, at) if border and whole else None,
        traffic=traffic,
        border=border,
    )


def _machine(around: Sequence[tuple[Reading, Reading, float]], at: float) -> Machine:
    """Counters of the nodes; of several meters on one node, the highest values, which are nearly the same."""
    one = [before for before, _, _ in around]
    return Machine(
        at=at,
        steal_seconds=max(_between(before.steal, after.steal, part) for before, after, part in around) / 1e6,
        idle_seconds=0.0,
        taken_seconds=0.0,
        own_seconds=0.0,
        swapped_bytes=max(each.swapped_bytes for each in one),
        throttled=0,
        clock_offset_seconds=one[0].realtime / 1e6,
        frequency_hz=None,
        others={},
        memory_threads={},
    )


def _between(one: float, other: float, part: float) -> float:
    return one + (other - one) * part
