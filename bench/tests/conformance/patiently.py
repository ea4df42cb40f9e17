"""Checks rules on faulty servers: quickly, and with long bounds if a busy machine may have broken a short one.

Tests of rules shorten the times for which a rule waits, since a test of silence would otherwise take seconds. But a
server may also break a short bound because it got no CPU in time.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

import pytest

from pushbench.conformance import Conformance, Subject, verify

LONG = {
    **dict.fromkeys(("PROMPT", "PATIENCE", "WITHIN", "IDLE", "CLOSED", "SETTLED_SECONDS", "LEFT_WITHIN", "LATE"), 10.0),
    "QUIET": 1.5,
}
"""Seconds for each bound, by its name in the modules of rules."""


def verify_expecting(broken: Collection[str], subject: Subject, only: Collection[str] = ()) -> Conformance:
    """The result of `verify` if exactly the rules `broken` are expected to fail.

    A rule with an unexpected result is checked again with long bounds, and only that result counts.
    """
    found = verify(subject, only)
    surprising = {result.name for result in found.failures}.symmetric_difference(broken)
    if not surprising:
        return found
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("pushbench.conformance."):
                for bound, seconds in LONG.items():
                    if isinstance(getattr(module, bound, None), float):
                        patch.setattr(module, bound, seconds)
        again = {result.name: result for result in verify(subject, surprising).rules}
    return found.model_copy(update={"rules": [again.get(result.name, result) for result in found.rules]})


def with_some_others(rules: Collection[str], others: Sequence[str], turn: int) -> list[str]:
    """The rules, and a fifth of the others: the next fifth in each turn.

    All rules for each fault would be thousands of checks. Over many faults, each rule is still checked on many servers
    that keep it.
    """
    return [*rules, *(name for name in others[turn % 5 :: 5] if name not in rules)]
