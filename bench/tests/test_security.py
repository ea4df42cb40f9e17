"""Every claim of SECURITY.md is backed by a file or a test, and it names every permission of a workflow."""

from __future__ import annotations

import re
from pathlib import Path

from pushbench.foundation.yamlfile import read_yaml

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()
CLAIM = re.compile(r"`((?:bench|compose|docs|\.github)/[\w./-]+)(?:::(\w+))?`")
RIGHT = re.compile(r"\| `([\w-]+\.yml)` \| `([\w-]+)` \| `([\w-]+): write` \| (.+) \|")


def granted() -> set[tuple[str, str, str]]:
    """Files, jobs and their write permissions."""
    return {
        (file.name, name, right)
        for file in (ROOT / ".github" / "workflows").glob("*.yml")
        for name, job in read_yaml(file).data["jobs"].items()
        for right, access in job["permissions"].items()
        if access == "write"
    }


def test_each_claim_names_a_file_and_a_test_that_are_there() -> None:
    claims = CLAIM.findall(TEXT)
    assert len(claims) > 60
    for path, test in claims:
        assert (ROOT / path).is_file(), path
        if test:
            assert f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"


def test_each_right_to_write_is_named_with_its_reason_and_no_other() -> None:
    named = {(file, job, right): why for file, job, right, why in RIGHT.findall(TEXT)}
    assert named.keys() == granted()
    assert all(len(why.split()) > 2 for why in named.values()), named
    assert len(RIGHT.findall(TEXT)) == len(named)


def test_what_each_row_claims_is_tried_by_a_test_or_enforced_by_a_file() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and not RIGHT.fullmatch(line)]
    bare = [row for row in rows if not CLAIM.search(row) and not row.endswith(("| enforced by |", "| why |"))]
    assert bare == []


def test_prose_fits_into_lines() -> None:
    assert [line for line in TEXT.splitlines() if len(line) > 120 and not line.startswith("|")] == []
