"""Compact records: the part of runs and searches that a table of all servers needs, in a folder for a repository.

`<suite>-<record id>.json` for a run, `<suite>-<record id>.capacity.json` for a search. A few kilobytes each. The folder
`earlier` in it has the runs of another day, which the newer ones are compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, FiniteFloat, NonNegativeFloat, NonNegativeInt

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document, read_document
from pushbench.records.capacity_history import CapacityEntry
from pushbench.records.environment import Environment, Slug
from pushbench.records.record import Instant, Parameters

SUFFIX, OF_CAPACITY = ".json", ".capacity.json"
EARLIER = "earlier"
LARGEST_BYTES = 1 << 20

Read = TypeVar("Read", bound=Document)
Values = list[FiniteFloat]


class CompactServer(Document):
    """One server of a run, at the headline's stage: a value of each valid trial, in base units."""

    build: str = Field(max_length=200)
    runtime: str = Field(max_length=100)
    framework: str = Field(max_length=100)
    headline: Values = Field(max_length=1000)
    cost: Values = Field(max_length=1000, description="CPU per unit of work")
    memory: Values = Field(max_length=1000, description="peak memory")
    late: NonNegativeFloat = Field(description="largest delay that the generator itself added to the headline")
    problem: str = Field(max_length=500, description="why the server has no place in a ranking; empty if it has one")


class CompactRun(Document):
    """One run, without the data that no table shows."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    record: Slug
    created: Instant
    commit: str
    environment: Environment
    suite: Slug
    profile: Slug
    parameters: Parameters
    stage: str = Field(max_length=100, description="name of the headline's stage")
    clients: NonNegativeInt
    headline: str = Field(max_length=100, description="title of the headline metric")
    cost: str = Field(max_length=100, description="title of the cost metric")
    servers: dict[str, CompactServer]


class CompactCapacity(Document):
    """One search, as a history keeps it, with the machine."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    environment: Environment
    entry: CapacityEntry


@dataclass(frozen=True)
class Kept:
    """The content of a folder, the oldest first."""

    runs: Sequence[CompactRun]
    capacities: Sequence[CompactCapacity]
    earlier: Sequence[CompactRun] = ()
    """the runs of another day"""

    @property
    def suites(self) -> list[str]:
        return sorted({each.suite for each in self.runs} | {each.entry.suite for each in self.capacities})


def keep_run(folder: Path, run: CompactRun) -> Path:
    return _write(folder / f"{run.suite}-{run.record}{SUFFIX}", run)


def keep_capacity(folder: Path, capacity: CompactCapacity) -> Path:
    return _write(folder / f"{capacity.entry.suite}-{capacity.entry.record}{OF_CAPACITY}", capacity)


def read_kept(folder: Path) -> Kept:
    """All compact records of a folder. Raises UserError if there are none, if a file is not one, and if they are of two
    environments, whose servers have no common ranking.
    """
    paths = sorted(folder.glob(f"*{SUFFIX}"))
    if not paths:
        hint = "`./pushbench findings --add latest` keeps the newest run"
        raise UserError("there is no compact record", where=str(folder), hint=hint)
    searches = [_read(path, CompactCapacity) for path in paths if path.name.endswith(OF_CAPACITY)]
    kept = Kept(
        runs=_runs(paths),
        capacities=sorted(searches, key=lambda search: search.entry.record),
        earlier=_runs((folder / EARLIER).glob(f"*{SUFFIX}")),
    )
    _require_one_environment(folder, kept)
    return kept


def _runs(paths: Iterable[Path]) -> list[CompactRun]:
    """The runs among these files, the oldest first."""
    runs = [_read(path, CompactRun) for path in paths if not path.name.endswith(OF_CAPACITY)]
    return sorted(runs, key=lambda run: run.record)


def _write(path: Path, document: Document) -> Path:
    write_atomically(path, document.model_dump_json(by_alias=True).encode() + b"\n")
    return path


def _read(path: Path, model: type[Read]) -> Read:
    if path.stat().st_size > LARGEST_BYTES:
        raise UserError(f"not a compact record: more than {LARGEST_BYTES >> 20} MiB", where=str(path))
    return read_document(path, model, "not a compact record")


def _require_one_environment(folder: Path, kept: Kept) -> None:
    """Raises UserError for two environments. A service counts only if both have it: without it, any version fits."""
    first, *others = _environments(kept)
    services: dict[str, str] = {}
    for record, environment in (first, *others):
        own = environment.services or {}
        conflict = any(services.setdefault(name, version) != version for name, version in own.items())
        if conflict or _machine(environment) != _machine(first[1]):
            what = (
                f"{record} is of another environment ({environment.key}) than {first[0]} ({first[1].key}): "
                "no ranking can contain both"
            )
            raise UserError(what, where=str(folder), hint="keep records of one environment")


def _environments(kept: Kept) -> Iterator[tuple[str, Environment]]:
    yield from ((run.record, run.environment) for run in (*kept.runs, *kept.earlier))
    yield from ((search.entry.record, search.environment) for search in kept.capacities)


def _machine(environment: Environment) -> dict[str, object]:
    """The facts of the key without services: memory counts in whole GiB here, too (`machine.environment`)."""
    gibibytes = round(environment.memory_bytes / 2**30)
    return environment.model_dump(exclude={"key", "services"}) | {"memory_bytes": gibibytes}
