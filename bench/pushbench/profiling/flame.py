"""A differential flame graph as one SVG without a script. Pure.

Each box is a function, above its caller, as wide as its CPU per unit of work in the head. Red boxes take more than in
the base, blue ones less (Brendan Gregg, Differential Flame Graphs, 2014). Names are untrusted text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from pushbench.foundation.text import one_line
from pushbench.profiling.profile import Frame, Profile

WIDTH, ROW, TOP, MARGIN = 1200, 17, 44, 8
CHARACTER = 6.6
"""width of a character of 11 px in a monospaced font"""
LEAST_WIDTH = 1.0
"""of a visible box"""
MOST_ROWS = 80
STRONGEST = 0.05
"""the change, as a share of the base's whole CPU, at which a colour reaches full strength"""


@dataclass
class _Box:
    frame: Frame
    base: float = 0.0
    head: float = 0.0
    inner: dict[Frame, _Box] = field(default_factory=dict)


def draw(title: str, unit: str, base: Profile, head: Profile) -> str:
    """The SVG of two profiles in CPU seconds per `unit` of work."""
    root = _Box(Frame("all"))
    for arm, profile in (("base", base), ("head", head)):
        for stack, seconds in profile.stacks.items():
            _add(root, stack[:MOST_ROWS], seconds, arm)
    whole = max(root.base, root.head) or 1.0
    boxes = list(_boxes(root, 0, float(MARGIN), (WIDTH - 2 * MARGIN) / whole))
    rows = 1 + max(row for row, *_ in boxes)
    height = TOP + rows * ROW + MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" font-family="ui-monospace, monospace" font-size="11">',
            f"<title>{_text(title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="{MARGIN}" y="16" font-size="13">{_text(title)}</text>',
            f'<text x="{MARGIN}" y="34" fill="#555555">Width: CPU per {_text(unit)} of the head. '
            "Red: more than the base. Blue: less. Point at a box for its numbers.</text>",
            *(_drawn(row, left, width, box, root) for row, left, width, box in _upside(boxes, rows)),
            "</svg>",
            "",
        ]
    )


def _add(root: _Box, stack: tuple[Frame, ...], seconds: float, arm: str) -> None:
    box = root
    for each in (None, *stack):
        if each is not None:
            box = box.inner.setdefault(each, _Box(each))
        if arm == "base":
            box.base += seconds
        else:
            box.head += seconds


def _boxes(box: _Box, row: int, left: float, scale: float) -> Iterator[tuple[int, float, float, _Box]]:
    """Row, left edge and width of each box that is wide enough to be seen."""
    yield row, left, box.head * scale, box
    for inner in sorted(box.inner.values(), key=lambda each: (each.frame.function, each.frame.file)):
        width = inner.head * scale
        if width >= LEAST_WIDTH:
            yield from _boxes(inner, row + 1, left, scale)
        left += width


def _upside(boxes: list[tuple[int, float, float, _Box]], rows: int) -> Iterator[tuple[int, float, float, _Box]]:
    for row, left, width, box in boxes:
        yield rows - 1 - row, left, width, box


def _drawn(row: int, left: float, width: float, box: _Box, root: _Box) -> str:
    y = TOP + row * ROW
    fits = int((width - 6) / CHARACTER)
    name = box.frame.title(box.frame.line)
    shown = name if len(name) <= fits else f"{name[: fits - 2]}.." if fits > 3 else ""
    label = f'<text x="{left + 3:.1f}" y="{y + 12}">{_text(shown)}</text>' if shown else ""
    return (
        f'<g><title>{_text(_told(name, box))}</title><rect x="{left:.1f}" y="{y}" width="{max(width, 0.1):.1f}" '
        f'height="{ROW - 1}" fill="{_colour(box, root)}"/>{label}</g>'
    )


def _told(name: str, box: _Box) -> str:
    change = box.head - box.base
    return f"{name}: {box.base * 1e6:.2f} us, {box.head * 1e6:.2f} us in the head ({change * 1e6:+.2f} us)"


def _colour(box: _Box, root: _Box) -> str:
    """White for no change, up to red for more and blue for less."""
    share = (box.head - box.base) / (root.base or root.head or 1.0)
    strength = round(min(1.0, abs(share) / STRONGEST) * 150)
    light = 245 - strength
    return f"rgb(250,{light},{light})" if share > 0 else f"rgb({light},{light},250)"


def _text(text: str) -> str:
    return escape(one_line(text), quote=True)
