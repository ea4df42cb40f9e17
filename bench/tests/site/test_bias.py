"""The page about the method has the table of biases if the checkout has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.calibration.bias import biases
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.site.bias import bias
from tests.comparisons import THRESHOLDS, arms, compared


def test_the_table_is_that_of_the_page_in_docs(tmp_path: Path) -> None:
    project = Project.at(tmp_path)
    assert bias(project) is None
    found = biases([compared(arms("go", rounds=8), injected="comment")], THRESHOLDS)
    file = tmp_path / "docs" / "calibration-bias.json"
    file.parent.mkdir()
    file.write_text(found.model_dump_json(by_alias=True))
    shown = bias(project)
    assert shown
    assert shown["rows"][0][:4] == ["go", "a comment more", "1", "8"]
    assert {len(row) for row in shown["rows"]} == {len(shown["header"])}
    file.write_text("{}")
    with pytest.raises(UserError, match="no biases"):
        bias(project)
