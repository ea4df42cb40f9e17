"""How many rounds of a comparison are played at the same time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.records.environment import Environment
from pushbench.records.record import Trial

MOST = 3
"""rounds: with four, the p95 of latencies varies three times as much as with one (docs/comparison.md)"""
CPU_SHARE = 0.6
"""of the CPUs that all servers share, and of those of all generators and services; above 0.8 trials are invalid"""
BUSIEST_SHARE = 0.9
"""of the CPUs that all servers share, in their busiest second: four JVMs starting on one CPU make clients wait for six
seconds (docs/comparison.md)"""
MEMORY_SHARE = 0.5
"""of the machine's memory"""


def rounds_that_fit(trials: Sequence[Trial], environment: Environment) -> int:
    """How many rounds like those of `trials`, which ran at the same time, the machine plays at once.

    1 if a trial failed, is not valid or was not measured.
    """
    if not trials or not all(trial.validity.valid and trial.stages and not trial.failure for trial in trials):
        return 1
    servers = _most(trials, "cpu_cores") / len(environment.server_cpus)
    others = (_most(trials, "generator_cpu_cores") + _most(trials, "services_cpu_cores")) / environment.generator_cores
    memory = _most(trials, "memory_bytes.peak") / environment.memory_bytes
    busiest = _busiest(trials) / len(environment.server_cpus)
    shares = [(servers, CPU_SHARE), (busiest, BUSIEST_SHARE), (others, CPU_SHARE), (memory, MEMORY_SHARE)]
    return max(1, min(MOST, *(int(allowed / share) for share, allowed in shares if share > 0)))


def _most(trials: Sequence[Trial], metric: str) -> float:
    """What the trials of a round used in their largest stages, on average; 0 for what is not metered."""
    used = sum(max(stage.metrics.get(metric) or 0.0 for stage in trial.stages) for trial in trials)
    return used / len({trial.round for trial in trials})


def _busiest(trials: Sequence[Trial]) -> float:
    """CPUs that the trials of a round used, each in its busiest second, on average; 0 for what is not metered."""
    cores = [trial.resources.cpu_cores for trial in trials if trial.resources]
    used = sum(max((each or 0.0 for each in seconds), default=0.0) for seconds in cores)
    return used / len({trial.round for trial in trials})
