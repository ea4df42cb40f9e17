"""A checkout with records, and its command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.cli import main
from pushbench.records import store
from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_store import write_capacity
from pushbench.records.record import Record
from tests.factories import WORDS

LIMITS = "version: 1\nsuites:\n  whiteboard:\n    limits: {loss_ratio: {max: 1%}}\n"


class Checkout:
    """A checkout whose command line is called as a user types it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self._capsys, self._monkeypatch = root, capsys, monkeypatch
        (root / "thresholds.yml").write_text(LIMITS)
        (root / "k6" / "scenarios").mkdir(parents=True)
        profile = (
            "{stages: [1], warmup_seconds: 0, ramp_seconds: 0, settle_seconds: 0, steady_seconds: 1, drain_seconds: 1}"
        )
        suite = (
            "title: W\ndescription: W\nprotocols: [p]\nparameters: {}\n"
            f"words: {WORDS}\nprofiles: {{smoke: {profile}}}\n"
        )
        (root / "k6" / "scenarios" / "whiteboard.yml").write_text(suite)
        monkeypatch.setenv("PUSHBENCH_ROOT", str(root))
        monkeypatch.setenv("COLUMNS", "80")

    def write(self, record: Record) -> Path:
        return store.write_record(self.root / "out" / "records", record)

    def write_capacity(self, record: CapacityRecord) -> Path:
        return write_capacity(self.root / "out" / "capacity", record)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._monkeypatch.setattr("sys.argv", ["pushbench", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        said = self._capsys.readouterr()
        return int(exit_.value.code or 0), said.out, said.err
