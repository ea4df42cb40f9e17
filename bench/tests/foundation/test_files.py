"""Files that are complete or absent, and errors that name them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pushbench.foundation.files import write_atomically


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.md"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as refused:
        write_atomically(path, b"new")
    assert refused.value.filename == str(path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("report.md", "old")]
