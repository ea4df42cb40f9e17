"""Probes: loads on a running server, and their answers. A sweep is played as a profile with a stage for each load."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pushbench.capacity.answering import Asking, answer_of
from pushbench.capacity.asked import Asked, Sweep
from pushbench.capacity.overload import Overload, watched
from pushbench.capacity.ramping import Step, load_of, steps_of, was_slow
from pushbench.drivers.driver import Build, Instance
from pushbench.machine.resources import together
from pushbench.measuring.preparation import Prepared
from pushbench.measuring.trial import Bench, Cutoff, run_load
from pushbench.records.capacity import Probe, Search
from pushbench.records.environment import Environment
from pushbench.records.record import PlannedTrial, Trial
from pushbench.records.vocabulary import Vocabulary
from pushbench.watching.progress import LoadWatch

ERRORS_KEPT = 5
REST_SECONDS = 10.0  # the longest wait for work that a load left behind in the server
REST_LOOK_SECONDS = 0.25
RESTING = 0.10  # of a core


@dataclass(frozen=True)
class Probing:
    """What all probes of a start have in common; the load of `bench` has no schedule."""

    bench: Bench
    prepared: Prepared
    search: Search
    asking: Asking
    planned: PlannedTrial

    def play(self, instance: Instance, sweep: Sweep, watch: LoadWatch) -> list[Probe]:
        """Play the loads of a sweep, at most until one of them is not carried, as far as that shows in time."""
        assert isinstance(self.prepared.result, Build), "what cannot be started is not asked"
        load = load_of(self.bench.load, self.search, sweep)
        overload = Overload(watch, load.schedule, watched(self.asking.limits, self.asking.words))
        began = time.monotonic()
        trial = run_load(
            replace(self.bench, load=load),
            self.planned,
            self.prepared.server,
            self.prepared.result,
            instance=instance,
            watch=overload,
            cutoff=Cutoff(overload.limits, lambda: overload.found),
        )
        probes = probes_of(trial, steps_of(self.search, sweep), self.asking)
        earlier = sum(probe.seconds for probe in probes[:-1])
        last = {
            "errors": sorted(trial.errors, key=lambda each: -each.count)[:ERRORS_KEPT],
            "seconds": round(time.monotonic() - began - earlier, 3),
        }
        return [*probes[:-1], probes[-1].model_copy(update=last)]


def probes_of(trial: Trial, steps: Sequence[Step], asking: Asking) -> list[Probe]:
    """The probes of a sweep, as far as it was played: `Overload` may end it after a load that was carried after all.

    They end with the first load that was refused: the larger ones begin with its queue. An unsettled load was refused
    if the next one is not carried: its queue kept growing. Clients that connected too fast refuse nothing, so what the
    server carries beyond them counts. Each probe but the last one takes until the end of its window.
    """
    probes: list[Probe] = []
    before = 0.0
    for index, step in enumerate(steps):
        if step.ask is None:
            continue
        played = trial.stages[index] if index < len(trial.stages) else None
        if played is None and probes:
            break
        answered = answer_of(trial, index, asking, slow=step.ask.slowest, hold=step.ask.hold)
        if probes and probes[-1].answer == "unsettled" and answered.answer in ("broken", "unsettled"):
            probes[-1] = probes[-1].model_copy(update={"answer": "broken"})
            break
        if answered.answer != "carried" and any(each.answer == "connecting" for each in probes):
            break
        ends = played.end_seconds if played else before
        probes.append(
            Probe(
                load=step.ask.load,
                clients=step.stage.clients,
                joined=step.joined,
                hold=step.ask.hold,
                ramp_seconds=step.stage.ramp_seconds,
                answer=answered.answer,
                broken=answered.broken,
                findings=answered.findings,
                failure=trial.failure if answered.failed else None,
                metrics=played.metrics if played else {},
                seconds=round(ends - before, 3),
            )
        )
        if answered.answer not in ("carried", "connecting", "unsettled"):
            break
        before = ends
    return probes


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


def rest(instance: Instance) -> None:
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
