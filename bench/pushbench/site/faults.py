"""The faults of the catalogue that are detected, for the page about the method."""

from __future__ import annotations

from pushbench.calibration.catalogue import WAYS, catalogue_file, read_catalogue
from pushbench.calibration.fault_table import missed, rows, tally
from pushbench.calibration.sightings import read_results
from pushbench.foundation.project import Project
from pushbench.site.layout import Data


def faults(project: Project) -> Data | None:
    """The table of a checkout that has results and a catalogue. Raises UserError for a file of another format."""
    file = project.root / "docs" / "calibration-faults.json"
    if not (file.exists() and catalogue_file(project).exists()):
        return None
    catalogue = read_catalogue(project)
    table = rows(catalogue, read_results(file, catalogue.server))
    return {
        "server": catalogue.server,
        "tally": tally(table),
        "ways": list(WAYS),
        "rows": [{"title": row.fault.title, "cells": row.cells} for row in table],
        "missed": list(missed(table)),
    }
