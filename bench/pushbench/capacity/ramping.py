"""The stages of a sweep: how its clients connect, and how long it takes. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pushbench.capacity.asked import Ask, Sweep
from pushbench.catalog.suites import Load
from pushbench.generator.load import planned_seconds
from pushbench.measuring.plan import DRAIN_SECONDS_USED
from pushbench.records.capacity import CLIENTS, Probe, Search
from pushbench.records.record import Schedule, StagePlan

OVERHEAD_SECONDS = 0.5  # to start k6, and to read its report
LEAD_IN_SECONDS = 0.1  # of a window that nothing reads: a stage has one


@dataclass(frozen=True)
class _Part:
    """One part of a slow ramp."""

    until: float
    """share of the load that is connected at its end"""
    slower: float
    """factor by which clients connect slower than in a fast ramp, or more"""
    least: float
    """its shortest length: seconds, or as many of the suite's shortest ramps if these are shorter than a second"""

    def seconds(self, search: Search, joining: int) -> float:
        return max(joining * self.slower / search.clients_per_second, self.least * min(search.ramp_seconds, 1.0))


PARTS = (_Part(0.85, 3.0, 4.0), _Part(0.95, 6.0, 2.0), _Part(1.0, 12.0, 2.0))
"""of a slow ramp: the nearer a server is to its edge, the less it has left for accepting clients"""
MANY = 0.2
"""share of the clients that join: with fewer, a ramp has one part"""
STEP_SLOWER = 6.0
"""factor by which these few connect slower than in a fast ramp"""
WHOLE_SLOWER = 3.0
"""factor by which a slow ramp is longer than a fast one where it cannot have parts"""


@dataclass(frozen=True)
class Step:
    """A stage of a sweep, and the load that it asks; None for the lead-in of the next load, which is not measured."""

    stage: StagePlan
    ask: Ask | None = None
    joined: int = 0


def steps_of(search: Search, sweep: Sweep) -> list[Step]:
    """The stages of a sweep, in the order of its loads."""
    steps: list[Step] = []
    for ask in sweep:
        before = steps[-1].stage.clients if steps else 0
        steps += _lead_ins(search, ask, before)
        connected = steps[-1].stage.clients if steps else 0
        steps.append(_step(search, ask, connected, slowly=connected > before))
    return steps


def load_of(base: Load, search: Search, sweep: Sweep) -> Load:
    """The load of a sweep. If a rate is searched, it sets the suite's parameter for the rate, so there is one load."""
    first = sweep[0]
    schedule = Schedule(
        warmup_seconds=search.warmup_seconds if first.first else 0.0,
        stages=[step.stage for step in steps_of(search, sweep)],
        drain_seconds=search.drain_seconds,
    )
    rate = {} if search.searched == CLIENTS else {search.searched: type(base.parameters[search.searched])(first.load)}
    return replace(base, schedule=schedule, parameters={**base.parameters, **rate})


def sweep_seconds(base: Load, search: Search, sweep: Sweep) -> float:
    """How long a sweep takes when the server keeps up, with the wait for what clients of a closed load have begun."""
    schedule = load_of(base, search, sweep).schedule
    saved = 0.0 if search.closed else schedule.drain_seconds - DRAIN_SECONDS_USED
    return planned_seconds(schedule) - saved + OVERHEAD_SECONDS


def was_slow(probe: Probe, search: Search) -> bool:
    """Whether the clients connected clearly slower than in a fast ramp, or some of them before it."""
    if probe.joined is not None and probe.joined < probe.clients:
        return True
    return probe.ramp_seconds > _ramp_seconds(search, probe.clients) * math.sqrt(WHOLE_SLOWER)


def _lead_ins(search: Search, ask: Ask, before: int) -> list[Step]:
    """The parts of a slow ramp before the last one, for a load that adds many clients to `before` others.

    The lead-in of the load connects fast. A rate is set for all stages together, so there are none if a rate is
    searched.
    """
    clients = search.clients(ask.load)
    if not ask.slowest or search.searched != CLIENTS or clients - before < MANY * clients:
        return []
    parts = [(ask.lead_in, ask.lead_in / search.clients_per_second)]
    connected = max(before, ask.lead_in)
    for part in PARTS[:-1]:
        until = int(clients * part.until)
        parts.append((until, part.seconds(search, until - connected)))
        connected = max(connected, until)
    steps: list[Step] = []
    for until, seconds in parts:
        whole = until // search.step * search.step
        if whole > (steps[-1].stage.clients if steps else before):
            stage = StagePlan(
                clients=whole,
                closed=search.closed,
                name=f"lead-in-{whole}",
                ramp_seconds=seconds,
                settle_seconds=0.0,
                steady_seconds=min(LEAD_IN_SECONDS, search.steady_seconds),
            )
            steps.append(Step(stage))
    return steps


def _step(search: Search, ask: Ask, connected: int, *, slowly: bool) -> Step:
    """The stage of a load. `slowly`: its ramp is the last part of a slow one."""
    clients = search.clients(ask.load)
    joined = clients - connected
    ramp = _ramp_seconds(search, joined)
    if ask.slow and (ask.far or not connected):
        ramp *= WHOLE_SLOWER
    elif slowly:
        ramp = max(search.ramp_seconds, PARTS[-1].seconds(search, joined))
    elif ask.slow:
        ramp = max(search.ramp_seconds, joined * STEP_SLOWER / search.clients_per_second)
    stage = StagePlan(
        clients=clients,
        closed=search.closed,
        name=f"closed-{clients}" if search.closed else str(clients),
        ramp_seconds=ramp,
        settle_seconds=search.settle_seconds,
        steady_seconds=search.hold_seconds if ask.hold else search.steady_seconds,
    )
    return Step(stage, ask, joined)


def _ramp_seconds(search: Search, clients: int) -> float:
    return max(search.ramp_seconds, clients / search.clients_per_second)
