"""One probe: a load on a running server, and its answer. The load is a profile of one stage, made for the probe."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from pushbench.catalog.suites import Load
from pushbench.drivers.driver import Build, Instance
from pushbench.generator.load import planned_seconds
from pushbench.machine.resources import together
from pushbench.measuring.answering import Asking, answer
from pushbench.measuring.asked import Ask, Asked
from pushbench.measuring.plan import DRAIN_SECONDS_USED
from pushbench.measuring.preparation import Prepared
from pushbench.measuring.progress import LoadWatch
from pushbench.measuring.searching import SLOW_RAMP
from pushbench.measuring.trial import Bench, run_load
from pushbench.records.capacity import CLIENTS, Probe, Search
from pushbench.records.environment import Environment
from pushbench.records.record import PlannedTrial, Schedule, StagePlan
from pushbench.records.vocabulary import Vocabulary

OVERHEAD_SECONDS = 0.5  # to start k6, and to read its report
ERRORS_KEPT = 5
REST_SECONDS = 10.0  # the longest wait for work that a load left behind in the server
REST_LOOK_SECONDS = 0.25
RESTING = 0.10  # of a core


def load_of(base: Load, search: Search, ask: Ask) -> Load:
    """The load of a probe. If a rate is searched, it sets the suite's parameter for the rate."""
    clients = search.clients(ask.load)
    ramp = _ramp_seconds(search, clients) * (SLOW_RAMP if ask.slow else 1.0)
    stage = StagePlan(
        clients=clients,
        closed=search.closed,
        name=f"closed-{clients}" if search.closed else str(clients),
        ramp_seconds=ramp,
        settle_seconds=search.settle_seconds,
        steady_seconds=search.hold_seconds if ask.hold else search.steady_seconds,
    )
    schedule = Schedule(
        warmup_seconds=search.warmup_seconds if ask.first else 0.0, stages=[stage], drain_seconds=search.drain_seconds
    )
    rate = {} if search.searched == CLIENTS else {search.searched: type(base.parameters[search.searched])(ask.load)}
    return replace(base, schedule=schedule, parameters={**base.parameters, **rate})


def probe_seconds(base: Load, search: Search, ask: Ask) -> float:
    """How long a probe takes when the server keeps up, with the wait for what clients of a closed load have begun."""
    schedule = load_of(base, search, ask).schedule
    saved = 0.0 if search.closed else schedule.drain_seconds - DRAIN_SECONDS_USED
    return planned_seconds(schedule) - saved + OVERHEAD_SECONDS


@dataclass(frozen=True)
class Probing:
    """What all probes of a start have in common; the load of `bench` has no schedule."""

    bench: Bench
    prepared: Prepared
    search: Search
    asking: Asking
    planned: PlannedTrial

    def probe(self, instance: Instance, ask: Ask, watch: LoadWatch) -> Probe:
        """Play the load that is asked. A server that did not carry it gets time to rest."""
        assert isinstance(self.prepared.result, Build), "what cannot be started is not asked"
        load = load_of(self.bench.load, self.search, ask)
        began = time.monotonic()
        trial = run_load(
            replace(self.bench, load=load),
            self.planned,
            self.prepared.server,
            self.prepared.result,
            instance=instance,
            watch=watch,
        )
        found, broken = answer(trial, self.asking, slow=ask.slow)
        if found != "carried" and not trial.failure:
            _rest(instance)
        stage = load.schedule.stages[0]
        return Probe(
            load=ask.load,
            clients=stage.clients,
            hold=ask.hold,
            ramp_seconds=stage.ramp_seconds,
            answer=found,
            broken=broken,
            findings=trial.validity.reasons,
            failure=trial.failure,
            metrics=trial.stages[0].metrics if trial.stages else {},
            errors=sorted(trial.errors, key=lambda each: -each.count)[:ERRORS_KEPT],
            seconds=round(time.monotonic() - began, 3),
        )


def asked_of(probe: Probe, search: Search, environment: Environment, words: Vocabulary) -> Asked:
    """What the search needs to know of a probe."""
    used, compiled = used_share(probe, environment), _compiled_share(probe, words)
    return Asked(probe.load, probe.hold, probe.answer, used, was_slow(probe, search), compiled)


def used_share(probe: Probe, environment: Environment) -> float | None:
    """The share of its own CPUs that the server used, or its services of theirs, whichever is larger."""
    own, services = (probe.metrics.get(name) for name in ("cpu_cores", "services_cpu_cores"))
    if own is None:
        return None
    return max(own / len(environment.server_cpus), (services or 0.0) / len(environment.generator_cpus))


def _compiled_share(probe: Probe, words: Vocabulary) -> float | None:
    """The share of the server's CPU time that its compilers used. None if that is not known, and for a server that
    failed: no compiler is to blame."""
    per = f"cpu_seconds_per_{words.work.name}"
    whole, compilers = probe.metrics.get(per), probe.metrics.get(f"compilers_{per}")
    if probe.failure or not whole or compilers is None:
        return None
    return compilers / whole


def was_slow(probe: Probe, search: Search) -> bool:
    """Whether the probe had the longer ramp."""
    return probe.ramp_seconds > _ramp_seconds(search, probe.clients) * math.sqrt(SLOW_RAMP)


def _ramp_seconds(search: Search, clients: int) -> float:
    return max(search.ramp_seconds, clients / search.clients_per_second)


def _rest(instance: Instance) -> None:
    """Wait until the server and its services have finished the work of this load; the next probe would pay for it."""
    ends = time.monotonic() + REST_SECONDS
    programs = [instance.tree, *(service.tree for service in instance.services)]
    before = together(program.usage() for program in programs)
    while before and time.monotonic() < ends:
        time.sleep(REST_LOOK_SECONDS)
        now = together(program.usage() for program in programs)
        if now is None or now.cpu_seconds - before.cpu_seconds < RESTING * (now.at - before.at):
            return
        before = now
