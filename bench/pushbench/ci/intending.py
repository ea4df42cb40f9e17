"""The comment's part about intended regressions: lines for a thresholds.yml, and where they go. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pushbench.ci.plan import Plan
from pushbench.judging.accepting import FILE
from pushbench.judging.judged import JudgedRow
from pushbench.judging.judged_changes import JudgedChange, covers
from pushbench.judging.proposing import PLACEHOLDER, in_full, propose
from pushbench.judging.verdict import Verdict
from pushbench.records.record import Record
from pushbench.reporting.comment import Intended, Part

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
"""names that are safe in lines that users copy"""


@dataclass(frozen=True)
class Promises:
    """The content of the default branch's threshold files; a comment uses it to name the place of a line."""

    checkout: str | None = None
    """the content of thresholds.yml; None if it is unknown"""
    own: Mapping[str, str] = field(default_factory=dict)
    """the content of the file beside a server's description, by the server's id"""


NOT_KNOWN = Promises()


def with_intended(part: Part, plan: Plan, promises: Promises) -> Part:
    """The part with the lines that accept its failures, as far as lines can: regressions against the base, and limits.

    They go to the file that applies: the server's own, if it has one, otherwise the checkout's.
    """
    record, verdict = part.record, part.summary.verdict
    control = record.comparison is not None and record.comparison.injected
    if not plan.is_of_pull_request or verdict.outcome != "fail" or control or not PLAIN.fullmatch(record.suite):
        return part
    verdict = _acceptable(record, verdict)
    servers: dict[str, list[str]] = {}
    for server in dict.fromkeys(row.server for row in (*verdict.changes, *verdict.limits)):
        servers.setdefault(plan.promises.get(server, FILE), []).append(server)
    try:
        found = [_intended(record, _of(verdict, names), plan, file, promises) for file, names in servers.items()]
    except (ArithmeticError, ValueError):  # a date or a number outside of any measurement's range
        return part
    return replace(part, intended=tuple(each for each in found if each))


def _intended(record: Record, verdict: Verdict, plan: Plan, file: str, promises: Promises) -> Intended | None:
    """The lines for one file about the servers of `verdict`; None if no line helps them."""
    own = [promises.own.get(each) for each in plan.promises if plan.promises[each] == file]
    text = next((each for each in own if each), None) if own else promises.checkout
    lines = in_full(record, verdict, text).splitlines()
    places = [each.where for each in propose(record, verdict, text, file)]
    if not lines:
        return None
    told = [*_where(verdict, file, places)]
    if own and text is None:
        told.append("A new file begins with `version: 1`.")
    told += [f"Write your reason in place of `{PLACEHOLDER}`.", *_of_fork(plan, verdict)]
    return Intended(file, lines, " ".join(told))


def _of(verdict: Verdict, servers: Sequence[str]) -> Verdict:
    """The verdict with the rows of these servers only."""
    return verdict.model_copy(
        update={
            "changes": [each for each in verdict.changes if each.server in servers],
            "limits": [each for each in verdict.limits if each.server in servers],
        }
    )


def _acceptable(record: Record, verdict: Verdict) -> Verdict:
    """The verdict without servers that do not work, which no line accepts, and without rows that await confirmation."""
    broken = {trial.server for trial in record.trials if trial.failure and trial.arm == "head"}
    lines = record.comparison.accepting if record.comparison else ()
    waiting = [line for line in lines if not line.confirmed]

    def works(each: JudgedRow) -> bool:
        return each.server not in broken and all(PLAIN.fullmatch(name) for name in (each.server, each.name))

    def waits(each: JudgedChange) -> bool:
        return any(covers(line, each) for line in waiting)

    return verdict.model_copy(
        update={
            "changes": [each for each in verdict.changes if works(each) and not waits(each)],
            "limits": [each for each in verdict.limits if works(each)],
        }
    )


def _where(verdict: Verdict, file: str, places: Sequence[str]) -> Iterator[str]:
    """The place, in sentences. A pull request's line that accepts too little is not in the default branch's file."""
    accepted = [each.acceptance.where for each in verdict.changes if each.word == "worse" and each.acceptance]
    too_little = sorted({f"{file}:{where.rpartition(':')[2]}" for where in accepted})  # they contain no folder
    if too_little:
        yield f"It replaces what accepts too little: {' and '.join(too_little)}."
    elif places[0].startswith(("at", "to")):
        yield f"The lines go {places[0]}."
    else:
        yield f"The file already has a part of this: put the rest {', and '.join(places)}."


def _of_fork(plan: Plan, verdict: Verdict) -> Iterator[str]:
    if plan.untrusted and any(each.word == "worse" for each in verdict.changes):
        yield (
            "The line takes effect when a maintainer confirms it with `/pushbench accept head=<sha>`, where `<sha>` is "
            "your commit with the line."
        )
    if plan.untrusted and any(each.outcome == "fail" for each in verdict.limits):
        yield "What is below `limits` takes effect when a maintainer merges it into the default branch."
