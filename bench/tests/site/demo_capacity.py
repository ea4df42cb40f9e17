"""Invented searches for capacities: two servers that cannot be told apart, a slower one, and lower bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pushbench.records.capacity import CapacityRecord, ServerCapacity, Start
from pushbench.records.capacity_store import write_capacity
from pushbench.records.record import Failure, Finding
from tests.capacity.capacities import make_capacity_record, make_probe, make_server, make_start
from tests.factories import ENVIRONMENT
from tests.site.demo_setting import Demo, moment_of

LOWER_BOUND = Finding(code="generator_cpu", message="it used 92 % of its CPU, above 80 %")


def write_searches(folder: Path, demo: Demo) -> None:
    """Write searches of the first six servers, an hour after the newest run."""
    servers = [make(name, demo) for make, name in zip(_KINDS, demo.servers, strict=False)]
    write_capacity(folder / "capacity", make_search(demo, servers))


def make_search(demo: Demo, servers: list[ServerCapacity]) -> CapacityRecord:
    moment = moment_of(demo.older + demo.runs)
    return make_capacity_record(
        servers,
        id=f"{moment:%Y%m%dT%H%M%SZ}-ca9ac1",
        created=moment.isoformat(),
        environment=ENVIRONMENT,
        parameters={"board_size": 10, "pattern": "steady"},
    )


def _found(name: str, *pairs: tuple[int, int]) -> ServerCapacity:
    return make_server([_start(number, *pair) for number, pair in enumerate(pairs, 1)], name)


def _start(number: int, carried: int, refused: int) -> Start:
    """A start that climbs to the carried load, holds it, and ends with the refused load."""
    loads = [*range(200, carried, max(200, carried // 8)), carried]
    climb = [make_probe(load, hold=load == carried, metrics=_metrics(load, carried)) for load in loads]
    start = make_start(carried, refused, number=number, metrics={"cpu_cores": 1.9, "delivery_seconds.p95": 0.812})
    return start.model_copy(update={"probes": [*climb, start.probes[-1]]})


def _metrics(load: int, carried: int) -> dict[str, float | None]:
    """Metrics whose CPU grows with the load, and whose latency grows near the capacity."""
    share = load / carried
    return {"cpu_cores": 1.8 * share, "delivery_seconds.p95": 0.002 + 0.3 * share**8}


def _bound(name: str, load: int) -> ServerCapacity:
    return make_server(
        [make_start(load, load + 600, end="generator", answer="generator", findings=[LOWER_BOUND])], name
    )


_KINDS: tuple[Callable[[str, Demo], ServerCapacity], ...] = (
    lambda name, _: _found(name, (5200, 5350), (5400, 5560), (5260, 5410)),
    lambda name, _: _found(name, (5000, 5150), (5300, 5460), (5150, 5300)),
    lambda name, _: _found(name, (900, 930), (920, 950)),
    lambda name, _: _bound(name, 600),
    lambda name, demo: make_server([], name, failure=Failure(step="start", message=f"it is gone: {demo.subjects[0]}")),
    lambda name, _: _bound(name, 9000),
)
