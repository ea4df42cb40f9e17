"""Results of a run that gave way and that another run continues."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.ci.nights import left_by, partial, taken_up
from tests.fuzz.target import Target


def _seed() -> bytes:
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        return left_by(partial(), Path(folder)).artifacts["results"]


def _read(content: bytes) -> bool:
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        double = left_by(partial(), Path(folder))
    double.artifacts["results"] = content
    return taken_up(double).result.outcome == "pass"


TARGET = Target("going on", [_seed()], _read)
