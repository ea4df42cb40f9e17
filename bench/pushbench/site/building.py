"""The site of a folder of records and a history: reads what is new, writes what changed. All effects are here."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench import history, releases
from pushbench.errors import UserError
from pushbench.project import Project
from pushbench.record import Record
from pushbench.releases import Release
from pushbench.site import badges, catalogue, feed, manifest, marks, overview, runfile, series
from pushbench.site.combining import Combination, read_combinations, write_series
from pushbench.site.events import Event
from pushbench.site.layout import Data, Folder, part
from pushbench.site.state import State
from pushbench.store import read_record
from pushbench.thresholds import Thresholds
from pushbench.tools import tools_of
from pushbench.verdict import judge

Note = Callable[[str], None]
"""Tells the person who waits what is being done."""


@dataclass(frozen=True)
class Inputs:
    """`records` has full records, `store` is a history; either may be empty or not be there. `released` are the
    releases that can be seen from here; those that an earlier site knew need not be among them."""

    project: Project
    records: Path
    store: Path
    thresholds: Thresholds
    repository: str | None = None
    released: Sequence[Release] = ()


@dataclass(frozen=True)
class Built:
    runs: int
    written: list[str]
    """paths of the files that are new or others than before"""


def build(inputs: Inputs, out: Path, note: Note) -> Built:
    """Write the data of the site into `out`. Raises UserError for a broken file of the history; a record that cannot
    be read is left out with a note."""
    folder, state = Folder(out), State.read(out, inputs.thresholds.digest)
    known = catalogue.read_catalogue(inputs.project, inputs.repository)
    _write_records(inputs, folder, state, note)
    _write_entries(inputs, folder, state)
    released = _write_releases(inputs, folder, note)
    described, moved = [], []
    combinations = read_combinations(inputs.store, out / ENTRIES, inputs.project.history_cache)
    for combination in combinations:
        marked = _write_marks(folder, state, combination, combinations, released)
        about, events = _write_combination(inputs, folder, state, combination, marked)
        described.append(about)
        moved += events
    rows = [row for _, (_, row) in sorted(state.runs.items(), reverse=True)]
    folder.data("method", catalogue.method(known, inputs.thresholds))
    folder.write("feed.xml", feed.feed(moved, known.repository).encode())
    _write_badges(folder, described, rows)
    whole = manifest.manifest(known, inputs.thresholds, described, rows, state.environments)
    folder.data("manifest", whole)
    folder.write("data/manifest.json", manifest.as_json(whole))
    state.write(out)
    return Built(len(rows), folder.written)


RUNS = "data/runs"
ENTRIES = "data/entries"
"""of records that the history does not have, laid out as a history"""


def _write_records(inputs: Inputs, folder: Folder, state: State, note: Note) -> None:
    there = folder.names(RUNS)
    for path in sorted(inputs.records.glob("*.json"), key=str):
        size = path.stat().st_size
        row = state.known_run(path.stem, size)
        if row is None or _run_file(path.stem) not in there:
            try:
                record = read_record(path)
            except UserError as error:
                note(f"left out: {error}")
                continue
            row = _write_record(inputs, folder, state, record)
        _keep(path, folder.root / "records" / path.name)
        state.runs[row["id"]] = [size, row]


def _write_record(inputs: Inputs, folder: Folder, state: State, record: Record) -> Data:
    verdict = judge(record, inputs.thresholds)
    for server in record.servers:
        folder.data(f"runs/{part(record.id)}/{part(server)}", runfile.timelines(record, server))
    folder.data(f"runs/{part(record.id)}", runfile.run(record, verdict))
    state.environments[record.environment.key] = record.environment.model_dump()
    if record.comparison is None and record.trials:
        _keep_entry(inputs, folder, record)
    state.keep_tools(record.id, tools_of(record))
    return runfile.row(record, verdict)


def _keep_entry(inputs: Inputs, folder: Folder, record: Record) -> None:
    """For its series. What a pull request was compared with is no point of one."""
    entry = history.entry_of(record)
    if record.commit and record.commit.dirty:
        entry = entry.model_copy(update={"commit": None, "subject": f"not committed, after: {entry.subject}"})
    if not history.path_of(inputs.store, entry).exists():
        path = history.path_of(Path(ENTRIES), entry)
        folder.write(path.as_posix(), entry.model_dump_json(by_alias=True).encode() + b"\n")


def _write_entries(inputs: Inputs, folder: Folder, state: State) -> None:
    """Runs that only the history has."""
    there = folder.names(RUNS)
    for path in sorted(inputs.store.glob("*/*/*/*.json"), key=str):
        if path.stem in state.runs:
            continue
        size = path.stat().st_size
        row = state.known_run(path.stem, size)
        if row is None or _run_file(path.stem) not in there:
            entry = history.read_entry(path)
            folder.data(f"runs/{part(entry.record)}", runfile.run_of_entry(entry))
            state.keep_tools(entry.record, entry.tools)
            row = runfile.row_of_entry(entry)
        state.runs[path.stem] = [size, row]


def _write_releases(inputs: Inputs, folder: Folder, note: Note) -> list[Release]:
    """A file that cannot be read may be a newer one: it stays as it is."""
    try:
        known = releases.read_kept(folder.root / releases.FILE)
    except UserError as error:
        note(f"left alone: {error}")
        return list(inputs.released)
    found = releases.merged(known, inputs.released)
    if found:
        folder.write(releases.FILE, releases.as_json(found))
    return found


def _write_marks(
    folder: Folder,
    state: State,
    combination: Combination,
    combinations: Sequence[Combination],
    released: Sequence[Release],
) -> Data:
    """In a file of their own: a release changes no window, and a window no mark."""
    alike = [each for each in combinations if each.measures == combination.measures]
    measured_with = {
        head.record: known for head in combination.runs.heads if (known := state.tools_of(head.record)) is not None
    }
    found = marks.marks(combination, alike, released, state.environments, measured_with)
    folder.data(f"{combination.id}/marks", found)
    return found


def _write_combination(
    inputs: Inputs, folder: Folder, state: State, combination: Combination, marked: Data
) -> tuple[Data, list[Event]]:
    regressions = inputs.thresholds.suite(combination.suite).regressions
    stages = series.stages(combination.runs)
    windows, events = write_series(folder, state, combination, stages, regressions)
    newest = state.runs[combination.newest][1]
    seen = overview.overview(combination.runs, stages, regressions, events, newest)
    folder.data(f"{combination.id}/overview", seen)
    return manifest.combination(combination, stages, windows, seen, marked), events


def _write_badges(folder: Folder, described: list[Data], rows: list[Data]) -> None:
    """Of the first combination: that of the newest runs which were not only a test."""
    for name, text in badges.of_combination(described[0], rows) if described else ():
        folder.write(f"badges/{part(name)}.svg", text.encode())


def _keep(source: Path, target: Path) -> None:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _run_file(record: str) -> str:
    return f"{part(record)}.js"
