"""Charts for a terminal: values become rows of block characters, with lines for limits. Pure, and without colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

BLOCKS = " ▁▂▃▄▅▆▇█"
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""the leading digits of the top of a linear scale, chosen so that little of a chart stays empty"""

Kind = Literal["", "bar", "over", "limit", "due"]
"""what a cell shows: nothing, a value, a value beyond its limit, the line of a limit, what was due"""


class Cell(NamedTuple):
    text: str
    kind: Kind


EMPTY = Cell(" ", "")
LINES: dict[Kind, Cell] = {"limit": Cell("─", "limit"), "due": Cell("╌", "due")}


@dataclass(frozen=True)
class Scale:
    """The values at the bottom and at the top of a chart."""

    low: float
    high: float
    log: bool = False

    def height(self, value: float) -> float:
        """0 at the bottom, 1 at the top, and never beyond."""
        low, high = self.low, self.high
        if self.log:
            value, low, high = (math.log10(max(each, 1e-9)) for each in (value, low, high))
        return min(1.0, max(0.0, (value - low) / (high - low)))


def linear(values: Sequence[float | None]) -> Scale:
    """A scale from 0 to a round number that is not below any value."""
    most = max((value for value in values if value is not None), default=0.0)
    if most <= 0:
        return Scale(0.0, 1.0)
    decade = 10.0 ** math.floor(math.log10(most))
    return Scale(0.0, next(step * decade for step in STEPS if step * decade >= most * 0.999999))


def decades(values: Sequence[float | None]) -> Scale:
    """A scale of at least two whole decades that covers all values above 0."""
    known = [value for value in values if value is not None and value > 0] or [1e-3]
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    return Scale(10.0**low, 10.0 ** max(high, low + 2), log=True)


def spread(values: Sequence[float | None], columns: int) -> list[float | None]:
    """The values spread over the columns: each several columns wide, or only the newest if there are fewer columns."""
    times = max(1, columns // len(values))
    return [value for value in values for _ in range(times)][-columns:] if columns > 0 else []


def row_of(value: float, scale: Scale, rows: int) -> int:
    """The row that contains a value, counted from the bottom."""
    return min(rows - 1, int(scale.height(value) * rows))


def area(
    values: Sequence[float | None],
    scale: Scale,
    rows: int,
    *,
    over: Sequence[bool],
    lines: dict[Kind, Sequence[float | None]],
) -> list[list[Cell]]:
    """The rows of a chart, from the top: each value fills its column from the bottom, in eighths of a row.

    A line shows where no value covers it. `over` are the columns whose value is beyond its limit.
    """
    eighths = [0 if value is None else max(1, round(scale.height(value) * rows * 8)) for value in values]
    places = {
        kind: [None if each is None else row_of(each, scale, rows) for each in line] for kind, line in lines.items()
    }
    chart = []
    for row in reversed(range(rows)):
        cells = []
        for column, whole in enumerate(eighths):
            filled = min(8, max(0, whole - 8 * row))
            line = next((LINES[kind] for kind, place in places.items() if place[column] == row), EMPTY)
            cells.append(Cell(BLOCKS[filled], "over" if over[column] else "bar") if filled else line)
        chart.append(cells)
    return chart
