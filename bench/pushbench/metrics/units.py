"""Quantities as people write and read them: `500ms` and `1%` in, `0.31 ms` and `1.20 %` out.

Values are in base units everywhere else: seconds, bytes, ratios of 1, counts. This module does not depend on metrics.
"""

from __future__ import annotations

import math
import re

from pushbench.foundation.errors import UserError
from pushbench.metrics.definitions import Unit

NOT_MEASURED = "-"
DIGITS = 12
"""that stay exact in a change of unit: 1.685 ms must not become 1.6849999999999998, which would be rounded to 1.68"""

_DURATIONS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
}
_DECIMAL_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
_BYTES = {**_DECIMAL_BYTES, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}

_ACCEPTED: dict[Unit, dict[str, float]] = {
    Unit.COUNT: {"": 1.0, "k": 1e3, "M": 1e6},
    Unit.PER_SECOND: {"": 1.0, "/s": 1.0, "k/s": 1e3, "M/s": 1e6},
    Unit.SECONDS: _DURATIONS,
    Unit.BYTES: _BYTES,
    Unit.BYTES_PER_SECOND: {f"{suffix}/s": factor for suffix, factor in _BYTES.items()},
    Unit.RATIO: {"": 1.0, "%": 0.01},
    Unit.CORES: {"": 1.0, "cores": 1.0},
}

_EXAMPLES: dict[Unit, str] = {
    Unit.COUNT: "100",
    Unit.PER_SECOND: "20000/s",
    Unit.SECONDS: "500ms, 2s or 1m30s",
    Unit.BYTES: "64KiB or 200MB",
    Unit.BYTES_PER_SECOND: "12MB/s",
    Unit.RATIO: "1% or 0.01",
    Unit.CORES: "1.5",
}

_QUANTITY = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s]*)\s*")
_CLOCK = re.compile(r"(?:(\d{1,6}) ?h)? ?(?:(\d{1,6}) ?m(?:in)?)? ?(?:(\d{1,6}) ?s)?")


def parse_quantity(text: str, unit: Unit) -> float:
    """Read `text` in base units of `unit`. A duration or a size needs its suffix: a bare 5 could be anything but 0.

    A duration may have several parts, the largest first: `1m30s`, or `1 min 30 s` as `format_elapsed` writes it.
    Raises UserError with what was expected.
    """
    clock = _CLOCK.fullmatch(text.strip()) if unit is Unit.SECONDS else None
    if clock and any(clock.groups()):
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return hours * _DURATIONS["h"] + minutes * _DURATIONS["m"] + seconds
    match = _QUANTITY.fullmatch(text)
    number, suffix = (match[1], match[2]) if match else ("", "")
    factor = _ACCEPTED[unit].get(suffix)
    if match and factor is None and float(number) == 0 and not suffix:
        return 0.0
    if not match or factor is None or not math.isfinite(float(number)):
        raise UserError(f"expected {_article(unit)} such as {_EXAMPLES[unit]}, found {text!r}")
    return float(number) * factor


def format_quantity(value: float | None, unit: Unit) -> str:
    """Write `value` (base units) for people; None and NaN are a dash, because a missing number is not a zero."""
    if value is None or math.isnan(value):
        return NOT_MEASURED
    match unit:
        case Unit.COUNT | Unit.CORES:
            return format_number(value)
        case Unit.PER_SECOND:
            return f"{format_number(value)} /s"
        case Unit.RATIO:
            return f"{format_number(value * 100)} %"
        case Unit.SECONDS:
            return _format_seconds(value)
        case Unit.BYTES:
            return _scaled(value, _DECIMAL_BYTES)
        case Unit.BYTES_PER_SECOND:
            return f"{_scaled(value, _DECIMAL_BYTES)}/s"


def format_number(value: float) -> str:
    """Three significant digits, two below 1 (the third is noise there), no exponent, thousands with commas."""
    value = float(f"{value:.{DIGITS}g}")
    size = abs(value)
    if size == 0 or not math.isfinite(value):
        return f"{value:g}"
    if size >= 100 or value == round(value):
        return f"{round(value):,}"
    if size >= 1:
        return f"{value:.{1 if size >= 9.995 else 2}f}"
    return f"{value:.{1 - math.floor(math.log10(size))}f}"


def format_elapsed(seconds: float) -> str:
    """Elapsed time in the form of a clock: `8 s`, `4 min 05 s`, `1 h 02 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _format_seconds(value: float) -> str:
    size = abs(value)
    if size == 0 or 1e-4 <= size < 1:  # 0.31 ms rather than 310 µs: latencies of one table share a unit more often
        return f"{format_number(value * 1e3)} ms"
    if size < 1e-4:
        return f"{format_number(value * 1e6)} µs"
    return f"{format_number(value)} s" if size < 120 else format_elapsed(value)


def _scaled(value: float, suffixes: dict[str, float]) -> str:
    suffix, factor = next(
        ((name, factor) for name, factor in reversed(suffixes.items()) if abs(value) >= factor), ("B", 1.0)
    )
    return f"{format_number(value / factor)} {suffix}"


def _article(unit: Unit) -> str:
    return {
        Unit.COUNT: "a count",
        Unit.PER_SECOND: "a rate",
        Unit.SECONDS: "a duration",
        Unit.BYTES: "a size",
        Unit.BYTES_PER_SECOND: "a data rate",
        Unit.RATIO: "a ratio",
        Unit.CORES: "a number of cores",
    }[unit]
