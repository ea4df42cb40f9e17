"""The cost of meaningless changes for each server, for the page about the method."""

from __future__ import annotations

from pushbench.calibration.bias import read_biases
from pushbench.calibration.bias_table import HEADER, table
from pushbench.foundation.project import Project
from pushbench.site.layout import Data


def bias(project: Project) -> Data | None:
    """The table of a checkout that has figures. Raises UserError for a file without figures."""
    found = read_biases(project.root / "docs" / "calibration-bias.json")
    return {"header": list(HEADER), "rows": table(found), "sittings": found.sittings} if found.servers else None
