"""The first line of a comment: the outcome of a run, for readers who see such a comment for the first time. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pushbench.ci.result import Outcome
from pushbench.foundation.text import joined, one_line
from pushbench.judging.verdict import ServerVerdict, Verdict

MOST_NAMES = 3
LONGEST_NAME = 60
NOT_WORKING = "does not work"
WORDS: dict[Outcome, str] = {
    "pass": "pass",
    "fail": "FAIL",
    "invalid": "NOT VALID",
    "inconclusive": "NOT DECIDED",
    "error": "ERROR",
    "unfinished": "NOT FINISHED",
    "gave-way": "gave way",
}
"""everything except a pass stands out without colour, too"""


def headline(outcome: Outcome, verdicts: Sequence[Verdict], cause: str = "", apart: Sequence[str] = ()) -> str:
    """`FAIL, node-ws got worse`. `cause` is the reason for a missing or incomplete measurement; empty if it is unknown.
    `apart` are machines that differ from the others.
    """
    match outcome:
        case "pass":
            said = _of_pass(verdicts)
        case "fail":
            said = "; ".join(_of_fail(verdicts)) or cause or "a server failed"
        case "invalid":
            said = f"{listed(apart, 'machines')} {'is' if len(apart) == 1 else 'are'} not like the other machines"
            said = said if apart else "the measurement cannot be used"
        case "inconclusive":
            said = cause or "nothing is known to be wrong"
        case "gave-way":
            said = "another run continues it"
        case _:
            said = cause or "not everything could be measured"
    return f"{WORDS[outcome]}, {said}"


def not_working(verdicts: Sequence[Verdict]) -> list[str]:
    """The servers that failed and neither got worse nor broke a limit: they do not build, start or keep a rule."""
    return [
        server.server
        for verdict in verdicts
        for server in verdict.servers
        if server.outcome == "fail" and NOT_WORKING in _kinds(verdict, server)
    ]


def _of_pass(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "there is nothing to measure"
    changes = [change.word for verdict in verdicts for change in verdict.changes]
    if "accepted" in changes:
        return "what got worse is accepted, and nothing else did"
    limits = any(verdict.limits for verdict in verdicts)
    kept = ["every limit is kept"] if limits else []
    return ", and ".join([*(["nothing got worse"] if changes else []), *kept]) or "nothing is wrong"


def _of_fail(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What went wrong with which servers, one kind at a time."""
    kinds: dict[str, list[str]] = {"got worse": [], "broke a limit": [], NOT_WORKING: []}
    for verdict in verdicts:
        for server in verdict.servers:
            if server.outcome == "fail":
                for kind in _kinds(verdict, server):
                    kinds[kind].append(one_line(server.server, LONGEST_NAME))
    for kind, found in kinds.items():
        names = list(dict.fromkeys(found))
        if names:
            yield f"{listed(names)} {kind if len(names) == 1 else kind.replace('does', 'do')}"


def _kinds(verdict: Verdict, server: ServerVerdict) -> Iterator[str]:
    worse = any(each.word == "worse" for each in verdict.changes if each.server == server.server)
    worse = worse or any(each.word == "worse" for each in verdict.levels if each.server == server.server)
    broken = any(each.outcome == "fail" for each in verdict.limits if each.server == server.server)
    if worse:
        yield "got worse"
    if broken:
        yield "broke a limit"
    if not (worse or broken):
        yield NOT_WORKING


def listed(names: Sequence[str], what: str = "servers") -> str:
    if len(names) > MOST_NAMES:
        return f"{len(names)} {what}"
    return joined(names)
