"""The verdict on capacities: of each server whether it carries less than before. Pure.

The unit is a fresh start. A server is `worse` only where every start refused less than each start before it carried, or
less than the band of the history, and where the medians differ by the margin. A lower bound is no number, so it is
never `worse`, and nothing is worse than it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from pydantic import Field, NonNegativeInt

from pushbench.foundation.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED, UserError
from pushbench.foundation.model import Document
from pushbench.judging.thresholds import AcceptedCapacity, Thresholds
from pushbench.records.capacity_history import CapacityEntry, KeptCapacity, Series, series_of
from pushbench.statistics.trend import SHORTEST_LEVEL, band

STARTS_LEAST = 3
"""on either side: of three and three starts of one server, all of one side are below the other by chance once in 20"""

CapacityWord = Literal["better", "same", "worse", "accepted", "unknown"]
"""accepted: worse, and no less than thresholds.yml accepts"""


class Before(Document):
    """What a server carried before."""

    carried: float = Field(description="of the base, or the level of the history")
    low: float = Field(description="the least that a start of the base carried, or the lower end of the band")
    high: float = Field(description="the most that a start of the base refused, or the upper end of the band")
    searches: NonNegativeInt = Field(description="from which it is known")


class JudgedCapacity(Document):
    """What one server carries, and whether that is less than before."""

    server: str
    word: CapacityWord
    outcome: Literal["pass", "fail", "inconclusive"]
    now: KeptCapacity
    before: Before | None = Field(description="null where nothing is known that can be compared")
    change: float | None = Field(description="of the median, as a share of what it was before")
    reason: str = Field(
        description="why the word is unknown or accepted, or the server fails, in words; empty otherwise",
        max_length=1000,
    )


class CapacityVerdict(Document):
    """The outcome of a search for capacities."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    record: str = Field(description="id of the capacity record that was judged")
    environment: str = Field(description="key")
    suite: str
    searched: str = Field(description="`clients`, or the parameter that is a rate")
    base: str | None = Field(description="id of the capacity record that it was held against; null for the history")
    thresholds_digest: str
    margin: float = Field(description="the change from which on a capacity counts as better or worse, as a share")
    outcome: Literal["pass", "fail", "inconclusive"]
    servers: list[JudgedCapacity] = Field(description="by id")

    def exit_code(self, *, allow_inconclusive: bool = False) -> int:
        """0 pass, 1 fail, 3 inconclusive, which may be allowed."""
        if self.outcome == "pass" or (self.outcome == "inconclusive" and allow_inconclusive):
            return EXIT_PASS
        return EXIT_FAIL if self.outcome == "fail" else EXIT_UNDECIDED


@dataclass(frozen=True)
class Reference:
    """What a server is held against, or why there is nothing."""

    before: Before | None
    missing: str = ""


def against_base(own: CapacityEntry, base: CapacityEntry, thresholds: Thresholds) -> CapacityVerdict:
    """The verdict against one other search. Raises UserError for one that cannot be compared."""
    _require_alike(own, base)
    references = {server: _of_base(server, base) for server in own.servers}
    return _verdict(own, references, thresholds, base.record)


def against_history(own: CapacityEntry, entries: Sequence[CapacityEntry], thresholds: Thresholds) -> CapacityVerdict:
    """The verdict against the searches of its environment before it. `entries` may have others, which are left out."""
    alike = (each for each in entries if (each.environment, each.suite) == (own.environment, own.suite))
    earlier = [each for each in alike if each.created <= own.created and each.record != own.record]
    series = series_of(earlier, own.asked)
    references = {server: _of_history(server, series) for server in own.servers}
    return _verdict(own, references, thresholds, None)


def word(now: KeptCapacity, before: Before, margin: float) -> CapacityWord:
    """The word for a result with enough starts."""
    assert now.carried is not None, "what was not found is not compared"
    if abs(now.carried - before.carried) < margin * before.carried or now.carried == before.carried:
        return "unknown" if now.at_least else "same"
    if now.carried > before.carried:
        return "better" if now.low is not None and now.low >= before.high else "unknown"
    return "worse" if now.is_number and now.high is not None and now.high <= before.low else "unknown"


def _require_alike(own: CapacityEntry, base: CapacityEntry) -> None:
    if own.record == base.record:
        raise UserError(f"{base.record} is held against itself", hint="name another base")
    if own.suite != base.suite:
        raise UserError(f"the base {base.record} is of the suite {base.suite}, and {own.record} of {own.suite}")
    if own.environment != base.environment:
        what = f"the base {base.record} is of the environment {base.environment}, and {own.record} of {own.environment}"
        raise UserError(what, hint="capacities of two environments cannot be compared")
    if own.asked != base.asked:
        what = f"the base {base.record} was asked otherwise than {own.record}"
        raise UserError(what, hint="limits, parameters or the way of searching differ")


def _of_base(server: str, base: CapacityEntry) -> Reference:
    kept = base.servers.get(server)
    if kept is None or kept.carried is None or kept.low is None:
        return Reference(None, "the base has no capacity of it")
    if kept.at_least or kept.high is None:
        return Reference(None, f"the base has a lower bound only, at least {kept.carried:,}: {kept.reason}")
    if len(kept.starts) < STARTS_LEAST:
        return Reference(None, f"the base has {_few(len(kept.starts))}")
    return Reference(Before(carried=kept.carried, low=kept.low, high=kept.high, searches=1))


def _of_history(server: str, series: Series) -> Reference:
    values = series.numbers(server)
    usual = band(values)
    if usual:
        return Reference(Before(carried=usual.level, low=usual.low, high=usual.high, searches=usual.runs))
    bounds = len(series.of(server)) - len(values)
    lower = f", and {bounds} without a number" if bounds else ""
    otherwise = f"; {series.asked_otherwise} were asked otherwise" if series.asked_otherwise else ""
    said = f"the history has {len(values)} capacities of its level{lower}, and {SHORTEST_LEVEL} are needed{otherwise}"
    return Reference(None, said)


def _verdict(
    own: CapacityEntry, references: dict[str, Reference], thresholds: Thresholds, base: str | None
) -> CapacityVerdict:
    suite = thresholds.suite(own.suite)
    margin, day = suite.capacity_margin, datetime.fromisoformat(own.created).date()
    lines = {line.server: line for line in suite.accepted_capacities}
    judged = [
        _accepted(_judge(server, own.servers[server], references[server], margin), lines.get(server), day)
        for server in sorted(own.servers)
    ]
    outcomes = {each.outcome for each in judged} or {"inconclusive"}
    return CapacityVerdict(
        record=own.record,
        environment=own.environment,
        suite=own.suite,
        searched=own.searched,
        base=base,
        thresholds_digest=thresholds.digest,
        margin=margin,
        outcome="fail" if "fail" in outcomes else "inconclusive" if "inconclusive" in outcomes else "pass",
        servers=judged,
    )


def _judge(server: str, now: KeptCapacity, reference: Reference, margin: float) -> JudgedCapacity:
    before = reference.before
    doubt = _doubt(now, reference)
    found = word(now, before, margin) if before and not doubt else "unknown"
    if found == "unknown" and not doubt:
        doubt = _bound(now) if now.at_least else "the change is above the margin, and the intervals overlap"
    failure = _failure(now)
    return JudgedCapacity(
        server=server,
        word=found,
        outcome="fail" if failure or found == "worse" else "inconclusive" if found == "unknown" else "pass",
        now=now,
        before=before,
        change=_change(now, before),
        reason=failure or doubt,
    )


def _accepted(judged: JudgedCapacity, line: AcceptedCapacity | None, day: date) -> JudgedCapacity:
    """The result, `accepted` where a line allows as little; otherwise the reason says why the line does not."""
    if line is None or judged.word != "worse" or judged.now.failure:
        return judged
    assert judged.now.carried is not None, "else it is not worse"
    if not line.holds(day):
        reason = f"{line.where} accepts {line.level:,.0f}, and does not hold on {day}"
        return judged.model_copy(update={"reason": reason})
    if judged.now.carried < line.level:
        return judged.model_copy(update={"reason": f"accepted down to {line.level:,.0f}, found {judged.now.carried:,}"})
    return judged.model_copy(update={"word": "accepted", "outcome": "pass", "reason": line.reason})


def _change(now: KeptCapacity, before: Before | None) -> float | None:
    if before is None or not before.carried or now.carried is None or now.at_least:
        return None
    return now.carried / before.carried - 1


def _failure(now: KeptCapacity) -> str:
    """What fails a server whatever it carried before: as `pushbench capacity` has it."""
    nothing = now.carried == 0 and now.is_number
    return now.failure or (f"no load was carried: {now.reason}" if nothing else "")


def _doubt(now: KeptCapacity, reference: Reference) -> str:
    """Why the result cannot be compared; empty where it can."""
    if now.carried is None or now.end == "disturbed":
        return now.reason
    if len(now.starts) < STARTS_LEAST:
        return _few(len(now.starts))
    if reference.before is None:
        return _bound(now) if now.at_least else reference.missing
    return ""


def _bound(now: KeptCapacity) -> str:
    return f"a lower bound only, at least {now.carried:,}: {now.reason}"


def _few(starts: int) -> str:
    counted = "1 start that counts" if starts == 1 else f"{starts} starts that count"
    return f"{counted}, and {STARTS_LEAST} are needed"
