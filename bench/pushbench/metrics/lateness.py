"""The generator's own part of a latency. Latencies count from the due time of a message, so a late send is part of
them.

The lateness of sends is known as a distribution, not by message, so equal percentiles are subtracted. That is exact if
all messages are equally late, and too much if the late messages are not the slow ones. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from pushbench.metrics.definitions import Metric, Unit
from pushbench.metrics.units import format_quantity


def value_without(values: Mapping[str, float | None], metric: Metric) -> float | None:
    """The value of `metric` without the generator's part; as measured if that part is unknown."""
    value, part = values.get(metric.name), values.get(metric.lateness or "")
    return value if value is None or part is None else max(0.0, value - part)


def sentence(metric: str, late: float | None, *, base: float | None = None, without: str = "") -> str:
    """`the generator itself was 12 ms late at p95`; in a comparison also its lateness in the base, and the word without
    lateness.
    """
    beside = "" if base is None else f" ({format_quantity(base, Unit.SECONDS)} in the base)"
    otherwise = f", without which it would be {without}" if without else ""
    point = metric.partition(".")[2]
    return f"the generator itself was {format_quantity(late, Unit.SECONDS)} late at {point}{beside}{otherwise}"
