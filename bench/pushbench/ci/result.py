"""The results of a job, passed from the machine that measures to the one that reports: JSON in one folder.

Every reader validates them: sizes, names, schemas and references. Nothing in them is ever executed. Results from
`parse_results` can be rendered.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, NonNegativeInt, ValidationError

from pushbench.ci.agreement import UnknownMetric, capacity_disagreement, disagreement
from pushbench.ci.plan import Plan
from pushbench.ci.steps import MOST_MACHINES, Step
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document, departure
from pushbench.foundation.text import MESSAGE, one_line
from pushbench.judging.judged_capacity import CapacityVerdict
from pushbench.judging.verdict import Verdict
from pushbench.profiling.explanation import Explanation, Explanations, shortened
from pushbench.records.capacity import CapacityRecord
from pushbench.records.environment import Slug
from pushbench.records.record import Machine, Record

Read = TypeVar("Read", bound=Document)
Outcome = Literal["pass", "fail", "inconclusive", "invalid", "error", "unfinished", "gave-way"]
"""`gave-way`: the machine was needed for something else, and another run continues this one"""
WORST_FIRST: Sequence[Outcome] = ("gave-way", "fail", "error", "unfinished", "invalid", "inconclusive", "pass")

INDEX = "result.json"
LARGEST_FILE = 32 << 20
"""bytes; the record of a full run of 19 servers has about 6 MB"""
LARGEST_ARCHIVE = 32 << 20
"""bytes, compressed"""
LARGEST_CONTENT = 128 << 20
"""bytes of all files together"""
LARGEST_NUMBER = 1e18
"""above any count of bytes; a larger float is an error, and an integer could have thousands of digits"""
MOST_STEPS = 20 * MOST_MACHINES
MOST_FILES = 3 * MOST_STEPS + 1
"""record, verdict and explanations of each step, and the index"""


class OtherSchema(UserError):
    """A document from a bench job whose code has another schema than this one, which is no error."""


class StepResult(Document):
    """The outcome of one command."""

    step: Step
    outcome: Outcome
    seconds: float = Field(ge=0)
    said: str = Field(description="last line of stderr if there is no record", max_length=2000)
    measured: NonNegativeInt | None = Field(
        description="number in the file names of the record and verdict; null without them"
    )
    searched: NonNegativeInt | None = Field(
        None, description="number in the file names of the capacity record and verdict; null without them"
    )


class Result(Document):
    """The results of a job: `result.json`, and beside it `<measured>.record.json` and `<measured>.verdict.json`. If
    servers got worse in CPU, there is `<measured>.explained.json`; for a search, `<searched>.capacity.json` and
    `<searched>.judged.json`.
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    plan: Plan
    steps: list[StepResult] = Field(max_length=MOST_STEPS)
    machine: Slug | None = Field(None, description="name of the machine; null if it has none")
    machines: list[Machine] = Field([], description="machines that shared the servers", max_length=MOST_MACHINES)

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the steps. A job with nothing to measure passes; one that left out a changed server does
        not.

        A job that gave way has no outcome yet, whatever its earlier steps found. Measurements of a single machine that
        differs from the others are invalid; a comparison is not, because both of its arms were on that machine.
        """
        best: Outcome = "inconclusive" if self.plan.left_out else "pass"
        found: set[Outcome] = {each.outcome for each in self.steps} | {best}
        if any(each.step.kind != "compare" and self.apart(each.step.servers) for each in self.steps):
            found.add("invalid")
        return next(worst for worst in WORST_FIRST if worst in found)

    def apart(self, servers: Sequence[str]) -> list[str]:
        """The machines that differ from the others and have one of the servers."""
        return [each.name for each in self.machines if each.apart and set(each.servers) & set(servers)]


@dataclass(frozen=True)
class Measured:
    record: Record
    verdict: Verdict
    explanations: Sequence[Explanation] = ()


@dataclass(frozen=True)
class Searched:
    record: CapacityRecord
    verdict: CapacityVerdict

    @property
    def outcome(self) -> Outcome:
        """The outcome of the step. An unknown result fails nothing: the first nights have few earlier runs, and a lower
        bound stays a lower bound.
        """
        return "fail" if self.verdict.outcome == "fail" else "pass"


@dataclass(frozen=True)
class Results:
    result: Result
    measured: dict[int, Measured]
    searched: dict[int, Searched] = field(default_factory=dict)


def write_result(folder: Path, result: Result) -> None:
    write_atomically(folder / INDEX, result.model_dump_json(by_alias=True).encode() + b"\n")


def write_measured(
    folder: Path, number: int, record: Record, verdict: Verdict, explanations: Sequence[Explanation] = ()
) -> None:
    documents: dict[str, Document] = {"record": record, "verdict": verdict}
    if explanations:
        documents["explained"] = Explanations(explanations=[shortened(each) for each in explanations])
    for name, document in documents.items():
        write_atomically(_path(folder, number, name), document.model_dump_json(by_alias=True).encode() + b"\n")


def write_searched(folder: Path, number: int, record: CapacityRecord, verdict: CapacityVerdict) -> None:
    for name, document in (("capacity", record), ("judged", verdict)):
        write_atomically(_path(folder, number, name), document.model_dump_json(by_alias=True).encode() + b"\n")


def write_results(folder: Path, results: Results) -> None:
    """Write everything that `read_results` reads."""
    for number, measured in results.measured.items():
        write_measured(folder, number, measured.record, measured.verdict, measured.explanations)
    for number, searched in results.searched.items():
        write_searched(folder, number, searched.record, searched.verdict)
    write_result(folder, results.result)


def read_results(folder: Path) -> Results:
    """Read and validate results. Raises UserError for anything that a bench job would not have written."""
    files = {path.name: path.read_bytes() for path in folder.glob("*.json") if path.stat().st_size <= LARGEST_FILE}
    return parse_results(files, str(folder))


def unzip(archive: bytes) -> dict[str, bytes]:
    """The JSON files of an artifact, by name. Nothing is written anywhere. Raises UserError for an odd archive."""
    if len(archive) > LARGEST_ARCHIVE:
        raise UserError(f"an artifact of {len(archive):,} bytes, expected at most {LARGEST_ARCHIVE:,}")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = opened.infolist()
            if len(members) > MOST_FILES:
                raise UserError(f"an artifact with {len(members)} files, expected at most {MOST_FILES}")
            files: dict[str, bytes] = {}
            for member in members:
                if member.filename in files:
                    raise UserError(f"an artifact with several files {member.filename[:80]!r}")
                files[member.filename] = _unpacked(opened, member)
                if sum(len(content) for content in files.values()) > LARGEST_CONTENT:
                    raise UserError(f"an artifact that unpacks to more than {LARGEST_CONTENT:,} bytes")
            return files
    except UserError:
        raise
    except Exception as error:  # zlib.error, LZMAError, BadZipFile, struct.error, ...: every decompressor has its own
        raise UserError(f"an artifact that is not a zip archive: {one_line(str(error), MESSAGE)}") from None


def parse_results(files: dict[str, bytes], where: str, *, ignore_unknown: bool = False) -> Results:
    """The results, whose parts agree with each other. With `ignore_unknown`, unknown fields are left out: a pull
    request may have added them.

    Raises UserError for a file that is missing, does not match its schema, or contradicts another; OtherSchema if the
    code that wrote it has another schema.
    """
    reader = _Reader(files, where, ignore_unknown)
    result = reader.parsed(Result, INDEX)
    if [each.step for each in result.steps] != result.plan.steps:
        raise UserError(f"{INDEX} has other steps than its plan", where=where)
    measured: dict[int, Measured] = {}
    searched: dict[int, Searched] = {}
    for each in result.steps:
        if each.searched is not None:
            searched[each.searched] = reader.searched(each, searched)
            continue
        if each.measured is None:
            if each.outcome in ("pass", "fail"):
                raise UserError(f"{INDEX} has a step with the outcome {each.outcome} and no record", where=where)
            continue
        if each.measured in measured:
            raise UserError(f"{INDEX} names the record {each.measured} for several steps", where=where)
        found = reader.measured(each.measured)
        judged = (found.verdict.outcome, "error", "unfinished", "gave-way")
        if each.outcome not in judged and each.step.kind != "machine":
            raise UserError(f"{INDEX} has another outcome than {each.measured}.verdict.json", where=where)
        measured[each.measured] = found
    return Results(result, measured, searched)


def _unpacked(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    name = member.filename
    stem = name.removesuffix(".json")
    if stem == name or not stem or any(not (each.isalnum() and each.isascii()) for each in stem.split(".")):
        raise UserError(f"an artifact with a file of another name than {INDEX} or 1.record.json: {name[:80]!r}")
    with opened.open(member) as file:  # the archive's own size field is not trusted
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise UserError(f"an artifact whose {name} has more than {LARGEST_FILE:,} bytes")
    return content


@dataclass(frozen=True)
class _Reader:
    files: dict[str, bytes]
    where: str
    ignore_unknown: bool

    def measured(self, number: int) -> Measured:
        record = self.parsed(Record, f"{number}.record.json")
        verdict = self.parsed(Verdict, f"{number}.verdict.json")
        if verdict.record != record.id:
            raise UserError(f"{number}.verdict.json belongs to another record", where=self.where)
        try:
            said = disagreement(record, verdict)
        except UnknownMetric as error:
            raise self._differs(f"{number}.verdict.json", f"the metric {str(error)[:80]!r} is not known") from None
        if said:
            raise UserError(f"{number}.verdict.json contradicts {number}.record.json: {said}", where=self.where)
        return Measured(record, verdict, self._explanations(number, record))

    def _explanations(self, number: int, record: Record) -> Sequence[Explanation]:
        name = f"{number}.explained.json"
        if name not in self.files:
            return ()
        found = self.parsed(Explanations, name).explanations
        if any(each.record != record.id or each.server not in record.servers for each in found):
            raise UserError(f"{name} belongs to another record", where=self.where)
        return found

    def searched(self, step: StepResult, others: dict[int, Searched]) -> Searched:
        """The search that a step names. Raises UserError if it cannot be that step's."""
        number = step.searched
        if step.measured is not None or step.step.kind != "capacity" or number is None or number in others:
            raise UserError(f"{INDEX} names the search {number} for another step", where=self.where)
        record = self.parsed(CapacityRecord, f"{number}.capacity.json")
        verdict = self.parsed(CapacityVerdict, f"{number}.judged.json")
        found = Searched(record, verdict)
        if said := capacity_disagreement(record, verdict):
            raise UserError(f"{number}.judged.json contradicts {number}.capacity.json: {said}", where=self.where)
        if step.outcome not in (found.outcome, "error", "unfinished"):
            raise UserError(f"{INDEX} has another outcome than {number}.judged.json", where=self.where)
        return found

    def parsed(self, model: type[Read], name: str) -> Read:
        if name not in self.files:
            raise UserError(f"{name} is missing", where=self.where)
        try:
            found = json.loads(self.files[name], parse_constant=_refused, parse_float=_bounded, parse_int=_whole)
        except (ValueError, RecursionError):
            raise UserError(f"{name} is not a JSON document", where=self.where) from None
        try:
            document = model.model_validate(found, extra="ignore" if self.ignore_unknown else None)
        except ValidationError as error:
            said = one_line(departure(error), MESSAGE)
            if isinstance(found, dict) and any(
                each["type"] == "missing" or each["loc"] == ("schema",) for each in error.errors(include_input=False)
            ):
                raise self._differs(name, said) from None
            raise UserError(f"{name} is not what a bench job writes: {said}", where=self.where) from None
        if not _in_bounds(document.model_dump()):  # a text such as "1e300" also counts as a number
            raise UserError(f"{name} has a number out of bounds", where=self.where)
        return document

    def _differs(self, name: str, said: str) -> OtherSchema:
        return OtherSchema(f"{name} has another schema than this version of Pushbench reads: {said}", where=self.where)


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _bounded(text: str) -> float:
    number = float(text)
    if abs(number) > LARGEST_NUMBER:
        raise ValueError("a number out of bounds")
    return number


def _in_bounds(found: object) -> bool:
    if isinstance(found, dict):
        return all(map(_in_bounds, found.values()))
    if isinstance(found, list):
        return all(map(_in_bounds, found))
    return not isinstance(found, int | float) or abs(found) <= LARGEST_NUMBER


def _whole(text: str) -> int:
    if len(text) > len(str(int(LARGEST_NUMBER))):
        raise ValueError("a number out of bounds")
    return int(text)


def _path(folder: Path, number: int, name: str) -> Path:
    return folder / f"{number}.{name}.json"
