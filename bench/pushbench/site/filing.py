"""The files of each run, made from its full record if the site keeps it, otherwise from its entry in the history."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pushbench.calibration import own_runs
from pushbench.foundation.errors import UserError
from pushbench.judging.verdict import judge
from pushbench.records import history, store
from pushbench.records.record import Record
from pushbench.records.tools import tools_of
from pushbench.site import keeping, runfile
from pushbench.site.inputs import Inputs, Note
from pushbench.site.layout import Data, Folder, part
from pushbench.site.state import State

RUNS = "data/runs"
RECORDS = "records"
ENTRIES = "data/entries"
"""entries of records that the history lacks, in the layout of a history"""


class Source(NamedTuple):
    """The file from which a run's own files are made."""

    path: Path
    """a full record, or the folder of an entry"""
    whole: bool
    size: int

    @property
    def version(self) -> str:
        return f"{'record' if self.whole else 'entry'} {self.size}"


class Filing:
    """Writes the files of new runs, and returns the row of any run: its line in a list of runs."""

    def __init__(self, inputs: Inputs, folder: Folder, state: State, note: Note) -> None:
        self._inputs, self._folder, self._state, self._note = inputs, folder, state, note
        self._rows: dict[str, Data] = {}
        self._sources: dict[str, Source] = {}

    def file(self) -> None:
        """Write the files. Raises UserError for a broken file of the history; skips unreadable records with a note."""
        entries, series = self._entries()
        outdated = keeping.outdated(series, self._inputs.keep)
        self._remove(outdated)
        there, kept = self._folder.names(RUNS), self._folder.names(RECORDS)
        for name, path in store.record_files(self._inputs.records).items():
            if name not in outdated:
                self._file(name, Source(path, whole=True, size=path.stat().st_size), there, kept)
        for name, source in sorted(entries.items()):
            if name not in self._sources:
                self._file(name, source, there, kept)

    @property
    def ids(self) -> list[str]:
        """The ids of all runs, the newest first."""
        return sorted(self._sources, reverse=True)

    def row(self, name: str) -> Data:
        """The row of a run. Only few are requested; these are cached."""
        if name not in self._rows:
            known = self._state.known_row(name)
            self._rows[name] = known if known else self._read_row(name, self._sources[name])
        self._state.rows[name] = self._rows[name]
        return self._rows[name]

    def outcome(self, name: str, server: str) -> str | None:
        """The outcome of a server in a run; None if it is unknown."""
        found = self.row(name).get("outcomes", {}).get(server)
        return str(found) if found else None

    def _entries(self) -> tuple[dict[str, Source], dict[str, keeping.Series]]:
        """The entries of the history, and the series of each."""
        entries: dict[str, Source] = {}
        series: dict[str, keeping.Series] = {}
        for each in history.folders(self._inputs.history):
            folder = self._inputs.history.joinpath(*each)
            for name, size in history.sizes(folder).items():
                entries[name], series[name] = Source(folder, whole=False, size=size), each
        return entries, series

    def _file(self, name: str, source: Source, there: set[str], kept: set[str]) -> None:
        if not (self._state.knows(name, source.version) and f"{part(name)}.js" in there):
            if source.whole:
                try:
                    record = store.read_record(source.path)
                except UserError as error:
                    self._note(f"left out: {error}")
                    return
                name = record.id
                self._rows[name] = self._file_record(record, source.path, kept)
            else:
                entry = history.read_entry(source.path / f"{name}.json")
                self._folder.data(f"runs/{part(name)}", runfile.run_of_entry(entry))
                self._state.keep_tools(name, entry.tools)
                self._rows[name] = runfile.row_of_entry(entry)
        elif source.whole:
            self._keep(source.path, kept)
        self._sources[name] = source
        self._state.runs[name] = source.version

    def _file_record(self, record: Record, path: Path, kept: set[str]) -> Data:
        verdict = judge(record, self._inputs.thresholds)
        for server in record.servers:
            self._folder.data(f"runs/{part(record.id)}/{part(server)}", runfile.timelines(record, server))
        file = f"{RECORDS}/{quote(self._keep(path, kept))}"
        self._folder.data(f"runs/{part(record.id)}", {**runfile.run(record, verdict), "record": file})
        self._state.environments[record.environment.key] = record.environment.model_dump()
        self._state.keep_words(record)
        if record.comparison is None and record.trials:
            self._keep_entry(record)
        self._state.keep_tools(record.id, tools_of(record))
        self._state.keep_self_comparison(record.id, own_runs.cases_of(record, self._inputs.thresholds))
        return runfile.row(record, verdict)

    def _keep(self, path: Path, kept: set[str]) -> str:
        """Copy the record into the site, unless it is there already; return its name there."""
        name = path.name.removesuffix(".gz").removesuffix(".json")
        for suffix in store.SUFFIXES:
            if f"{name}{suffix}" in kept:
                return f"{name}{suffix}"
        content = path.read_bytes()
        self._folder.write(f"{RECORDS}/{name}.json.gz", content if path.suffix == ".gz" else store.packed(content))
        return f"{name}.json.gz"

    def _keep_entry(self, record: Record) -> None:
        """Write the entry for the record's series. A comparison's pull request is not a point of a series."""
        entry = history.entry_of(record)
        if record.commit and record.commit.dirty:
            entry = entry.model_copy(update={"commit": None, "subject": f"not committed, after: {entry.subject}"})
        if not history.path_of(self._inputs.history, entry).exists():
            path = history.path_of(Path(ENTRIES), entry)
            self._folder.write(path.as_posix(), entry.model_dump_json(by_alias=True).encode() + b"\n")

    def _read_row(self, name: str, source: Source) -> Data:
        if not source.whole:
            return runfile.row_of_entry(history.read_entry(source.path / f"{name}.json"))
        record = store.read_record(source.path)
        return runfile.row(record, judge(record, self._inputs.thresholds))

    def _remove(self, outdated: set[str]) -> None:
        """Remove the full records of these runs, and the files made from these alone. The runs' addresses remain valid:
        their pages are then made from the history.
        """
        removed = 0
        for folder, suffixes in ((RECORDS, store.SUFFIXES), (RUNS, ("",))):
            there = self._folder.names(folder)
            for name in (f"{part(each)}{suffix}" for each in outdated for suffix in suffixes):
                if name in there:
                    self._folder.remove(f"{folder}/{name}")
                    removed += folder == RECORDS
        if removed:
            self._note(f"full records left out, older than the newest {self._inputs.keep}: {removed}")
