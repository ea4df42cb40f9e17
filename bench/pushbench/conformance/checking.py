"""Checks rules on a running server: one, or several beside each other."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Callable, Sequence

from websockets.exceptions import WebSocketException

from pushbench.conformance.result import RuleResult
from pushbench.conformance.rule import Mismatch, Rule
from pushbench.conformance.suite import Clients, SharingClients
from pushbench.conformance.target import Target
from pushbench.conformance.together import together

Note = Callable[[RuleResult], None]


async def check(rule: Rule, clients: Clients, target: Target) -> RuleResult:
    """The result of a rule that has the server to itself."""
    checking = Checking(rule, clients, target)
    while not (result := await checking.go_on()):
        pass
    return result


async def check_beside(rules: Sequence[Rule], clients: SharingClients, target: Target, note: Note) -> tuple[Rule, ...]:
    """Check rules at the same time, and then one after another what they do alone. `note` hears of those that pass.

    Returns the others, which prove nothing: what one rule breaks, its neighbours see.
    """
    checkings = {rule: Checking(rule, clients.beside(), target) for rule in rules}
    left = dict.fromkeys(rules)

    async def holds_so_far(rule: Rule) -> bool:
        result = await checkings[rule].go_on()
        if result and result.passed:
            note(result)
            del left[rule]
        return not result or result.passed

    try:
        holding = all(await together(map(holds_so_far, rules)))
        while holding and left:
            holding = await holds_so_far(next(iter(left)))
    finally:
        for checking in checkings.values():
            await checking.end()
    return tuple(left)


class Checking:
    """One check of a rule, which goes on step by step: to the place from which on it must be alone, and to its end."""

    def __init__(self, rule: Rule, clients: Clients, target: Target) -> None:
        self._rule, self._clients, self._target = rule, clients, target
        self._steps = rule.steps(clients)
        self._seconds = 0.0

    async def go_on(self) -> RuleResult | None:
        """The result, or None where the rule has to be alone from here on."""
        began = time.monotonic()
        limit, detail, ended = self._rule.limit_seconds, "", True
        try:
            async with asyncio.timeout(limit - self._seconds) as timer:
                ended = await anext(self._steps, self) is self
        except (Mismatch, OSError, WebSocketException, http.client.HTTPException) as fault:
            if timer.expired():
                detail = f"did not finish within {limit:g} s"
            else:
                detail = str(fault) if isinstance(fault, Mismatch) else f"{type(fault).__name__}: {fault}"
        finally:
            if ended:
                await self.end()
            self._seconds += time.monotonic() - began
        return self._result(detail) if ended else None

    async def end(self) -> None:
        """Leave the server, wherever the check is."""
        await self._steps.aclose()
        await self._clients.dismiss()

    def _result(self, detail: str) -> RuleResult:
        return RuleResult(
            name=self._rule.name,
            statement=self._rule.statement,
            outcome="failed" if detail else "passed",
            detail=detail,
            log_tail=self._target.log_tail() if detail else "",
            seconds=self._seconds,
        )
