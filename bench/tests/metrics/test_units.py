"""Parsing and formatting of quantities."""

from __future__ import annotations

import pytest

from pushbench.foundation.errors import UserError
from pushbench.metrics.definitions import Unit
from pushbench.metrics.units import format_elapsed, format_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("500ms", Unit.SECONDS, 0.5),
        ("1m", Unit.SECONDS, 60.0),
        ("1.5 s", Unit.SECONDS, 1.5),
        ("6m30s", Unit.SECONDS, 390.0),
        ("1h2m3s", Unit.SECONDS, 3723.0),
        ("1 h 02 min", Unit.SECONDS, 3720.0),
        ("4 min 05 s", Unit.SECONDS, 245.0),
        ("250us", Unit.SECONDS, 250e-6),
        ("250µs", Unit.SECONDS, 250e-6),
        ("250\u03bcs", Unit.SECONDS, 250e-6),  # Greek mu, which looks the same
        ("0", Unit.SECONDS, 0.0),
        ("1%", Unit.RATIO, 0.01),
        ("0.05", Unit.RATIO, 0.05),
        ("64KiB", Unit.BYTES, 65536.0),
        ("200MB", Unit.BYTES, 200e6),
        ("12MB/s", Unit.BYTES_PER_SECOND, 12e6),
        ("1_000", Unit.COUNT, 1000.0),
        ("20k/s", Unit.PER_SECOND, 20000.0),
        ("1.5", Unit.CORES, 1.5),
    ],
)
def test_reads_a_quantity_in_base_units(text: str, unit: Unit, value: float) -> None:
    assert parse_quantity(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5", Unit.SECONDS),
        ("5 parsecs", Unit.SECONDS),
        ("1%", Unit.SECONDS),
        ("30s1m", Unit.SECONDS),
        ("1m30", Unit.SECONDS),
        ("1.5m30s", Unit.SECONDS),
        ("", Unit.SECONDS),
        ("1m30s", Unit.COUNT),
        ("fast", Unit.RATIO),
        ("", Unit.COUNT),
    ],
)
def test_says_what_was_expected(text: str, unit: Unit) -> None:
    with pytest.raises(UserError, match=r"expected a .* such as .*, found"):
        parse_quantity(text, unit)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00031, Unit.SECONDS, "0.31 ms"),
        (0.0000123, Unit.SECONDS, "12.3 µs"),
        (0.0016849999999999999, Unit.SECONDS, "1.69 ms"),  # 1,685 µs, as the generator's histograms have it
        (0.2504, Unit.SECONDS, "250 ms"),
        (1.234, Unit.SECONDS, "1.23 s"),
        (376.0, Unit.SECONDS, "6 min 16 s"),
        (0.0, Unit.SECONDS, "0 ms"),
        (12_400_000.0, Unit.BYTES_PER_SECOND, "12.4 MB/s"),
        (999.0, Unit.BYTES, "999 B"),
        (0.012, Unit.RATIO, "1.20 %"),
        (0.000041, Unit.RATIO, "0.0041 %"),
        (0.0, Unit.RATIO, "0 %"),
        (1000.0, Unit.COUNT, "1,000"),
        (9999.6, Unit.PER_SECOND, "10,000 /s"),
        (0.532, Unit.CORES, "0.53"),
        (9.999, Unit.CORES, "10.0"),
    ],
)
def test_writes_a_quantity_for_people(value: float, unit: Unit, text: str) -> None:
    assert format_quantity(value, unit) == text


@pytest.mark.parametrize("unit", list(Unit))
def test_what_was_not_measured_is_a_dash_and_no_zero(unit: Unit) -> None:
    assert format_quantity(None, unit) == "-"
    assert format_quantity(float("nan"), unit) == "-"


@pytest.mark.parametrize(("seconds", "text"), [(-1, "0 s"), (8.2, "8 s"), (245, "4 min 05 s"), (3720, "1 h 02 min")])
def test_writes_elapsed_time_as_a_clock_would(seconds: float, text: str) -> None:
    assert format_elapsed(seconds) == text
