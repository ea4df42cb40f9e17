"""The screen of `run --watch`: the current state of a trial, laid out in lines of a terminal. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.text import Text

from pushbench.judging.thresholds import Bound
from pushbench.watching.minute import SECONDS, Values
from pushbench.watching.plotting import Kind, Scale, area, row_of, spread

LABEL = 9
"""columns left of a chart, for the values at its top and bottom, if there is room for both"""
MARGIN = 7
"""columns right of a chart, for the word `limit`"""
MOST_ROWS = 10
"""rows of a chart: more rows show nothing more"""
TALL = 30
"""lines of a terminal that has room for several notes"""
NOTES = 4
FOOTER = "Ctrl-C ends the run and keeps the finished trials."

STYLES: dict[Kind, str] = {"": "", "bar": "cyan", "over": "red", "limit": "yellow", "due": "bright_black"}


@dataclass(frozen=True)
class Panel:
    """One chart: a title, the current state, and the minute."""

    title: str
    now: str
    values: Values
    scale: Scale
    write: Callable[[float], str]
    """formats a value of the axis"""
    weight: int
    """its share of the height"""
    limit: Bound | None = None
    due: Values | None = None

    @property
    def limited(self) -> str:
        """The limit in words, and whether it is kept now: colour is never the only sign."""
        if self.limit is None:
            return ""
        bound = f"limit {self.write(self.limit.value)}"
        now = self.values[-1] if self.values else None
        return bound if now is None or self.limit.allows(now) else f"beyond the {bound}"


@dataclass(frozen=True)
class View:
    """What is shown of a run at one moment."""

    title: str
    left: str
    """the time left"""
    doing: str
    panels: Sequence[Panel]
    measured: Sequence[bool]
    """whether each second of the minute is measured"""
    notes: Sequence[str]


def layout(view: View, width: int, height: int) -> list[Text]:
    """At most `height` lines of at most `width` columns."""
    label = LABEL if width >= SECONDS + LABEL else 0
    columns = _columns(width - label)
    notes = view.notes[-NOTES if height >= TALL else -1 :]
    head = [_line(Text(view.title, "bold"), view.left, width), _line(Text(view.doing), "", width)]
    foot = [*_axis(view, label, columns), *(_line(Text(each), "", width) for each in [*notes, FOOTER])]
    rows = share([panel.weight for panel in view.panels], height - len(head) - len(foot) - len(view.panels))
    panels = [
        line
        for panel, own in zip(view.panels, rows, strict=True)
        for line in (
            _heading(panel, min(width, label + columns), labelled=bool(label)),
            *_chart(panel, own, label, columns, width),
        )
    ]
    return [*head, *panels, *foot][:height]


def share(weights: Sequence[int], lines: int) -> list[int]:
    """The rows of each chart, by weight; none for any chart if there is not one for each."""
    if lines < len(weights):
        return [0] * len(weights)
    rows = [1] * len(weights)
    while sum(rows) < lines and min(rows) < MOST_ROWS:
        poorest = min(range(len(rows)), key=lambda index: (rows[index] / weights[index], index))
        rows[poorest] += 1
    return rows


def _columns(room: int) -> int:
    """Whole columns for each second; if there is too little room, as many seconds as columns."""
    return room if room < SECONDS else SECONDS * max(1, (room - MARGIN) // SECONDS)


def _line(left: Text, right: str, width: int) -> Text:
    """`left` at the beginning, cut if necessary, and `right` at the end."""
    left.no_wrap = True
    left.truncate(max(1, width - len(right) - (2 if right else 0)), overflow="ellipsis")
    if right:
        left.append(f"{right:>{width - len(left)}}")
    return left


def _heading(panel: Panel, width: int, *, labelled: bool) -> Text:
    """The heading, with the scale if it is not beside the chart and there is room."""
    left = Text.assemble((panel.title, "bold"), f"  {panel.now}")
    low, high = panel.write(panel.scale.low), panel.write(panel.scale.high)
    scale = f"{low} to {high}{' (log)' if panel.scale.log else ''}"
    whole = ", ".join(filter(None, [scale, panel.limited]))
    return _line(left, panel.limited if labelled or len(left) + 2 + len(whole) > width else whole, width)


def _chart(panel: Panel, rows: int, label: int, columns: int, width: int) -> Iterator[Text]:
    if not rows:
        return
    values, bound = spread(panel.values, columns), panel.limit
    over = [bound is not None and value is not None and not bound.allows(value) for value in values]
    lines: dict[Kind, Sequence[float | None]] = {"limit": [bound.value if bound else None] * columns}
    if panel.due:
        lines["due"] = spread(panel.due, columns)
    names = _names(panel, rows)
    marked = rows - 1 - row_of(bound.value, panel.scale, rows) if bound and width >= label + columns + MARGIN else None
    for index, cells in enumerate(area(values, panel.scale, rows, over=over, lines=lines)):
        line = Text(no_wrap=True)
        if label:
            line.append(f"{names[index]:>{label - 2}} │", "dim")
        for kind, run in groupby(cells, key=lambda cell: cell.kind):
            line.append("".join(cell.text for cell in run), STYLES[kind])
        if index == marked:
            line.append(" limit", STYLES["limit"])
        yield line


def _names(panel: Panel, rows: int) -> list[str]:
    """The labels left of each row: the values at the top and the bottom, and whether the steps are decades."""
    names = [""] * rows
    names[-1] = panel.write(panel.scale.low)
    names[0] = panel.write(panel.scale.high)
    if panel.scale.log and rows > 2:
        names[rows // 2] = "log"
    return names


def _axis(view: View, label: int, columns: int) -> Iterator[Text]:
    """The axis of time: which seconds were measured, and which end is now."""
    measured = spread([float(each) for each in view.measured], columns)
    yield Text(" " * label + "".join("━" if each else "┈" for each in measured), "dim", no_wrap=True)
    begin, middle, end = f"{min(SECONDS, columns)} s ago", "━ measured", "now"
    words = f"{begin}{middle:^{max(0, columns - len(begin) - len(end))}}{end}"
    yield Text(" " * label + words[:columns], "dim", no_wrap=True)
