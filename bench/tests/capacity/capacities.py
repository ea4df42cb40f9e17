"""Capacity records without a measurement; each test changes the parts that it checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushbench.records.capacity import AskedLimit, Broken, CapacityRecord, Probe, Search, ServerCapacity, Start
from pushbench.records.environment import Harness
from pushbench.records.vocabulary import ORIGINAL
from tests.factories import make_metrics
from tests.samples import ENVIRONMENT

LIMIT = AskedLimit(metric="delivery_seconds.p95", side="max", value=0.5)
SEARCH = Search(
    first=100,
    step=10,
    most=10_000,
    clients_per_second=1000,
    warmup_seconds=4,
    settle_seconds=1,
    steady_seconds=3,
    hold_seconds=10,
    drain_seconds=2,
)


def make_probe(
    load: int, answer: str = "carried", metrics: Mapping[str, float | None] | None = None, **changed: Any
) -> Probe:
    broken = [Broken(**LIMIT.model_dump(), found=0.812)] if answer == "broken" else []
    values: dict[str, Any] = {
        "load": load,
        "clients": load,
        "hold": False,
        "ramp_seconds": 1.0,
        "answer": answer,
        "broken": broken,
        "metrics": {**make_metrics(load), **(metrics or {})},
        "seconds": 7.0,
    }
    return Probe.model_validate(values | changed)


def make_start(
    carried: int,
    refused: int | None = None,
    *,
    number: int = 1,
    end: str = "limit",
    answer: str = "broken",
    metrics: Mapping[str, float | None] | None = None,
    **changed: Any,
) -> Start:
    """A start with two probes; `metrics` belong to the refused load."""
    probes = [make_probe(carried, hold=True)] if carried else []
    if refused:
        probes.append(make_probe(refused, answer, metrics, **changed))
    return Start.model_validate(
        {
            "number": number,
            "seed": number,
            "started": "2026-11-21T10:15:04+00:00",
            "seconds": 80.0,
            "carried": carried,
            "refused": refused,
            "end": end,
            "confirmed": True,
            "probes": probes,
        }
    )


def make_server(starts: Sequence[Start], server: str = "node-ws", **changed: Any) -> ServerCapacity:
    values: dict[str, Any] = {"build": "5f3c9a7de21b44f0", "reported": None, "verified": True, "failure": None}
    return ServerCapacity.model_validate({"server": server, "starts": starts, **values, **changed})


def make_capacity_record(servers: Sequence[ServerCapacity], **changed: Any) -> CapacityRecord:
    values: dict[str, Any] = {
        "id": "20261121T101500Z-1a2b3c",
        "created": "2026-11-21T10:15:00+00:00",
        "commit": None,
        "harness": Harness(pushbench="0", k6="v1", extension="abc", go="go1"),
        "environment": ENVIRONMENT,
        "suite": "whiteboard",
        "words": ORIGINAL,
        "parameters": {"board_size": 10},
        "search": SEARCH,
        "limits": [LIMIT],
        "thresholds_digest": None,
        "wanted_starts": 3,
        "servers": servers,
    }
    return CapacityRecord.model_validate(values | changed)
