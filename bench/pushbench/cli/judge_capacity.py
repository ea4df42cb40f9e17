"""What `pushbench judge` does with a capacity record."""

from __future__ import annotations

from pathlib import Path

from pushbench.cli.documents import read_named
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.judged_capacity import CapacityVerdict, against_base, against_history
from pushbench.judging.thresholds import Thresholds
from pushbench.metrics.kept import entry_of
from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_history import read_entries
from pushbench.records.record import Record
from pushbench.reporting.judged_capacities import render_capacity_verdict


def judge_capacity(
    project: Project, record: CapacityRecord, thresholds: Thresholds, *, base: str, store: Path
) -> tuple[CapacityVerdict, str]:
    """Return the verdict against `base`, or against the history if it is empty, and the text for people."""
    own = entry_of(record)
    if base:
        found = against_base(own, entry_of(_base(project, base)), thresholds)
    else:
        found = against_history(own, read_entries(store, own.environment, own.suite), thresholds)
    return found, render_capacity_verdict(found)


def _base(project: Project, name: str) -> CapacityRecord:
    found = read_named(project, name)
    if isinstance(found, Record):
        raise UserError(f"{name} is the record of a run", hint="--base needs a capacity record")
    return found
