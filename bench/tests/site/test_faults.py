"""The page about the method has the table of faults if the checkout has one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pushbench.calibration import catalogue
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.site.faults import faults

SEEN = {
    **{"word": "caught", "seconds": 20.0, "reasons": ["late"], "judged_by": "d", "commit": "v1"},
    "when": "2026-11-23T22:00:00+00:00",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.at(tmp_path)
    place = catalogue.folder(made)
    place.mkdir(parents=True)
    shutil.copy(catalogue.folder(Project.current()) / "catalogue.yml", place)
    (made.root / "docs").mkdir()
    return made


def test_a_checkout_without_results_has_no_table(project: Project) -> None:
    assert faults(project) is None


def test_the_table_has_every_fault_of_the_catalogue(project: Project) -> None:
    known = catalogue.read_catalogue(project)
    nagle = known.select(["nagle"])[0]
    results = [{"fault": "nagle", "setting": nagle.setting, "seen": {"verify": SEEN}}]
    file = project.root / "docs" / "calibration-faults.json"
    file.write_text(json.dumps({"server": known.server, "results": results}))
    found = faults(project)
    assert found
    assert {"title": nagle.title, "cells": ["caught, 20 s", "-", "-"]} in found["rows"]
    assert len(found["rows"]) == len(known.everything)
    assert found["missed"] == []


def test_another_file_in_its_place_is_named(project: Project) -> None:
    (project.root / "docs" / "calibration-faults.json").write_text("{}")
    with pytest.raises(UserError, match="no results of faults"):
        faults(project)
