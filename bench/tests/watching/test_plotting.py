"""Charts of block characters read like any chart: twice the value is twice the height, and limits are lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from pushbench.watching.plotting import Cell, Kind, Scale, area, decades, linear, spread


def drawn(
    values: Sequence[float | None],
    scale: Scale,
    rows: int,
    lines: dict[Kind, Sequence[float | None]] | None = None,
    over: Sequence[bool] | None = None,
) -> list[list[Cell]]:
    return area(values, scale, rows, over=over or [False] * len(values), lines=lines or {})


def texts(rows: Sequence[Sequence[Cell]]) -> list[str]:
    return ["".join(cell.text for cell in row) for row in rows]


def test_values_fill_their_columns_in_eighths_of_a_row() -> None:
    assert texts(drawn([0.5, 4, 8, 12, 16, None], Scale(0, 16), 2)) == ["   ▄█ ", "▁▄███ "]


def test_a_value_too_small_to_draw_is_not_a_gap() -> None:
    assert texts(drawn([0.001, None], Scale(0, 1000), 1)) == ["▁ "]


def test_a_limit_is_a_line_wherever_no_value_covers_it() -> None:
    rows = drawn([1, 9, None], Scale(0, 10), 5, {"limit": [7, 7, 7]}, over=[False, True, False])
    assert texts(rows) == [" ▄ ", "─█─", " █ ", " █ ", "▄█ "]
    assert {cell.kind for cell in rows[1]} == {"limit", "over"}
    assert {row[0].kind for row in rows} == {"", "limit", "bar"}


def test_what_was_due_is_a_line_above_what_came() -> None:
    assert texts(drawn([2, 8], Scale(0, 8), 2, {"due": [8, 8]})) == ["╌█", "▄█"]


def test_a_decade_is_as_high_as_any_other() -> None:
    scale = Scale(0.001, 1.0, log=True)
    heights = [scale.height(value) for value in (0.001, 0.01, 0.1, 1.0)]
    assert heights == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert [scale.height(value) for value in (0.0, 50.0)] == [0, 1], "never beyond the chart"


@pytest.mark.parametrize(
    ("values", "high"),
    [([0.25, None], 0.3), ([7012], 8000), ([10_213], 15_000), ([1000], 1000), ([0, None], 1), ([2.1, 1], 3)],
)
def test_a_linear_scale_ends_with_a_round_number(values: list[float | None], high: float) -> None:
    found = linear(values)
    assert found.high == pytest.approx(high)
    assert (found.low, found.log) == (0, False)


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([0.0021, 0.5], 0.001, 1.0), ([0.002, 0.003], 0.001, 0.1), ([None], 0.001, 0.1), ([0.00004, 20, 0], 0.00001, 100)],
)
def test_a_scale_of_decades_has_all_values_and_two_decades_at_least(
    values: list[float | None], low: float, high: float
) -> None:
    found = decades(values)
    assert found.log
    assert math.isclose(found.low, low)
    assert math.isclose(found.high, high)


@pytest.mark.parametrize(
    ("columns", "expected"), [(3, [1, 2, 3]), (7, [1, 1, 2, 2, 3, 3]), (2, [2, 3]), (1, [3]), (0, [])]
)
def test_each_second_is_as_wide_as_any_other(columns: int, expected: list[float]) -> None:
    assert spread([1, 2, 3], columns) == expected
