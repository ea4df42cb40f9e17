"""The comment's part about intended regressions: lines for thresholds.yml, and where they go. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pushbench.ci.plan import Plan
from pushbench.judging.judged import JudgedRow
from pushbench.judging.judged_changes import JudgedChange, covers
from pushbench.judging.proposing import PLACEHOLDER, in_full, propose
from pushbench.judging.verdict import Verdict
from pushbench.records.record import Record
from pushbench.reporting.comment import Part

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
"""names that may stand in lines which people copy"""


def with_intended(part: Part, plan: Plan, thresholds: str | None) -> Part:
    """The part with the lines that accept what failed, where lines can: what got worse against the base, and limits.

    `thresholds` is the thresholds.yml of the default branch, None where it is not known.
    """
    record, verdict = part.record, part.summary.verdict
    control = record.comparison is not None and record.comparison.injected
    if plan.pull_request is None or verdict.outcome != "fail" or control or not PLAIN.fullmatch(record.suite):
        return part
    verdict = _acceptable(record, verdict)
    try:
        lines = in_full(record, verdict, thresholds).splitlines()
        places = [each.where for each in propose(record, verdict, thresholds)]
    except (ArithmeticError, ValueError):  # a date or a number that no measurement has
        return part
    if not lines:
        return part
    how = " ".join(
        [*_where(verdict, places), f"Write your reason in place of `{PLACEHOLDER}`.", *_of_fork(plan, verdict)]
    )
    return replace(part, intended=lines, intended_how=how)


def _acceptable(record: Record, verdict: Verdict) -> Verdict:
    """Without the servers that do not work, which no line accepts, and without what a line waits for."""
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


def _where(verdict: Verdict, places: Sequence[str]) -> Iterator[str]:
    """In sentences. A line of the pull request that accepts too little is not in the file of the default branch."""
    too_little = {each.acceptance.where for each in verdict.changes if each.word == "worse" and each.acceptance}
    if too_little:
        yield f"It takes the place of what accepts too little, {' and '.join(sorted(too_little))}."
    elif places[0].startswith(("at", "to")):
        yield f"The lines go {places[0]}."
    else:
        yield f"The file has a part of that already: put the rest {', and '.join(places)}."


def _of_fork(plan: Plan, verdict: Verdict) -> Iterator[str]:
    if plan.untrusted and any(each.word == "worse" for each in verdict.changes):
        yield (
            "The line takes effect when a maintainer confirms it with `/pushbench accept head=<sha>`, where `<sha>` is "
            "your commit with the line."
        )
    if plan.untrusted and any(each.outcome == "fail" for each in verdict.limits):
        yield "What is below `limits` takes effect when a maintainer has it on the default branch."
