"""Servers are distinguishable in every chart, also for colour-blind readers, and look the same in every record."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from pushbench.catalog.servers import read_catalog
from pushbench.foundation.project import Project
from pushbench.reporting.looks import (
    COLOURS,
    DARK,
    DARK_LINES,
    DASHES,
    LIGHT,
    LIGHT_LINES,
    LISTED,
    LOOKS,
    MARKERS,
    PATTERNS,
    Look,
    listed,
    looks,
)
from tests.reporting.colours import VISIONS, contrast, difference, seen_by

PROJECT = Project.current()
STYLE = (PROJECT.pages / "src" / "style.css").read_text()
ORDER = listed((PROJECT.pages / "looks.txt").read_text())
SERVERS = read_catalog(PROJECT.servers)
APART = 15.0
"""CIEDE2000; a difference of 2 is just visible on adjacent areas, but lines are thin and apart"""
GRAPHICS = 3.0
"""the contrast that WCAG 2.2 requires for graphics (1.4.11)"""


def theme(name: str) -> dict[str, str]:
    block = re.search(rf'\[data-theme="{name}"\] {{(.*?)}}', STYLE, re.DOTALL)
    assert block
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[1]))


def colours(name: str) -> list[str]:
    return [theme(name)[f"line-{number}"] for number in range(COLOURS)]


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_colours_differ_whatever_colours_a_reader_sees(name: str, vision: str) -> None:
    for one, other in combinations(colours(name), 2):
        apart = difference(seen_by(vision, one), seen_by(vision, other))
        assert apart >= APART, f"{one} and {other} differ by {apart:.1f}"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_each_colour_stands_out_from_the_paper(name: str) -> None:
    for each in colours(name):
        assert contrast(each, theme(name)["paper"]) >= GRAPHICS, each


def test_the_difference_is_that_of_the_paper_that_defines_it() -> None:
    """Pairs 1, 7 and 19 of Sharma, Wu and Dalal (Color Research and Application 30, 2005)."""
    for one, other, expected in (
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, 2.5, 0.0), (56.0, -27.0, -3.0), 31.9030),
    ):
        assert difference(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)


def test_any_two_looks_differ_in_colour_or_in_dash_and_marker() -> None:
    assert 2 * LISTED == LOOKS
    all_of_the_list = looks([f"s{number}" for number in range(LISTED)], [f"s{number}" for number in range(LISTED)])
    assert len(set(all_of_the_list.values())) == LISTED
    by_name = set(looks([], (f"t{number}" for number in range(5_000))).values())
    assert len(by_name) == LOOKS - LISTED and not by_name & set(all_of_the_list.values())
    for each in by_name | set(all_of_the_list.values()):
        assert each.colour < COLOURS and each.dash < DASHES and each.marker < MARKERS


def test_no_two_servers_of_the_catalogue_look_alike() -> None:
    found: dict[Look, str] = {}
    for server, look in looks(ORDER, (each.id for each in SERVERS)).items():
        assert look not in found, f"add a line for {server} or {found[look]} at the end of report-site/looks.txt"
        found[look] = server


def test_the_list_names_each_server_once_and_has_room() -> None:
    assert len(ORDER) == len(set(ORDER)) <= LISTED


def test_the_first_servers_of_the_list_differ_in_colour_alone() -> None:
    assert {look.colour for look in looks(ORDER, ORDER[:COLOURS]).values()} == set(range(COLOURS))


def test_a_server_looks_the_same_when_others_come_and_go() -> None:
    before = looks(ORDER, ["go", "example"])
    after = looks([*ORDER, "another"], ["another", "example", "go", "third"])
    assert {server: after[server] for server in before} == before


@pytest.mark.parametrize(("name", "tones", "lines"), [("light", LIGHT, LIGHT_LINES), ("dark", DARK, DARK_LINES)])
def test_reports_and_pictures_have_the_colours_of_the_pages(
    name: str, tones: dict[str, str], lines: Sequence[str]
) -> None:
    assert {key: theme(name)[key] for key in tones} == tones
    assert list(lines) == colours(name)


def test_reports_and_pictures_have_the_dashes_of_the_pages() -> None:
    script = (PROJECT.pages / "src" / "theme.ts").read_text()
    [dashes] = re.findall(r"const DASHES: number\[\]\[\] = (.*);", script)
    assert [" ".join(map(str, each)) for each in json.loads(dashes)] == list(PATTERNS)
    [markers] = re.findall(r"const MARKERS = \[(.*)\] as const", script)
    assert len(markers.split(",")) == MARKERS
