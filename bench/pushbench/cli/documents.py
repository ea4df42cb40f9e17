"""Finds the record that the user names: of a run, or of a search for capacities."""

from __future__ import annotations

from pathlib import Path

from pushbench.foundation.project import Project
from pushbench.records import store
from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_store import NEWEST, find_capacity, is_capacity, read_capacity
from pushbench.records.record import Record


def read_named(project: Project, name: str) -> Record | CapacityRecord:
    """Return the record with a name: `latest` is the newest run, `capacity` the newest search. Raises UserError.

    If ids of both runs and searches begin with the name, it means a run.
    """
    if Path(name).is_file():
        return read_capacity(Path(name)) if is_capacity(Path(name)) else store.read_record(Path(name))
    if name == NEWEST or not any(each.startswith(name) for each in (*store.record_files(project.records), "latest")):
        found = find_capacity(project.capacities, name)
        if found:
            return read_capacity(found)
    return store.read_found(project.records, name)
