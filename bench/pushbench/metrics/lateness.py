"""The generator's own part of a latency. Latencies count from when a message was due, so a late send is part of them.

How late the sends were is known as a distribution, not by message. So equal percentiles are subtracted: that is exact
where all messages are equally late, and too much where the late messages are not the slow ones. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from pushbench.metrics.definitions import Metric, Unit
from pushbench.metrics.units import format_quantity


def value_without(values: Mapping[str, float | None], metric: Metric) -> float | None:
    """The value of `metric` without the generator's part; as measured where that part is not known."""
    value, part = values.get(metric.name), values.get(metric.lateness or "")
    return value if value is None or part is None else max(0.0, value - part)


def sentence(metric: str, late: float | None, *, base: float | None = None, without: str = "") -> str:
    """`the generator itself was 12 ms late at p95`; in a comparison with how late it was in the base, and with the word
    that would be said without all that."""
    beside = "" if base is None else f" ({format_quantity(base, Unit.SECONDS)} in the base)"
    otherwise = f", without which it would be {without}" if without else ""
    point = metric.partition(".")[2]
    return f"the generator itself was {format_quantity(late, Unit.SECONDS)} late at {point}{beside}{otherwise}"
