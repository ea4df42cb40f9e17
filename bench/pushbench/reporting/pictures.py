"""Line charts as SVG without scripts, for mail and tickets as well. Pure.

A line has the look of its server. Its colours are attributes, so the chart is readable where style sheets are ignored.
A style sheet for the same classes provides the dark theme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

from pushbench.reporting.looks import DARK, DARK_LINES, LIGHT, LIGHT_LINES, PATTERNS, Look, marker

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 94, 24, 18, 38
HEADING = 46
"""height of the heading of a standalone picture"""
FONT = 12
LETTER = 0.6 * FONT
"""average width of a letter"""
MARKS = 12
"""at most on a line"""
SMALLEST, LARGEST = 1e-12, 1e18
"""limits of the values that are drawn, in base units"""
MOST_POINTS = 300
"""of a line; with more, each point is the largest of several"""

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    look: Look
    points: Sequence[Point]


@dataclass(frozen=True)
class Upright:
    """A named position on the horizontal axis."""

    x: float
    label: str


@dataclass(frozen=True)
class Chart:
    title: str
    lines: Sequence[Line]
    said: Callable[[float], str]
    """a value of the axis in words"""
    across: str
    """the title of the horizontal axis"""
    marks: Sequence[tuple[float, str]] = ()
    """on the horizontal axis; if empty, the axis has numbers of its own"""
    bands: Sequence[tuple[float, float]] = ()
    """the measured parts of the horizontal axis"""
    limit: float | None = None
    logarithmic: bool = False
    across_logarithmic: bool = False
    uprights: Sequence[Upright] = ()


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


def swatch(look: Look) -> str:
    """A piece of a server's line, for a legend."""
    line = f'<path {_line_style(look)} d="M0 6h32"/><path {_mark_style(look)} d="{marker(look.marker, 16, 6)}"/>'
    return f'<svg class="swatch" viewBox="0 0 32 12" aria-hidden="true">{line}</svg>'


def draw(chart: Chart) -> str:
    """The chart for a page with `dark_style`; empty if there is nothing to draw."""
    if not (inside := _inside(chart)):
        return ""
    name = escape(chart.title)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">{inside}</svg>'


def standalone(chart: Chart, about: str, newest: str) -> str:
    """The chart as a file of its own, with a heading, a line about it below, and the newest value beside it."""
    if not (inside := _inside(chart)):
        return ""
    height = HEIGHT + HEADING
    name = escape(f"{chart.title}: {newest}" if newest else chart.title)
    bold = f'class="ink" y="22" font-size="14" font-weight="600" fill="{LIGHT["ink"]}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{name}" font-family="system-ui,Segoe UI,Helvetica,Arial,sans-serif">'
        f"<title>{name}</title><style>@media (prefers-color-scheme:dark){{{dark_style()}}}</style>"
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6" fill="{LIGHT["paper"]}"/>'
        f'<text {bold} x="14">{escape(chart.title)}</text>'
        f'<text {bold} x="{WIDTH - RIGHT}" text-anchor="end">{escape(newest)}</text>'
        f'<text class="text" x="14" y="39" font-size="{FONT - 1}" fill="{LIGHT["muted"]}">{escape(about)}</text>'
        f'<g transform="translate(0 {HEADING})">{inside}</g></svg>\n'
    )


def dark_style() -> str:
    """The rules of the dark theme."""
    own = {"paper": "paper", "ink": "ink", "text": "muted", "band": "shade"}
    fills = [f".{name}{{fill:{DARK[tone]}}}" for name, tone in own.items()]
    strokes = [f".{name}{{stroke:{DARK[tone]}}}" for name, tone in (("grid", "rule"), ("limit", "bad"))]
    lines = [f".c{number}{{stroke:{tone}}}.m{number}{{fill:{tone}}}" for number, tone in enumerate(DARK_LINES)]
    return "".join([*fills, *strokes, f".bad{{fill:{DARK['bad']}}}", *lines])


def _inside(chart: Chart) -> str:
    lines = [Line(each.look, _drawable(each.points, chart)) for each in chart.lines]
    values = [value for each in lines for _, value in each.points]
    if not values:
        return ""
    across, up = _across(lines, chart), _up(values, chart)
    return "".join([*_ground(chart, across, up), *(_line(each, across, up) for each in lines if each.points)])


def _drawable(points: Sequence[Point], chart: Chart) -> list[Point]:
    least = SMALLEST if chart.logarithmic else 0.0
    known = [(x, y) for x, y in points if least <= y <= LARGEST and 0 <= x <= LARGEST]  # others' records may have NaN
    size = ceil(len(known) / MOST_POINTS) or 1
    chunks = [known[first : first + size] for first in range(0, len(known), size)]
    return [(chunk[0][0], max(y for _, y in chunk)) for chunk in chunks]


def _across(lines: Sequence[Line], chart: Chart) -> _Scale:
    places = [x for each in lines for x, _ in each.points] + [x for x, _ in chart.marks]
    places += [each.x for each in chart.uprights]
    low, high = min(places), max(places)
    logarithmic = chart.across_logarithmic and low > 0
    return _Scale(low, high, LEFT, WIDTH - RIGHT, _nice(low, high), logarithmic=logarithmic)


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
    """Three to six round numbers from `low` to `high`."""
    if high <= low:
        return [low]
    rough = (high - low) / 6
    power = 10 ** floor(log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
    return [index * step for index in range(ceil(low / step), floor(high / step) + 1)]


def _steps(low: float, high: float) -> Iterator[float]:
    """1, 2, 5, 10 and so on; powers of ten only if they cover a wide range."""
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
        size = f'width="{max(0, right - left):.1f}" height="{bottom - TOP}"'
        yield f'<rect class="band" fill="{LIGHT["shade"]}" x="{left}" y="{TOP}" {size}/>'
    for tick in up.ticks:
        y = up.at(tick)
        yield f'<path class="grid" stroke="{LIGHT["rule"]}" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield _text(LEFT - 6, y + 4, "end", chart.said(tick))
    for place, text in chart.marks or [(tick, f"{tick:g}") for tick in across.ticks]:
        x = across.at(place)
        fits = x + len(text) * LETTER / 2 <= WIDTH
        yield _text(x if fits else WIDTH - 2, bottom + 16, "middle" if fits else "end", text)
    yield _text((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 6, "middle", chart.across)
    yield from _bounds(chart, across, up)


def _bounds(chart: Chart, across: _Scale, up: _Scale) -> Iterator[str]:
    """The limit, and the named positions."""
    style = f'class="limit" fill="none" stroke="{LIGHT["bad"]}" stroke-width="1.5" stroke-dasharray="2 3"'
    if chart.limit is not None and up.low <= chart.limit <= up.high:
        y = up.at(chart.limit)
        yield f'<path {style} d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield _text(WIDTH - RIGHT, y - 4, "end", f"limit {chart.said(chart.limit)}", "bad")
    for each in chart.uprights:
        x = across.at(each.x)
        yield f'<path class="grid" stroke="{LIGHT["muted"]}" stroke-dasharray="7 3" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>'
        anchor, beside = ("end", x - 4) if x > WIDTH / 2 else ("start", x + 4)
        yield _text(beside, HEIGHT - BOTTOM - 6, anchor, each.label)


def _text(x: float, y: float, anchor: str, text: str, kind: str = "text") -> str:
    tone = LIGHT["bad" if kind == "bad" else "muted"]
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{FONT}"'
    return f'<text class="{kind}" {place} fill="{tone}">{escape(text)}</text>'


def _line(line: Line, across: _Scale, up: _Scale) -> str:
    points = [(across.at(x), up.at(y)) for x, y in line.points]
    path = "L".join(f"{x:g} {y:g}" for x, y in points)
    every = ceil(len(points) / MARKS)
    marks = "".join(marker(line.look.marker, x, y) for x, y in points[::every])
    return f'<path {_line_style(line.look)} d="M{path}"/><path {_mark_style(line.look)} d="{marks}"/>'


def _line_style(look: Look) -> str:
    dash = f' stroke-dasharray="{PATTERNS[look.dash]}"' if look.dash else ""
    tone = f'stroke="{LIGHT_LINES[look.colour]}" stroke-width="1.8"{dash}'
    return f'class="line c{look.colour}" fill="none" stroke-linejoin="round" {tone}'


def _mark_style(look: Look) -> str:
    return f'class="m{look.colour}" fill="{LIGHT_LINES[look.colour]}"'
