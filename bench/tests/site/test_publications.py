"""The published comparisons that the site shows in addition to those of its suites."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.catalog.servers import read_catalog
from pushbench.catalog.suites import read_suites
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.metrics.definitions import metrics_of
from pushbench.site.publications import read_publications

FILE = Path(__file__).parents[3] / "docs" / "publications.yml"


def test_the_published_figures_are_in_base_units_beside_words() -> None:
    found = {each["id"]: each for each in read_publications(FILE)["publications"]}
    assert list(found) == ["whiteboard", "typing-game", "token-stream", "location", "posts"]
    assert found["token-stream"]["rows"][1] == ["WebFlux", [67.3, "per_second"], [0.149, "seconds"]]
    for each in found.values():
        assert {len(row) for row in each["rows"]} == {len(each["columns"])}


def test_a_source_has_an_author_and_a_safe_address(tmp_path: Path) -> None:
    sources = [each["source"] for each in read_publications(FILE)["publications"]]
    assert all(each["author"] for each in sources)
    assert sum(each["address"] is not None for each in sources) >= 4
    file = tmp_path / "publications.yml"
    file.write_text(FILE.read_text().replace("https://liljay", "javascript:liljay"))
    with pytest.raises(UserError, match="address"):
        read_publications(file)


def test_what_stands_beside_a_publication_is_measured_here() -> None:
    project = Project.current()
    suites = {suite.id: suite.spec for suite in read_suites(project.scenarios)}
    servers = {server.id: server.spec.suite for server in read_catalog(project.servers)}
    beside = [each["beside"] for each in read_publications(FILE)["publications"] if each["beside"]]
    assert {each["suite"] for each in beside} == set(suites), "each suite has a publication beside it"
    for each in beside:
        suite = suites[each["suite"]]
        known = metrics_of(suite.words)
        stages = {stage.name for profile in suite.profiles.values() for stage in profile.stages}
        assert {row["stage"] for row in each["rows"] if row and row["stage"]} <= stages
        assert {column["metric"] for column in each["columns"] if column} <= set(known)
        assert {servers[row["server"]] for row in each["rows"] if row} == {each["suite"]}


def test_a_row_without_a_figure_for_each_column_is_told(tmp_path: Path) -> None:
    file = tmp_path / "publications.yml"
    file.write_text(FILE.read_text().replace("        - {server: node-ws}\n", ""))
    with pytest.raises(UserError) as raised:
        read_publications(file)
    assert "whiteboard: expected 9 columns and 6 rows beside it" in str(raised.value)


def test_a_checkout_without_the_file_has_no_publications(tmp_path: Path) -> None:
    assert read_publications(tmp_path / "publications.yml") == {"publications": []}


def test_a_figure_in_an_unknown_unit_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "publications.yml"
    file.write_text(FILE.read_text().replace("[15, per_second]", "[15, per_fortnight]"))
    with pytest.raises(UserError) as raised:
        read_publications(file)
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "fortnight" in text)
    assert f"publications.yml:{line}" in str(raised.value.where)
