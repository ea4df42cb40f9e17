"""The capacities of a history: one small file for each search, beside the runs of the same environment and suite.

`<environment key>/<suite>/<record id>.capacity.json`, never changed. A series has one environment, which includes the
method, and one question; `asked` identifies the question. Everything else is in the capacity record.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeInt

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document, read_document
from pushbench.records.capacity import CapacityRecord
from pushbench.records.environment import Slug
from pushbench.records.record import Instant
from pushbench.records.vocabulary import Name

SUFFIX = ".capacity.json"
LEAVES_SAME = {"first", "most"}
"""keys of a search that change where it begins and ends, but not what it finds in between"""
NEWEST = 100
"""the most searches of a series: older ones belong to former levels"""
LONGEST_REASON = 200


class KeptCapacity(Document):
    """What one search found about one server."""

    build: str = Field(max_length=200)
    carried: NonNegativeInt | None = Field(
        description="median load of the starts that count; null if nothing was found"
    )
    low: NonNegativeInt | None = Field(
        description="smallest load that a start carried, among the starts that came near their limit"
    )
    high: NonNegativeInt | None = Field(
        description="largest load that one of these starts refused, or any start carried; "
        "null if one of these refused nothing"
    )
    at_least: bool = Field(description="whether `carried` is only a lower bound, and not a number of the server")
    end: Literal["limit", "generator", "disturbed", "most", "time"] | None = Field(
        description="what ended the search, as in a capacity record; null if nothing was found"
    )
    reason: str = Field(description="what ended the search, in words", max_length=LONGEST_REASON)
    binds: str | None = Field(
        description="resource that was exhausted at the refused load; null if no limit ended the search", max_length=50
    )
    starts: list[NonNegativeInt] = Field(description="load that each start that counts carried", max_length=100)
    failure: str | None = Field(
        description="why no further start was possible; null if no start failed", max_length=LONGEST_REASON
    )

    @property
    def is_number(self) -> bool:
        """Whether the server itself ended the search."""
        return self.carried is not None and not self.at_least


class CapacityEntry(Document):
    """One search in the history."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    record: Slug
    created: Instant
    commit: str | None = Field(description="full hash of the commit; null outside a git checkout")
    subject: str
    environment: Slug = Field(description="key of the environment")
    method: int = Field(description="number of the metrics' definitions, which is part of the environment")
    suite: Slug
    searched: Name = Field(description="`clients`, or the name of the parameter that is a rate")
    asked: Slug = Field(description="digest of the limits, the parameters and the way of searching")
    servers: dict[str, KeptCapacity]


@dataclass(frozen=True)
class Series:
    """The capacities of one environment for one question, the oldest first."""

    entries: Sequence[CapacityEntry]
    asked_otherwise: int = 0
    """searches that were left out because their question differs"""

    @property
    def servers(self) -> list[str]:
        return sorted({server for entry in self.entries for server in entry.servers})

    def of(self, server: str) -> list[tuple[CapacityEntry, KeptCapacity]]:
        return [(entry, entry.servers[server]) for entry in self.entries if server in entry.servers]

    def numbers(self, server: str) -> list[float]:
        """What the server carried, without lower bounds, which are not its capacity."""
        return [float(kept.carried) for _, kept in self.of(server) if kept.is_number and kept.carried is not None]


def asked_of(record: CapacityRecord) -> str:
    """Identifies the question: capacities with different questions or rules are never in one series."""
    search = record.search.model_dump(mode="json", exclude=LEAVES_SAME)
    limits = sorted((each.metric, each.side, each.value) for each in record.limits)
    text = json.dumps([record.rules, search, limits, record.parameters], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def path_of(store: Path, entry: CapacityEntry) -> Path:
    return store / entry.environment / entry.suite / f"{entry.record}{SUFFIX}"


def append(store: Path, entry: CapacityEntry) -> Path:
    """Add a search. Raises UserError if it exists with other content."""
    path = path_of(store, entry)
    if not path.exists():
        write_atomically(path, entry.model_dump_json(by_alias=True).encode() + b"\n")
    elif read_entry(path) != entry:
        raise UserError(
            "the history already has this search, with other values", where=str(path), hint="entries never change"
        )
    return path


def read_entry(path: Path) -> CapacityEntry:
    """Read an entry. Raises UserError for a file that is not an entry, or is in the place of another one."""
    entry = read_document(path, CapacityEntry, "not a capacity of a history")
    if path_of(path.parents[2], entry) != path:
        raise UserError(f"the search {entry.record} belongs elsewhere", where=str(path))
    return entry


def folders(store: Path) -> list[tuple[str, str]]:
    """Environment and suite of each folder that has capacities, the one searched last first."""
    newest: dict[tuple[str, str], str] = {}
    for path in store.glob(f"*/*/*{SUFFIX}"):
        key = path.parts[-3], path.parts[-2]
        newest[key] = max(newest.get(key, ""), path.name)
    return sorted(newest, key=lambda key: (newest[key], key), reverse=True)


def read_entries(store: Path, environment: str, suite: str) -> list[CapacityEntry]:
    """The newest searches of an environment, the oldest first. Raises UserError for a file that is not an entry."""
    found = sorted((store / environment / suite).glob(f"*{SUFFIX}"))[-NEWEST:]
    return [read_entry(path) for path in found]


def series_of(entries: Iterable[CapacityEntry], asked: str) -> Series:
    """The searches among `entries`, of one environment, with the question `asked`."""
    known = list(entries)
    alike = [entry for entry in known if entry.asked == asked]
    return Series(alike, len(known) - len(alike))
