"""The runs of a history as columns: a series is one column, so thousands of runs of many servers fit into memory.

Entries never change, so a cache keeps them, and only new ones are read.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pushbench.foundation.files import write_atomically
from pushbench.records import history
from pushbench.records.history import Entry
from pushbench.records.record import Parameters, Record
from pushbench.records.stages import ranking_order

Values = NDArray[np.float64]
Column = tuple[str, str, str]
"""server, stage, metric"""

CACHE_SCHEMA = 1
FEW = 64
"""runs that are read again each time, before the cache is rewritten"""
NEWEST = 5
"""runs to search for the stages of a server"""
PRESENT = ("", "valid_trials")
"""stage and metric of the column that shows whether a run had the server, valid or not"""


@dataclass(frozen=True)
class Head:
    """One run, without its values."""

    record: str
    created: str
    commit: str | None
    subject: str
    parameters: Parameters
    bytes: int
    """size of its file: a replaced entry is detected by it"""


@dataclass(frozen=True)
class Point:
    """One run in a series; `value` is None if no valid trial measured the metric."""

    record: str
    created: str
    commit: str | None
    subject: str
    value: float | None


@dataclass(frozen=True)
class Runs:
    """Runs of one environment, suite and profile, the oldest first."""

    heads: Sequence[Head]
    columns: Mapping[Column, int]
    values: Values
    """shape (runs or more, columns), in base units; NaN if a run has no value"""

    @cached_property
    def servers(self) -> list[str]:
        """The servers of any of these runs; the columns may belong to more runs."""
        return sorted(server for server in {server for server, _, _ in self.columns} if self.having(server))

    def having(self, server: str) -> list[int]:
        """The runs that had the server."""
        return self.measured(server, *PRESENT)

    def stages(self, server: str) -> list[str]:
        """The stages that the newest runs measured, the one that ranks servers last. A server that ended under load has
        fewer stages in that run than in the others.
        """
        names = {stage for name, stage, metric in self.columns if (name, metric) == (server, "clients")}
        sizes = {stage: self.values[:, self.columns[server, stage, "clients"]] for stage in names}
        measured = [run for run in self.having(server) if any(not np.isnan(of[run]) for of in sizes.values())]
        known = {stage: of[measured[-NEWEST:]] for stage, of in sizes.items()}
        last = {stage: float(of[~np.isnan(of)][-1]) for stage, of in known.items() if not np.isnan(of).all()}
        return sorted(last, key=lambda stage: ranking_order(stage, last[stage]))

    def series(self, server: str, stage: str, metric: str) -> list[Point]:
        """A metric over the runs that had the server, without runs whose parameters differ from the newest."""
        having = self.having(server)
        column = self.columns.get((server, stage, metric))
        points = []
        for run in having:
            head = self.heads[run]
            if head.parameters == self.heads[having[-1]].parameters:
                value = None if column is None else float(self.values[run, column])
                known = None if value is None or np.isnan(value) else value
                points.append(Point(head.record, head.created, head.commit, head.subject, known))
        return points

    def column(self, server: str, stage: str, metric: str) -> list[float]:
        """The known values of a series."""
        column = self.columns.get((server, stage, metric))
        if column is None:
            return []
        values = self.values[: len(self.heads), column]
        found: list[float] = values[~np.isnan(values)].tolist()
        return found

    def column_without(self, server: str, stage: str, metric: str, part: str) -> list[float]:
        """The values of a series minus those of `part`, another metric, in the runs that have both; never below 0."""
        columns = [self.columns.get((server, stage, name)) for name in (metric, part)]
        if None in columns:
            return []
        values = self.values[:, columns[0]] - self.values[:, columns[1]]
        found: list[float] = np.maximum(values[~np.isnan(values)], 0.0).tolist()
        return found

    def measured(self, server: str, stage: str, metric: str) -> list[int]:
        """The runs with the values of `column`."""
        column = self.columns.get((server, stage, metric))
        return [] if column is None else np.flatnonzero(~np.isnan(self.values[: len(self.heads), column])).tolist()

    def only(self, chosen: Sequence[int]) -> Runs:
        """A selection of the runs, without a copy of their values if it is the first ones."""
        first = list(chosen) == list(range(len(chosen)))
        values = self.values[: len(chosen)] if first else self.values[list(chosen)]
        return Runs([self.heads[run] for run in chosen], self.columns, values)


@dataclass(frozen=True)
class Past:
    """The earlier runs that can be compared with a run; if there are none, the reason."""

    runs: Runs
    missing: str = ""
    required: bool = True
    """whether a run is inconclusive if the past is too short or too noisy to judge it; otherwise that is noted"""


def day_of(head: Head) -> date:
    return datetime.fromisoformat(head.created).date()


def first_since(runs: Runs, chosen: Sequence[int], day: date) -> int:
    """How many of the `chosen` runs are from before a day."""
    return bisect_left(chosen, day, key=lambda run: day_of(runs.heads[run]))


def read_runs(
    store: Path, environment: str, suite: str, profile: str, cache: Path, *, beside: Path | None = None
) -> Runs:
    """All runs of one environment, with those of the store `beside` that the first one does not have.

    Raises UserError for a file that is not an entry.
    """
    stores = [each for each in (beside, store) if each]
    folders = [(each / environment / suite / profile).resolve() for each in stores]
    sizes: dict[str, int] = {}
    lies: dict[str, Path] = {}
    for folder in (each / environment / suite / profile for each in stores):
        found = history.sizes(folder)
        sizes |= found
        lies |= dict.fromkeys(found, folder)
    kept = _Cache(cache, hashlib.sha256("\n".join(map(str, folders)).encode()).hexdigest()[:16])
    known = kept.load()
    if known is None or any(sizes.get(head.record) != head.bytes for head in known.heads):
        known = Runs([], {}, np.empty((0, 0)))
    names = {head.record for head in known.heads}
    fresh = [lies[name] / f"{name}.json" for name in sorted(sizes.keys() - names)]
    if not fresh:
        return known
    appended = bool(known.heads) and fresh[0].stem > known.heads[-1].record
    runs = _extended(known, fresh, sizes)
    if not appended or len(fresh) > FEW:
        kept.save(runs)
    return runs


def past_of(store: Path, record: Record, cache: Path) -> Past:
    """The past of a record. Raises UserError for a file that is not an entry."""
    key, suite, profile = record.environment.key, record.suite, record.profile
    runs = read_runs(store, key, suite, profile, cache)
    before = [
        number for number, head in enumerate(runs.heads) if head.created <= record.created and head.record != record.id
    ]
    alike = [number for number in before if runs.heads[number].parameters == record.parameters]
    return Past(runs.only(alike), "" if alike else _missing(store, record, others=bool(before)))


def _missing(store: Path, record: Record, *, others: bool) -> str:
    key, suite, profile = record.environment.key, record.suite, record.profile
    if others:
        return "its runs have other parameters"
    if profiles := sorted(folder.name for folder in (store / key / suite).glob("*") if any(folder.glob("*.json"))):
        return f"it has no earlier run of this environment with the profile {profile} ({', '.join(profiles)})"
    if keys := history.environments(store, suite, profile):
        own = record.environment.method_number
        methods = {each: history.method_of(store / each / suite / profile) for each in keys}
        if set(methods.values()) == {own}:
            return f"its runs are of other environments ({', '.join(keys)}), this one is {key}"
        named = ", ".join(f"{each} of method {method}" for each, method in methods.items())
        return f"its runs are of other environments ({named}), this one is {key} of method {own}"
    return f"it has no run of {suite} with the profile {profile}"


def _extended(known: Runs, fresh: Sequence[Path], sizes: Mapping[str, int]) -> Runs:
    """The runs extended by those of these files, in order of time."""
    columns, heads = _Places(known.columns), list(known.heads)
    values = known.values
    for number, path in enumerate(fresh):
        entry = history.read_entry(path)
        places, found = columns.row(entry)
        if len(heads) == len(values) or len(columns.columns) > values.shape[1]:
            rows = max(len(values), len(heads) + len(fresh) - number)
            values = _enlarged(values, rows, len(columns.columns))
        values[len(heads), places] = found
        heads.append(Head(entry.record, entry.created, entry.commit, entry.subject, entry.parameters, sizes[path.stem]))
    order = sorted(range(len(heads)), key=lambda run: heads[run].record)
    if order == list(range(len(heads))):
        return Runs(heads, columns.columns, values)
    return Runs([heads[run] for run in order], columns.columns, values[order])


def _enlarged(values: Values, runs: int, columns: int) -> Values:
    larger = np.full((runs, columns), np.nan)
    larger[: values.shape[0], : values.shape[1]] = values
    return larger


class _Places:
    """The columns of values; adds new ones. Runs are much alike, so it caches its answers."""

    def __init__(self, columns: Mapping[Column, int]) -> None:
        self.columns = dict(columns)
        self._known: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}

    def row(self, entry: Entry) -> tuple[list[int], list[float]]:
        """The columns of a run's values, and the values."""
        places: list[int] = []
        values: list[float] = []
        for server, measured in entry.servers.items():
            stage, metric = PRESENT
            places += self._of(server, stage, (metric,))
            values.append(float(measured.valid_trials))
            for stage, metrics in measured.stages.items():
                places += self._of(server, stage, tuple(metrics))
                values += metrics.values()
        return places, values

    def _of(self, server: str, stage: str, metrics: tuple[str, ...]) -> list[int]:
        asked = server, stage, metrics
        if asked not in self._known:
            self._known[asked] = [
                self.columns.setdefault((server, stage, metric), len(self.columns)) for metric in metrics
            ]
        return self._known[asked]


class _Cache:
    """The cached runs of one folder: `<name>.json` describes the matrix that it names.

    The matrix is memory-mapped and has a few spare rows: new runs are written there, in memory only.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._about = folder / f"{name}.json"

    def load(self) -> Runs | None:
        """The cached runs; None if there is no cache, or one of another version."""
        try:
            about = json.loads(self._about.read_bytes())
            if about["schema"] != CACHE_SCHEMA:
                return None
            values = np.load(self._folder / Path(about["values"]).name, mmap_mode="c", allow_pickle=False)
            heads = [Head(**head) for head in about["heads"]]
            columns: dict[Column, int] = {(a, b, c): number for number, (a, b, c) in enumerate(about["columns"])}
            fits = values.shape[0] >= len(heads) and values.shape[1] >= len(columns)
            return Runs(heads, columns, values) if fits else None
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return None

    def save(self, runs: Runs) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        before = list(self._folder.glob(f"{self._name}-*.npy"))
        values = self._folder / f"{self._name}-{secrets.token_hex(4)}.npy"
        spare = _enlarged(runs.values[: len(runs.heads)], len(runs.heads) + FEW, len(runs.columns))
        np.save(values, spare, allow_pickle=False)
        about = {
            "schema": CACHE_SCHEMA,
            "values": values.name,
            "heads": [asdict(head) for head in runs.heads],
            "columns": list(runs.columns),
        }
        write_atomically(self._about, json.dumps(about).encode())
        for old in before:
            old.unlink(missing_ok=True)
