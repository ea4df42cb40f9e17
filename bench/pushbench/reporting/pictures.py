"""Line charts as SVG, drawn without a script: mail and tickets show them, too. Pure.

Lines differ in colour and in their dashes, so that they can be told apart without either; `page` has both in its style.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 12, 38
COLOURS, DASHES = 8, 4
FEW = 12
"""points of a line, which are dots, too"""
SMALLEST, LARGEST = 1e-12, 1e18
"""that are drawn, in base units"""
MOST_POINTS = 300
"""of a line; of more, each point is the largest of several"""

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """`look` is the place of the server in the run, so that it looks alike in all charts."""

    look: int
    points: Sequence[Point]


@dataclass(frozen=True)
class Chart:
    title: str
    lines: Sequence[Line]
    said: Callable[[float], str]
    """a value of the axis in words"""
    across: str
    """what the horizontal axis has"""
    marks: Sequence[tuple[float, str]] = ()
    """on the horizontal axis; seconds where there are none"""
    bands: Sequence[tuple[float, float]] = ()
    """what is measured of it"""
    limit: float | None = None
    logarithmic: bool = False


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    begin: float
    end: float
    ticks: Sequence[float] = field(default=())
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high, value = (log10(each) if self.logarithmic else each for each in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.begin + share * (self.end - self.begin), 1)


def look(place: int) -> str:
    """The classes of the line of a server."""
    return f"c{place % COLOURS} d{(place + place // COLOURS) % DASHES}"


def swatch(place: int) -> str:
    """A piece of a server's line, for a legend."""
    line = f'<path class="line {look(place)}" d="M0 4h32"/>'
    return f'<svg class="swatch" viewBox="0 0 32 8" aria-hidden="true">{line}</svg>'


def draw(chart: Chart) -> str:
    """The chart; nothing where there is nothing to draw."""
    lines = [Line(each.look, _drawable(each.points, chart)) for each in chart.lines]
    values = [value for each in lines for _, value in each.points]
    if not values:
        return ""
    across, up = _across(lines, chart), _up(values, chart)
    return "".join(
        [
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title)}">',
            *_ground(chart, across, up),
            *(_line(each, across, up) for each in lines if each.points),
            "</svg>",
        ]
    )


def _drawable(points: Sequence[Point], chart: Chart) -> list[Point]:
    least = SMALLEST if chart.logarithmic else 0.0
    known = [(x, y) for x, y in points if least <= y <= LARGEST and 0 <= x <= LARGEST]  # others' records may have NaN
    size = ceil(len(known) / MOST_POINTS) or 1
    chunks = [known[first : first + size] for first in range(0, len(known), size)]
    return [(chunk[0][0], max(y for _, y in chunk)) for chunk in chunks]


def _across(lines: Sequence[Line], chart: Chart) -> _Scale:
    places = [x for each in lines for x, _ in each.points] + [x for x, _ in chart.marks]
    low, high = min(places), max(places)
    return _Scale(low, high, LEFT, WIDTH - RIGHT, _nice(low, high))


def _up(values: Sequence[float], chart: Chart) -> _Scale:
    low, high = min(values), max(values)
    if chart.limit is not None and low <= chart.limit <= 10 * high:
        high = max(high, chart.limit)
    if chart.logarithmic:
        low, high = _step_below(low), _step_above(high)
        ticks = [step for step in _steps(low, high) if low <= step <= high]
        return _Scale(low, high, HEIGHT - BOTTOM, TOP, ticks, logarithmic=True)
    high = high or 1.0
    ticks = _nice(0, high)
    return _Scale(0, max(high, ticks[-1]), HEIGHT - BOTTOM, TOP, ticks)


def _nice(low: float, high: float) -> list[float]:
    """Three to six round numbers between both."""
    if high <= low:
        return [low]
    rough = (high - low) / 6
    power = 10 ** floor(log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
    return [index * step for index in range(ceil(low / step), floor(high / step) + 1)]


def _steps(low: float, high: float) -> Iterator[float]:
    """1, 2, 5, 10 and so on; only powers of ten over many of them."""
    first, last = floor(log10(low)), ceil(log10(high))
    for power in range(first, last + 1):
        for digit in (1, 2, 5) if last - first <= 3 else (1,):
            yield digit * 10.0**power


def _step_below(value: float) -> float:
    power = 10.0 ** floor(log10(value))
    return max(digit * power for digit in (1, 2, 5) if digit * power <= value * (1 + 1e-9))


def _step_above(value: float) -> float:
    power = 10.0 ** floor(log10(value))
    return min(digit * power for digit in (1, 2, 5, 10) if digit * power >= value * (1 - 1e-9))


def _ground(chart: Chart, across: _Scale, up: _Scale) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for begin, end in chart.bands:
        left, right = across.at(max(begin, across.low)), across.at(min(end, across.high))
        yield f'<rect class="band" x="{left}" y="{TOP}" width="{max(0, right - left):.1f}" height="{bottom - TOP}"/>'
    for tick in up.ticks:
        y = up.at(tick)
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(chart.said(tick))}</text>'
    for place, text in chart.marks or [(tick, f"{tick:g}") for tick in across.ticks]:
        yield f'<text x="{across.at(place)}" y="{bottom + 16}" text-anchor="middle">{escape(text)}</text>'
    middle = (LEFT + WIDTH - RIGHT) // 2
    yield f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(chart.across)}</text>'
    if chart.limit is not None and up.low <= chart.limit <= up.high:
        y = up.at(chart.limit)
        yield f'<path class="limit" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        said = escape(f"limit {chart.said(chart.limit)}")
        yield f'<text x="{WIDTH - RIGHT}" y="{y - 4:.1f}" text-anchor="end">{said}</text>'


def _line(line: Line, across: _Scale, up: _Scale) -> str:
    points = [f"{across.at(x):g} {up.at(y):g}" for x, y in line.points]
    drawn = f'<path class="line {look(line.look)}" d="M{"L".join(points)}"/>'
    if len(points) <= FEW:
        dots = "".join("M{} {}h0".format(*each.split()) for each in points)
        drawn += f'<path class="dots {look(line.look).split()[0]}" d="{dots}"/>'
    return drawn
