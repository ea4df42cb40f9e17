"""The verdict on capacities: whether each server carries less than before. Pure.

The unit is a fresh start. A server is `worse` only if two conditions hold. Every start refused less than each earlier
start carried, or less than the band of the history; and the medians differ by the margin. A lower bound is not a
number, so it is never `worse`, and no result is worse than it.
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
"""on either side: with three starts of one server on each, all of one side are lower by chance once in 20"""

CapacityWord = Literal["better", "same", "worse", "accepted", "unknown"]
"""accepted: worse, and no less than thresholds.yml accepts"""


class Before(Document):
    """What a server carried before."""

    carried: float = Field(
        description="load that the server carried before: the median of the base, or the level of the history"
    )
    low: float = Field(
        description="smallest load that a start of the base carried, or the lower end of the history's band"
    )
    high: float = Field(
        description="largest load that a start of the base refused, or the upper end of the history's band"
    )
    searches: NonNegativeInt = Field(description="number of searches that these values come from")


class JudgedCapacity(Document):
    """What one server carries, and whether that is less than before."""

    server: str
    word: CapacityWord
    outcome: Literal["pass", "fail", "inconclusive"]
    now: KeptCapacity
    before: Before | None = Field(description="earlier result of the server; null if no earlier result is comparable")
    change: float | None = Field(
        description="relative change of the median from the earlier result: 0.05 is 5 % more; null without two "
        "numbers to compare"
    )
    reason: str = Field(
        description="why the word is unknown or accepted, or why the server fails; empty otherwise", max_length=1000
    )


class CapacityVerdict(Document):
    """The outcome of a search for capacities."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    record: str = Field(description="id of the judged capacity record")
    environment: str = Field(description="key of the environment")
    suite: str
    searched: str = Field(description="what was searched: `clients`, or the name of the parameter that is a rate")
    base: str | None = Field(
        description="id of the capacity record that is the base; null for a comparison with the history"
    )
    thresholds_digest: str
    margin: float = Field(description="relative change from which a capacity counts as better or worse")
    outcome: Literal["pass", "fail", "inconclusive"]
    servers: list[JudgedCapacity] = Field(description="results, sorted by the ids of the servers")

    def exit_code(self, *, allow_inconclusive: bool = False) -> int:
        """0 pass, 1 fail, 3 inconclusive, which may be allowed."""
        if self.outcome == "pass" or (self.outcome == "inconclusive" and allow_inconclusive):
            return EXIT_PASS
        return EXIT_FAIL if self.outcome == "fail" else EXIT_UNDECIDED


@dataclass(frozen=True)
class Reference:
    """What a server is compared with, or why there is nothing to compare with."""

    before: Before | None
    missing: str = ""


def against_base(own: CapacityEntry, base: CapacityEntry, thresholds: Thresholds) -> CapacityVerdict:
    """The verdict against one other search. Raises UserError for a search that cannot be compared."""
    _require_alike(own, base)
    references = {server: _of_base(server, base) for server in own.servers}
    return _verdict(own, references, thresholds, base.record)


def against_history(own: CapacityEntry, entries: Sequence[CapacityEntry], thresholds: Thresholds) -> CapacityVerdict:
    """The verdict against the earlier searches of its environment. Other searches in `entries` are ignored."""
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
        raise UserError(f"{base.record} is compared with itself", hint="name another base")
    if own.suite != base.suite:
        raise UserError(f"the base {base.record} is from the suite {base.suite}, and {own.record} from {own.suite}")
    if own.environment != base.environment:
        what = (
            f"the base {base.record} is from the environment {base.environment}, "
            f"and {own.record} from {own.environment}"
        )
        raise UserError(what, hint="capacities of two environments cannot be compared")
    if own.asked != base.asked:
        what = f"the base {base.record} was searched under other conditions than {own.record}"
        raise UserError(what, hint="the limits, the parameters or the search differ")


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
    """The result, `accepted` if a line allows one as low; otherwise the reason explains why the line does not."""
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
    """What fails a server whatever it carried before, as in `pushbench capacity`."""
    nothing = now.carried == 0 and now.is_number
    return now.failure or (f"no load was carried: {now.reason}" if nothing else "")


def _doubt(now: KeptCapacity, reference: Reference) -> str:
    """Why the result cannot be compared; empty if it can."""
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
