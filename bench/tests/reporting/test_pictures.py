"""Charts: every line inside its frame, round numbers beside it, and nothing where there is nothing."""

from __future__ import annotations

import re
from math import inf, nan

import pytest

from pushbench.reporting.pictures import HEIGHT, LEFT, RIGHT, TOP, WIDTH, Chart, Line, draw, look


def chart(*values: float, logarithmic: bool = False, limit: float | None = None) -> str:
    points = [(float(second), value) for second, value in enumerate(values)]
    return draw(Chart("p95", [Line(0, points)], "{:g}".format, "seconds", logarithmic=logarithmic, limit=limit))


def places(svg: str) -> list[tuple[float, float]]:
    [line] = re.findall(r'class="line [^"]*" d="M([^"]*)"', svg)
    return [(float(x), float(y)) for x, y in (each.split() for each in line.split("L"))]


def labels(svg: str) -> list[str]:
    return re.findall(r'text-anchor="end">([^<]*)<', svg)


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


def test_lines_of_many_servers_differ() -> None:
    assert len({look(place) for place in range(32)}) == 32
    assert len({look(place).split()[1] for place in range(4)}) == 4, "the first four without their colours, too"
