"""Checks rules on a running server: one at a time, or several in parallel."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Callable, Sequence
from typing import Literal

from websockets.exceptions import WebSocketException

from pushbench.conformance.result import RuleResult
from pushbench.conformance.rule import Mismatch, NotAsked, Rule
from pushbench.conformance.suite import Clients, SharingClients
from pushbench.conformance.target import Target
from pushbench.conformance.together import together

Note = Callable[[RuleResult], None]
Outcome = tuple[Literal["passed", "failed", "not-asked"], str]
"""with the expectation and the observation, or the reason why the rule was not asked"""


async def check(rule: Rule, clients: Clients, target: Target) -> RuleResult:
    """The result of a rule that is alone on the server."""
    checking = Checking(rule, clients, target)
    while not (result := await checking.go_on()):
        pass
    return result


async def check_beside(rules: Sequence[Rule], clients: SharingClients, target: Target, note: Note) -> tuple[Rule, ...]:
    """Check the parallel parts of rules at the same time, and then their exclusive parts in sequence. `note` gets the
    results of rules that do not fail.

    Returns the other rules. Their results prove nothing, because parallel rules see what a failing one breaks.
    """
    checkings = {rule: Checking(rule, clients.beside(), target) for rule in rules}
    left = dict.fromkeys(rules)

    async def holds_so_far(rule: Rule) -> bool:
        result = await checkings[rule].go_on()
        if result and not result.failed:
            note(result)
            del left[rule]
        return not result or not result.failed

    try:
        holding = all(await together(map(holds_so_far, rules)))
        while holding and left:
            holding = await holds_so_far(next(iter(left)))
    finally:
        for checking in checkings.values():
            await checking.end()
    return tuple(left)


class Checking:
    """A check of a rule in steps: up to the point from which it must be alone, and to its end."""

    def __init__(self, rule: Rule, clients: Clients, target: Target) -> None:
        self._rule, self._clients, self._target = rule, clients, target
        self._steps = rule.steps(clients)
        self._seconds = 0.0

    async def go_on(self) -> RuleResult | None:
        """The result, or None if the rule must be alone from here on."""
        began = time.monotonic()
        limit, ended = self._rule.limit_seconds, True
        outcome: Outcome = "passed", ""
        try:
            async with asyncio.timeout(limit - self._seconds) as timer:
                ended = await anext(self._steps, self) is self
        except (Mismatch, OSError, WebSocketException, http.client.HTTPException) as fault:
            if timer.expired():
                outcome = "failed", f"did not finish within {limit:g} s"
            else:
                outcome = "failed", str(fault) if isinstance(fault, Mismatch) else f"{type(fault).__name__}: {fault}"
        except NotAsked as reason:
            outcome = "not-asked", str(reason)
        finally:
            if ended:
                await self.end()
            self._seconds += time.monotonic() - began
        return _result(self._rule, outcome, self._target, self._seconds) if ended else None

    async def end(self) -> None:
        """Close the check's connections, at whatever step it is."""
        await self._steps.aclose()
        await self._clients.dismiss()


def not_asked(rule: Rule, reason: str) -> RuleResult:
    """The result of a rule that was not checked."""
    return RuleResult(name=rule.name, statement=rule.statement, outcome="not-asked", detail=reason, seconds=0)


def _result(rule: Rule, found: Outcome, target: Target, seconds: float) -> RuleResult:
    outcome, detail = found
    return RuleResult(
        name=rule.name,
        statement=rule.statement,
        outcome=outcome,
        detail=detail,
        log_tail=target.log_tail() if outcome == "failed" else "",
        seconds=seconds,
    )
