"""A series as a text chart: a dot for each run, its level as a line, and the lowest and highest value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pushbench.statistics.trend import Change

ROWS = 12
DOT, LEVEL, CHANGE = "\u25cf", "\u2500", "\u2502"


def draw(
    values: Sequence[float], changes: Sequence[Change], level: float | None, format_: Callable[[float], str], width: int
) -> list[str]:
    """Draw at most `width` columns; with more runs than columns, the runs in a column share a dot at their median."""
    low, high = min(values), max(values)
    labels = [format_(high), format_((low + high) / 2), format_(low)]
    margin = max(map(len, labels)) + 1
    columns = max(1, min(len(values), width - margin - 1))
    cells = [[" "] * columns for _ in range(ROWS)]

    def row(value: float) -> int:
        return ROWS - 1 if high == low else round((high - value) / (high - low) * (ROWS - 1))

    if level is not None and low <= level <= high:
        begin = changes[-1].index * columns // len(values) if changes else 0
        for column in range(begin, columns):
            cells[row(level)][column] = LEVEL
    for change in changes:
        for each in cells:
            each[change.index * columns // len(values)] = CHANGE
    for column in range(columns):
        inside = sorted(values[column * len(values) // columns : (column + 1) * len(values) // columns])
        cells[row(inside[len(inside) // 2])][column] = DOT
    beside = {0: labels[0], ROWS // 2: labels[1], ROWS - 1: labels[2]}
    return [f"{beside.get(index, ''):>{margin}} {''.join(each)}".rstrip() for index, each in enumerate(cells)]
