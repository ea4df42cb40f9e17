"""The answers of `verify`, `run` and `compare` to each fault of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, ValidationError

from pushbench.calibration.catalogue import WAYS, Way
from pushbench.conformance.result import Conformance
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.text import one_line
from pushbench.judging.verdict import Verdict
from pushbench.metrics.validity import is_disturbed
from pushbench.records.environment import Slug
from pushbench.records.record import Instant, Record

Word = Literal["caught", "missed", "undecided", "disturbed"]
"""disturbed: nothing was found, and the machine disturbed at least half of the trials"""
MOST_REASONS = 3
LONGEST_REASON = 200


class Sighting(Document):
    """One command's answer for a server with a fault."""

    word: Word
    seconds: NonNegativeFloat = Field(description="time until the verdict, without builds")
    rounds: NonNegativeInt | None = Field(None, description="number of rounds of a comparison; null for other commands")
    reasons: list[str] = Field(description="what was found, or why nothing was decided", max_length=MOST_REASONS)
    judged_by: str = Field(description="digest of the rules or of the thresholds that were applied")
    most_seconds: NonNegativeFloat | None = Field(
        None, description="maximum time of a comparison; null for other commands"
    )
    when: Instant
    commit: str = Field(description="commit of Pushbench")
    environment: str | None = Field(None, description="key of the environment; null for a verification")
    record: Slug | None = Field(None, description="id of the record; null for a verification")


class FaultResult(Document):
    """The answers for one fault; a way that was not tried is missing."""

    fault: str
    setting: str
    seen: dict[Way, Sighting]

    @property
    def words(self) -> set[Word]:
        return {each.word for each in self.seen.values()}

    @property
    def looks(self) -> list[tuple[Way, Sighting]]:
        return [(way, self.seen[way]) for way in WAYS if way in self.seen]


class FaultResults(Document):
    """The answers for the faults of the catalogue that were tried so far."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    server: str
    results: list[FaultResult]

    def of(self, fault: str, setting: str) -> FaultResult:
        """The answers for a fault with this setting."""
        known = (each for each in self.results if (each.fault, each.setting) == (fault, setting))
        return next(known, FaultResult(fault=fault, setting=setting, seen={}))

    def with_result(self, result: FaultResult, order: Sequence[str]) -> FaultResults:
        """The results with a newer one, in the order of the catalogue; faults that it lacks come last."""
        others = [each for each in self.results if each.fault != result.fault]
        places = {name: place for place, name in enumerate(order)}
        ordered = sorted([*others, result], key=lambda each: places.get(each.fault, len(places)))
        return self.model_copy(update={"results": ordered})


def read_results(file: Path, server: str) -> FaultResults:
    """The earlier results; empty if there is no file. Raises UserError for another file, or another server."""
    if not file.exists():
        return FaultResults(server=server, results=[])
    try:
        found = FaultResults.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise UserError("no results of faults", where=str(file), hint=str(error).splitlines()[0]) from None
    if found.server != server:
        raise UserError(f"these are results of {found.server}, not of {server}", where=str(file))
    return found


def said_by_rules(found: Conformance) -> tuple[Word, list[str]]:
    """The word of a verification, and the broken rules."""
    return ("missed" if found.passed else "caught"), _few([f"{each.name}: {each.detail}" for each in found.failures])


def said_by_verdict(verdict: Verdict, record: Record) -> tuple[Word, list[str]]:
    """The word of a run or a comparison, and its reasons."""
    disturbed = [trial for trial in record.trials if is_disturbed(trial)]
    if verdict.outcome == "fail":
        return "caught", _few(verdict.reasons)
    if disturbed and 2 * len(disturbed) >= len(record.trials):
        return "disturbed", _few([reason.message for trial in disturbed for reason in trial.validity.reasons])
    return ("missed" if verdict.outcome == "pass" else "undecided"), _few(verdict.reasons)


def _few(reasons: Sequence[str]) -> list[str]:
    return [one_line(reason, LONGEST_REASON) for reason in dict.fromkeys(reasons)][:MOST_REASONS]
