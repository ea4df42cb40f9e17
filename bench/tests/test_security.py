"""SECURITY.md claims nothing that no file and no test stands for."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLAIM = re.compile(r"`((?:bench|compose|docs|\.github)/[\w./-]+)(?:::(\w+))?`")


def test_each_claim_names_a_file_and_a_test_that_are_there() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    claims = CLAIM.findall(text)
    assert len(claims) > 25
    for path, test in claims:
        assert (ROOT / path).is_file(), path
        if test:
            assert f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"
