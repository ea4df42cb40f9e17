"""docs/architecture.md describes each module of the integration with GitHub."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
SECTION = (ROOT / "docs" / "architecture.md").read_text().partition("## On GitHub\n")[2].partition("\n## ")[0]


def test_each_module_has_one_row_and_each_row_a_module() -> None:
    named = re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE)
    there = {file.stem for file in (ROOT / "bench" / "pushbench" / "ci").glob("*.py")} - {"__init__"}
    assert sorted(named) == sorted(there)


def test_the_lines_can_be_read() -> None:
    assert [line for line in SECTION.splitlines() if len(line) > 120] == []
