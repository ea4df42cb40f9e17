"""A verdict on capacities for readers: two or three lines for each server, failures first."""

from __future__ import annotations

from collections.abc import Iterator

from pushbench.judging.judged_capacity import Before, CapacityVerdict, JudgedCapacity
from pushbench.records.capacity import CLIENTS

ORDER = ("fail", "inconclusive", "pass")


def render_capacity_verdict(verdict: CapacityVerdict) -> str:
    """The verdict, as `pushbench judge` prints it."""
    against = f"the base {verdict.base}" if verdict.base else "the searches before it"
    lines = [
        f"{verdict.suite}: capacity in {_what(verdict)}, record {verdict.record}",
        f"against {against}: {verdict.outcome}",
        "",
    ]
    for each in sorted(verdict.servers, key=lambda found: (ORDER.index(found.outcome), found.server)):
        lines += [*_server(each, verdict), ""]
    return "\n".join(lines).rstrip() + "\n"


def sentence(judged: JudgedCapacity, verdict: CapacityVerdict) -> str:
    """The result in one sentence, for comments and issues."""
    if judged.now.carried is None:
        return f"{judged.server}: no capacity was found" + (f": {judged.reason}" if judged.reason else "")
    said = f"{judged.server}: capacity {now_text(judged)} {_what(verdict)}"
    if judged.before and judged.change is not None:
        said += f", was {before_text(judged.before)}: {judged.change:+.0%}, margin {verdict.margin:.0%}"
    return f"{said}: {judged.word}" + (f" ({judged.reason})" if judged.reason else "")


def now_text(judged: JudgedCapacity) -> str:
    """`5,260 [5,230 to 5,710]`, `at least 9,940`, `unknown`."""
    now = judged.now
    if now.carried is None:
        return "unknown"
    if now.at_least:
        return f"at least {now.carried:,}"
    interval = f" [{now.low:,} to {now.high:,}]" if now.low is not None and now.high is not None else ""
    return f"{now.carried:,}{interval}"


def before_text(before: Before) -> str:
    return f"{before.carried:,.0f} [{before.low:,.0f} to {before.high:,.0f}]"


def _server(judged: JudgedCapacity, verdict: CapacityVerdict) -> Iterator[str]:
    if judged.now.carried is None:
        yield f"{judged.server}: {'failed' if judged.outcome == 'fail' else judged.word}, no number"
    else:
        yield f"{judged.server}: {judged.word}, {now_text(judged)} {_what(verdict)}"
    if judged.before:
        searches = "" if verdict.base else f", from {judged.before.searches} searches"
        yield f"  before  {before_text(judged.before)}{searches}"
    if judged.change is not None:
        yield f"  change  {judged.change:+.1%}, margin {verdict.margin:.0%}"
    if judged.reason:
        yield f"  because {judged.reason}"


def _what(verdict: CapacityVerdict) -> str:
    return CLIENTS if verdict.searched == CLIENTS else verdict.searched.replace("_", " ")
