"""An outage of the profile happens at its time and ends; what a server does not have is reported, not killed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Composed, Process, ServerSpec
from pushbench.drivers.workers import NotKilled
from pushbench.generator.events import Started
from pushbench.generator.load import LoadFailed
from pushbench.measuring.outages import Outages, schedule_for, stopping
from pushbench.records.load_report import Kill
from pushbench.records.record import Outage, Schedule, StagePlan

SPEC = ServerSpec(
    title="Any",
    link="https://example.org",
    language="Any",
    suite="any",
    protocol="any",
    tier="baseline",
    process=Process(toolchains={}, start=["any"]),
)
SCALED = SPEC.model_copy(update={"supervises_workers": True, "services": ["redis"]})
SYSTEM = SPEC.model_copy(update={"process": None, "compose": Composed(entry="proxy", port=80)})
KILLS: tuple[Kill, ...] = ("server", "worker", "service")


def schedule(*kills: Kill | None, down: float = 0.0) -> Schedule:
    stages = [
        StagePlan(
            clients=1,
            name=f"stage-{index}",
            ramp_seconds=0,
            settle_seconds=0,
            steady_seconds=9,
            outage=kill and Outage.model_construct(kill=kill, at_seconds=0.1, down_seconds=down, within_seconds=5),
        )
        for index, kill in enumerate(kills)
    ]
    return Schedule(warmup_seconds=0, stages=stages, drain_seconds=1)


class Notes:
    """An instance that is also its only service, and records what is done to it."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.done: list[tuple[str, float]] = []
        self._fault = fault
        self.services = [self]

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        self.done.append(("down", time.monotonic()))
        yield
        if self._fault:
            raise self._fault
        self.done.append(("up", time.monotonic()))

    def kill_worker(self) -> None:
        if self._fault:
            raise self._fault
        self.done.append(("worker", time.monotonic()))

    @property
    def words(self) -> list[str]:
        return [word for word, _ in self.done]


def begun(instance: Any, planned: Schedule, apart: float = 0.3) -> tuple[Outages, float]:
    now = time.monotonic()
    windows = [(now + apart * index, now + apart * (index + 1)) for index in range(len(planned.stages))]
    outages = Outages(instance, planned, Started(now, windows, windows[-1][1]))
    outages.start()
    return outages, now


@pytest.mark.parametrize(
    ("spec", "workers", "killed", "lacks"),
    [
        (SPEC, 2, ["server"], ["no workers that it supervises", "no service"]),
        (SCALED, 1, ["server", "service"], ["a single worker"]),
        (SCALED, 2, ["server", "worker", "service"], []),
        (
            SYSTEM,
            2,
            ["server"],
            ["several containers, and no worker beside them", "several containers, and no service beside them"],
        ),
    ],
)
def test_what_a_server_does_not_have_is_not_killed_and_said(
    spec: ServerSpec, workers: int, killed: list[str], lacks: list[str]
) -> None:
    played, findings = schedule_for(schedule(*KILLS), spec, workers)
    assert [stage.outage.kill for stage in played.stages if stage.outage] == killed
    assert [stage.name for stage in played.stages] == ["stage-0", "stage-1", "stage-2"]
    assert [finding.message.partition("because the server has ")[2] for finding in findings] == lacks
    assert {finding.code for finding in findings} <= {"no_outage"}


@pytest.mark.timed
def test_each_is_killed_at_its_moment_and_stays_down_for_its_time() -> None:
    notes = Notes()
    outages, began = begun(notes, schedule("server", None, "worker", down=0.15))
    time.sleep(0.9)
    kills = outages.stop()
    assert notes.words == ["down", "up", "worker"]
    assert set(kills) == {0, 2}
    assert [kills[stage] - began for stage in (0, 2)] == pytest.approx([0.1, 0.7], abs=0.08)
    (_, down), (_, up), _ = notes.done
    assert up - down == pytest.approx(0.15, abs=0.08)


def test_a_load_that_ends_leaves_nothing_down_and_kills_nothing_more() -> None:
    notes = Notes()
    outages, _ = begun(notes, schedule("service", "worker", down=30))
    time.sleep(0.2)
    began = time.monotonic()
    with stopping([outages]):
        pass
    assert time.monotonic() - began < 20
    assert notes.words == ["down", "up"]


def test_a_server_that_cannot_be_started_again_has_failed() -> None:
    outages, _ = begun(Notes(ServerFailed("load", "no")), schedule("server"))
    time.sleep(0.2)
    with pytest.raises(ServerFailed, match="no"):
        outages.stop()


def test_a_worker_that_cannot_be_killed_is_no_failure_of_the_server() -> None:
    outages, _ = begun(Notes(NotKilled("no worker was killed")), schedule("worker"))
    time.sleep(0.2)
    with pytest.raises(LoadFailed, match="no worker was killed"):
        outages.stop()
