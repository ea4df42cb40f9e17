"""Charts have every line inside their frame, round numbers beside it, and nothing for missing values."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from math import inf, nan
from xml.etree import ElementTree

import pytest

from pushbench.reporting.looks import COLOURS, DASHES, LIGHT, MARKERS, Look
from pushbench.reporting.pictures import (
    FONT,
    HEIGHT,
    LEFT,
    LETTER,
    RIGHT,
    TOP,
    WIDTH,
    Chart,
    Line,
    Upright,
    draw,
    standalone,
)

LOOK = Look(1, 2, 3)
LOOKS = list(product(range(COLOURS), range(DASHES), range(MARKERS)))


def make_chart(*values: float, logarithmic: bool = False, limit: float | None = None, title: str = "p95") -> Chart:
    points = [(float(second), value) for second, value in enumerate(values)]
    return Chart(title, [Line(LOOK, points)], "{:g}".format, "seconds", logarithmic=logarithmic, limit=limit)


def chart(*values: float, logarithmic: bool = False, limit: float | None = None) -> str:
    return draw(make_chart(*values, logarithmic=logarithmic, limit=limit))


def places(svg: str) -> list[tuple[float, float]]:
    [line] = re.findall(r'class="line [^>]* d="M([^"]*)"', svg)
    return [(float(x), float(y)) for x, y in (each.split() for each in line.split("L"))]


def labels(svg: str) -> list[str]:
    return re.findall(r'text-anchor="end"[^>]*>([^<]*)<', svg)


@pytest.mark.parametrize("values", [(1.0, 2.0, 3.0), (0.0, 0.0007, 0.0002), (5.0,), (7.0, 7.0), (0.3, 12_345.6)])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_lines_stay_inside(values: tuple[float, ...], *, logarithmic: bool) -> None:
    for x, y in places(chart(*values, logarithmic=logarithmic)):
        assert LEFT <= x <= WIDTH - RIGHT
        assert TOP <= y <= HEIGHT


def test_more_is_higher_and_later_is_right() -> None:
    (x1, y1), (x2, y2), (_, y3) = places(chart(1.0, 4.0, 2.0))
    assert x1 < x2
    assert y2 < y3 < y1


def test_axes_have_round_numbers() -> None:
    assert labels(chart(0.0, 0.63)) == ["0", "0.2", "0.4", "0.6"]
    assert labels(chart(0.3, 44.0, logarithmic=True)) == ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]


def test_a_limit_is_drawn_where_it_can_be_seen() -> None:
    assert "limit 5" in labels(chart(1.0, 4.0, limit=5.0))
    assert "limit 500" not in labels(chart(1.0, 4.0, limit=500.0))


def test_a_logarithm_leaves_zeros_out() -> None:
    assert len(places(chart(0.0, 1.0, 2.0, logarithmic=True))) == 2


@pytest.mark.parametrize("logarithmic", [False, True])
def test_numbers_that_nothing_measures_are_left_out(*, logarithmic: bool) -> None:
    beyond = (nan, inf, -inf, -3.0, 1e308, 1e19)
    assert len(places(chart(1.0, *beyond, 2.0, logarithmic=logarithmic))) == 2
    assert chart(*beyond, logarithmic=logarithmic) == ""
    assert len(places(chart(1e-12, 1e18, logarithmic=logarithmic))) == 2


def test_nothing_is_drawn_of_nothing() -> None:
    assert chart() == ""
    assert chart(0.0, 0.0, logarithmic=True) == ""


def test_of_very_many_points_the_highest_stay() -> None:
    values = [1.0] * 5000
    values[4321] = 9.0
    found = places(chart(*values))
    assert len(found) <= 300
    assert min(y for _, y in found) < max(y for _, y in found)


@pytest.mark.parametrize("limit", [0.002, 0.5, 2.0])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_no_text_is_cut_at_the_top(limit: float, *, logarithmic: bool) -> None:
    svg = chart(0.001, limit / 2, limit=limit, logarithmic=logarithmic)
    assert f"limit {limit:g}" in labels(svg)
    heights = [float(y) for y in re.findall(r'<text [^>]*y="([^"]*)"', svg)]
    assert all(y >= FONT for y in heights), heights


def test_no_text_is_cut_at_the_right() -> None:
    svg = draw(replace(make_chart(1.0, 2.0), marks=[(0.0, "2026-11-01"), (1.0, "2026-11-23")]))
    assert f'x="{WIDTH - 2}" y="{HEIGHT - 22}" text-anchor="end"' in svg
    assert 'text-anchor="middle"' in svg, "where there is room, below the point"


def test_no_text_is_cut_at_the_left() -> None:
    found = labels(draw(replace(make_chart(0.0021, 0.024), said="{:.4f} cores".format)))
    assert "0.0050 cores" in found
    assert max(map(len, found)) * LETTER <= LEFT - 6


def test_a_place_of_the_axis_has_its_name() -> None:
    found = make_chart(1.0, 2.0)
    svg = draw(replace(found, uprights=[Upright(4.0, "carries 400")]))
    assert "carries 400" in labels(svg)
    assert places(svg)[-1][0] < WIDTH - RIGHT, "the axis reaches to the place"


def test_a_picture_of_its_own_has_both_themes_a_name_and_no_script() -> None:
    title = '</title><script>alert(1)</script> "x" & <b>'
    root = ElementTree.fromstring(standalone(make_chart(1.0, 2.0, title=title), "<i> & more", "2 ms"))
    names = [each.tag.removeprefix("{http://www.w3.org/2000/svg}") for each in root.iter()]
    assert set(names) == {"svg", "title", "style", "rect", "text", "g", "path"}
    assert root.attrib["aria-label"] == f"{title}: 2 ms"
    [style] = [each.text or "" for each in root.iter() if each.tag.endswith("style")]
    assert style.startswith("@media (prefers-color-scheme:dark){") and style.endswith("}}")
    written = [each for each in root.iter() if each.tag.endswith("text")]
    assert {title, "<i> & more", "2 ms"} <= {each.text for each in written}
    assert all(each.attrib["fill"] == LIGHT["ink" if each.attrib["class"] == "ink" else "muted"] for each in written)
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or name == "href"]


def test_each_class_of_a_picture_has_a_colour_in_the_dark() -> None:
    svg = standalone(replace(make_chart(1.0, 2.0, limit=3.0), bands=[(0.0, 1.0)]), "about", "now")
    [dark] = re.findall(r"<style>(.*)</style>", svg)
    used = {name for each in re.findall(r'class="([^"]*)"', svg) for name in each.split()}
    assert used - {"line"} <= set(re.findall(r"\.(\w+)\{", dark))


def test_nothing_is_a_picture_of_nothing() -> None:
    assert standalone(make_chart(), "about", "") == ""


def test_each_look_is_drawn_otherwise() -> None:
    drawn = {draw(Chart("p95", [Line(Look(c, d, m), [(0, 1), (1, 2)])], str, "s")) for c, d, m in LOOKS}
    assert len(drawn) == len(LOOKS)
