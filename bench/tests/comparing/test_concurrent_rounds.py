"""As many rounds run at the same time as fit on the machine."""

from __future__ import annotations

import pytest

from pushbench.comparing.concurrent_rounds import MOST, rounds_that_fit
from pushbench.records.record import Failure, Trial
from pushbench.records.seconds import Resources
from tests.factories import ENVIRONMENT, make_stage, make_trial

MACHINE = ENVIRONMENT.model_copy(
    update={"server_cpus": [0, 1], "generator_cpus": [2, 3], "memory_bytes": 16_000_000_000}
)


def pair(
    servers: float = 0.1, generators: float = 0.1, services: float | None = None, memory: float = 1e8
) -> list[Trial]:
    """A round whose arms need this many cores and bytes each."""
    used = {
        "cpu_cores": servers,
        "generator_cpu_cores": generators,
        "services_cpu_cores": services,
        "memory_bytes.peak": memory,
    }
    return [make_trial("node-ws", 1, arm=arm, results=[make_stage(260, used)]) for arm in ("base", "head")]


@pytest.mark.parametrize(
    ("trials", "fit"),
    [
        (pair(), MOST),
        (pair(servers=0.19), 3),
        (pair(servers=0.21), 2),
        (pair(servers=0.7), 1),
        (pair(generators=0.21), 2),
        (pair(services=0.11), 2),
        (pair(memory=1.4e9), 2),
        (pair(memory=9e9), 1),
    ],
)
def test_the_scarcest_resource_says_how_many_fit(trials: list[Trial], fit: int) -> None:
    assert rounds_that_fit(trials, MACHINE) == fit


def started(trials: list[Trial], *cores: float | None) -> list[Trial]:
    """The trials with the cores that each used in each second."""
    seconds = list(cores)
    nothing = [None] * len(seconds)
    resources = Resources(
        seconds=[float(each) for each in range(len(seconds))],
        cpu_cores=seconds,
        memory_bytes=nothing,
        threads=nothing,
        services_cpu_cores=nothing,
        generator_cpu_cores=nothing,
    )
    return [trial.model_copy(update={"resources": resources}) for trial in trials]


@pytest.mark.parametrize(
    ("cores", "fit"), [((None, 0.2, 0.1), MOST), ((0.44, 0.1, 0.1), 2), ((0.1, 0.46, 0.1), 1), ((), MOST)]
)
def test_the_busiest_second_has_room_too(cores: tuple[float | None, ...], fit: int) -> None:
    """Servers that need all CPUs until they are warm would delay each other's clients."""
    assert rounds_that_fit(started(pair(), *cores), MACHINE) == fit


def test_rounds_at_the_same_time_say_the_same_as_one() -> None:
    several = [trial.model_copy(update={"round": number}) for number in (2, 3) for trial in pair(servers=0.21)]
    assert rounds_that_fit(several, MACHINE) == 2


def test_one_round_where_nobody_knows_what_it_takes() -> None:
    assert rounds_that_fit([], MACHINE) == 1
    [base, head] = pair()
    invalid = head.model_copy(update={"validity": head.validity.model_copy(update={"valid": False})})
    assert rounds_that_fit([base, invalid], MACHINE) == 1
    assert rounds_that_fit([base, head.model_copy(update={"stages": []})], MACHINE) == 1
    failure = Failure(step="load", message="the server ended under load")
    assert rounds_that_fit([base, head.model_copy(update={"failure": failure})], MACHINE) == 1
