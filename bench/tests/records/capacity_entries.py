"""Searches as a history keeps them; each test changes the parts that it checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_history import CapacityEntry, KeptCapacity
from pushbench.records.environment import Environment
from tests.capacity.capacities import make_capacity_record, make_server, make_start
from tests.factories import make_record

COMMIT = make_record([]).commit


def kept(low: int = 5000, carried: int = 5200, high: int = 5400, /, **changed: Any) -> KeptCapacity:
    """The result of three starts that a limit ended."""
    values: dict[str, Any] = {
        "build": "5f3c9a7de21b44f0",
        "carried": carried,
        "low": low,
        "high": high,
        "at_least": False,
        "end": "limit",
        "reason": "delivery p95 812 ms, limit 500 ms",
        "binds": "cpu",
        "starts": [low, carried, high - 100],
        "failure": None,
    }
    return KeptCapacity.model_validate(values | changed)


def entry(day: int, server: KeptCapacity | None = None, **changed: Any) -> CapacityEntry:
    values: dict[str, Any] = {
        "record": f"202611{day:02d}T101500Z-1a2b3c",
        "created": f"2026-11-{day:02d}T10:15:00+00:00",
        "commit": "a" * 40,
        "subject": "Answer sooner",
        "environment": "0123456789ab",
        "method": 2,
        "suite": "whiteboard",
        "searched": "clients",
        "asked": "fedcba987654",
        "servers": {"node-ws": server or kept()},
    }
    return CapacityEntry.model_validate(values | changed)


def search(day: int, *pairs: tuple[int, int], **changed: Any) -> CapacityRecord:
    """A capacity record of committed sources with starts that carried and refused these loads."""
    starts = [make_start(*pair, number=number) for number, pair in enumerate(pairs, 1)]
    values: dict[str, Any] = {
        "servers": [make_server(starts)],
        "id": f"202611{day:02d}T101500Z-1a2b3c",
        "created": f"2026-11-{day:02d}T10:15:00+00:00",
        "commit": COMMIT,
        "wanted_starts": len(pairs),
    }
    return make_capacity_record(**{**values, **changed})


def elsewhere(environment: Environment) -> Environment:
    return environment.model_copy(update={"key": "ba9876543210"})


THREE: Sequence[tuple[int, int]] = ((5000, 5120), (5200, 5340), (5300, 5400))
