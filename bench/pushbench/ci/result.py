"""What a job measured, as it travels from the machine that measured to the one that reports: JSON in one folder.

Whoever reads it believes nothing: sizes, names and schemas are checked, and nothing of it is ever run.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, NonNegativeInt, ValidationError

from pushbench.ci.plan import Plan, Step
from pushbench.errors import UserError
from pushbench.files import write_atomically
from pushbench.model import Document
from pushbench.record import Record
from pushbench.verdict import Verdict

Read = TypeVar("Read", bound=Document)
Outcome = Literal["pass", "fail", "inconclusive", "invalid", "error", "unfinished", "gave-way"]
"""`gave-way`: the machine was needed for something else, and another run goes on with it"""
WORST_FIRST: Sequence[Outcome] = ("gave-way", "fail", "error", "unfinished", "invalid", "inconclusive", "pass")

INDEX = "result.json"
LARGEST_FILE = 32 << 20
"""bytes; the record of a full run of 19 servers has about 6 MB"""
LARGEST_ARCHIVE = 32 << 20
"""bytes, compressed"""
MOST_STEPS = 20


class StepResult(Document):
    """What came of one command."""

    step: Step
    outcome: Outcome
    seconds: float = Field(ge=0)
    said: str = Field(description="the last line of stderr, where there is no record", max_length=2000)
    measured: NonNegativeInt | None = Field(description="number of its record and verdict; null where there is none")


class Result(Document):
    """What a job measured: `result.json`, beside it `<measured>.record.json` and `<measured>.verdict.json`."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    plan: Plan
    steps: list[StepResult] = Field(max_length=MOST_STEPS)

    @property
    def outcome(self) -> Outcome:
        """The worst of a step; a job with nothing to measure passes.

        What gave way has no outcome yet, whatever the steps before found.
        """
        return next((worst for worst in WORST_FIRST if any(each.outcome == worst for each in self.steps)), "pass")


@dataclass(frozen=True)
class Measured:
    record: Record
    verdict: Verdict


@dataclass(frozen=True)
class Results:
    result: Result
    measured: dict[int, Measured]


def write_result(folder: Path, result: Result) -> None:
    write_atomically(folder / INDEX, result.model_dump_json(by_alias=True).encode() + b"\n")


def write_measured(folder: Path, number: int, record: Record, verdict: Verdict) -> None:
    for name, document in (("record", record), ("verdict", verdict)):
        write_atomically(_path(folder, number, name), document.model_dump_json(by_alias=True).encode() + b"\n")


def read_results(folder: Path) -> Results:
    """Raises UserError for what a bench job would not have written."""
    files = {path.name: path.read_bytes() for path in folder.glob("*.json") if path.stat().st_size <= LARGEST_FILE}
    return parse_results(files, str(folder))


def unzip(archive: bytes) -> dict[str, bytes]:
    """The JSON files of an artifact, by name. Nothing is written anywhere. Raises UserError for an odd archive."""
    if len(archive) > LARGEST_ARCHIVE:
        raise UserError(f"an artifact of {len(archive):,} bytes: {LARGEST_ARCHIVE:,} at most")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = opened.infolist()
            if len(members) > 2 * MOST_STEPS + 1:
                raise UserError(f"an artifact with {len(members)} files: {2 * MOST_STEPS + 1} at most")
            return {member.filename: _unpacked(opened, member) for member in members}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise UserError(f"an artifact that is no zip archive: {error}") from None


def parse_results(files: dict[str, bytes], where: str) -> Results:
    """Raises UserError for a file that is missing, is not of its schema, or contradicts another."""
    if INDEX not in files:
        raise UserError(f"{INDEX} is missing", where=where)
    result = _parsed(Result, files, INDEX, where)
    measured = {}
    for number in (each.measured for each in result.steps if each.measured is not None):
        record = _parsed(Record, files, f"{number}.record.json", where)
        verdict = _parsed(Verdict, files, f"{number}.verdict.json", where)
        if verdict.record != record.id:
            raise UserError(f"{number}.verdict.json is of another record", where=where)
        measured[number] = Measured(record, verdict)
    return Results(result, measured)


def _unpacked(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    name = member.filename
    stem = name.removesuffix(".json")
    if stem == name or not stem or any(not (each.isalnum() and each.isascii()) for each in stem.split(".")):
        raise UserError(f"an artifact with a file of another name than {INDEX} or 1.record.json: {name[:80]!r}")
    with opened.open(member) as file:  # the size that the archive claims is not believed
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise UserError(f"an artifact whose {name} has more than {LARGEST_FILE:,} bytes")
    return content


def _parsed(model: type[Read], files: dict[str, bytes], name: str, where: str) -> Read:
    try:
        return model.model_validate(json.loads(files[name]))
    except KeyError:
        raise UserError(f"{name} is missing", where=where) from None
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{name} is not what a bench job writes: {location}: {first['msg']}", where=where) from None
    except (ValueError, RecursionError):
        raise UserError(f"{name} is no JSON document", where=where) from None


def _path(folder: Path, number: int, name: str) -> Path:
    return folder / f"{number}.{name}.json"
