"""The store of results: one small file per run, never changed, in a folder that may be a git branch.

`<environment key>/<suite>/<profile>/<record id>.json`. Two writers never touch the same file, so branches always merge.
Runs that must not be compared are in different folders.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from pydantic import Field, NonNegativeInt

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document, read_document
from pushbench.records.environment import Slug
from pushbench.records.record import Instant, Parameters, Record, Trial
from pushbench.records.tools import Tools, tools_of

SIGNIFICANT_DIGITS = 5
"""of the stored values: no metric is measured more precisely, and files are half as large"""


class MeasuredServer(Document):
    """The results of one run for one server."""

    build: str
    trials: NonNegativeInt
    valid_trials: NonNegativeInt
    failed_trials: NonNegativeInt = Field(description="number of valid trials that failed")
    stages: dict[str, dict[str, float]] = Field(
        description="medians over the valid trials in base units, by the stage's name and the metric; only metrics "
        "that all of these trials measured"
    )


class Entry(Document):
    """One run in the history: the part of its record that trends need."""

    schema_: int = Field(default=1, alias="schema")
    record: Slug
    created: Instant
    commit: str | None = Field(description="full hash of the commit; null outside a git checkout")
    subject: str
    environment: Slug = Field(description="key of the environment")
    suite: Slug
    profile: Slug
    parameters: Parameters
    servers: dict[str, MeasuredServer]
    tools: Tools | None = Field(
        None, description="tools that the run was measured with; null in entries from before tools were kept"
    )
    method: int | None = Field(None, description="number of the metrics' definitions; null means 1")


def entry_of(record: Record) -> Entry:
    return Entry(
        record=record.id,
        created=record.created,
        commit=record.commit.sha if record.commit else None,
        subject=record.commit.subject if record.commit else "",
        environment=record.environment.key,
        suite=record.suite,
        profile=record.profile,
        parameters=record.parameters,
        servers={server: _measured(record, server) for server in record.servers},
        tools=tools_of(record),
        method=record.environment.method,
    )


def path_of(store: Path, entry: Entry) -> Path:
    return store / entry.environment / entry.suite / entry.profile / f"{entry.record}.json"


def append(store: Path, record: Record) -> Path:
    """Add a run. Raises UserError for a run of uncommitted sources, and if it exists with other content."""
    if record.commit is None or record.commit.dirty:
        raise UserError(f"{record.id}: not added: its sources are no commit", hint="commit them and measure again")
    if not record.complete:
        raise UserError(f"{record.id}: not added: {len(record.trials)} of {len(record.plan)} trials were measured")
    entry = entry_of(record)
    path = path_of(store, entry)
    if not path.exists():
        write_atomically(path, entry.model_dump_json(by_alias=True).encode() + b"\n")
    elif read_entry(path) not in (entry, entry.model_copy(update={"tools": None})):
        raise UserError(
            "the history already has this run, with other values", where=str(path), hint="entries never change"
        )
    return path


def folders(store: Path) -> list[tuple[str, str, str]]:
    """Environment, suite and profile of each folder of entries."""
    found = (path.relative_to(store).parts for path in store.glob("*/*/*") if path.is_dir())
    return sorted((environment, suite, profile) for environment, suite, profile in found)


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of the entries in a folder, by the ids of their runs. There are too many to create a path for each."""
    try:
        with os.scandir(folder) as found:
            return {each.name[:-5]: each.stat().st_size for each in found if each.name.endswith(".json")}
    except FileNotFoundError:
        return {}


def read_entry(path: Path) -> Entry:
    """Read an entry. Raises UserError for a file that is not an entry, or is in the place of another one."""
    entry = read_document(path, Entry, "not an entry of a history")
    if path_of(path.parents[3], entry) != path:
        raise UserError(f"the run {entry.record} belongs elsewhere", where=str(path))
    return entry


def environments(store: Path, suite: str, profile: str) -> list[str]:
    """The keys of the environments that have runs, the last measured one first."""
    newest = {
        folder.parent.parent.name: max((path.stem for path in folder.glob("*.json")), default="")
        for folder in store.glob(f"*/{suite}/{profile}")
    }
    return sorted((key for key in newest if newest[key]), key=lambda key: newest[key], reverse=True)


def method_of(folder: Path) -> int:
    """The method of the runs in a folder of entries, which all have the same; 1 if there are none."""
    newest = max(folder.glob("*.json"), default=None)
    return (read_entry(newest).method or 1) if newest else 1


def _measured(record: Record, server: str) -> MeasuredServer:
    trials = [trial for trial in record.trials if trial.server == server and trial.arm == "head"]
    valid = [trial for trial in trials if trial.validity.valid]
    return MeasuredServer(
        build=trials[0].build if trials else "",
        trials=len(trials),
        valid_trials=len(valid),
        failed_trials=sum(trial.failure is not None for trial in valid),
        stages={stage.name: _medians(valid, index) for index, stage in enumerate(record.schedule.stages)},
    )


def _medians(trials: Sequence[Trial], stage: int) -> dict[str, float]:
    measured = [trial.stages[stage].metrics for trial in trials if stage < len(trial.stages)]
    names = measured[0] if measured and len(measured) == len(trials) else {}
    values = {name: [metrics.get(name) for metrics in measured] for name in names}
    return {
        name: float(f"{median(each for each in found if each is not None):.{SIGNIFICANT_DIGITS}g}")
        for name, found in values.items()
        if None not in found
    }
