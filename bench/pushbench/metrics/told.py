"""The numbers that servers report on GET /metricz, and the metrics of a stage derived from them. Pure.

The server counts these numbers, and nothing checks them: they explain the latencies that clients saw.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeGuard

from pushbench.records.vocabulary import Vocabulary

MOST_SECONDS = 3600.0
"""no server means a larger value"""
ROUNDING_SECONDS = 1e-3
"""rounding error of moments that are sums"""


@dataclass(frozen=True)
class Telling:
    """The report of a server at a moment of time.monotonic()."""

    at: float
    values: Mapping[str, float]
    """seconds by the names of metrics; without those that the runtime does not provide"""


def read_telling(at: float, body: bytes, words: Vocabulary) -> Telling:
    """The readable part of an answer. Values that are missing, null or not a time are left out."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    values: dict[str, float] = {}
    for name, each in words.told.items():
        points = said.get(name) if isinstance(said, dict) else None
        for point in each.points:
            value = points.get(point) if isinstance(points, dict) else None
            if _is_time(value):
                values[f"{name}_seconds.{point}"] = float(value)
    return Telling(at, values)


def _is_time(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_SECONDS


def within(tellings: Sequence[Telling], begin: float, end: float) -> list[Telling]:
    """The reports about a window. An answer covers the second before it, so the first one comes a second later."""
    return [each for each in tellings if begin + 1 - ROUNDING_SECONDS <= each.at <= end + ROUNDING_SECONDS]


def told_metrics(tellings: Sequence[Telling], words: Vocabulary) -> dict[str, float | None]:
    """The median of the seconds, so that one bad second does not represent all."""
    metrics: dict[str, float | None] = {}
    for name, each in words.told.items():
        for point in each.points:
            metric = f"{name}_seconds.{point}"
            known = [telling.values[metric] for telling in tellings if metric in telling.values]
            metrics[metric] = median(known) if known else None
    return metrics
