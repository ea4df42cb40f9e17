"""Checks the rules on a server, one after another, and writes down what each one said."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections import deque
from collections.abc import Callable, Iterable

from websockets.exceptions import WebSocketException

from pushbench.conformance.result import Conformance, RuleResult
from pushbench.conformance.rule import Mismatch, Rule
from pushbench.conformance.suite import Clients, Suite, digest
from pushbench.conformance.target import Subject, Target
from pushbench.failures import ServerFailed

Note = Callable[[RuleResult], None]


def verify(subject: Subject, only: Iterable[str] = (), note: Note = lambda _: None) -> Conformance:
    """Check all rules of a server, or those named in `only`; `note` hears of each as soon as it is done.

    One start serves all rules as long as they pass. After a failure the server is started anew, so that what one rule
    has broken is not held against the next. Raises UserError when there are no rules for the server, and ServerFailed
    when it does not start at all.
    """
    suite = Suite(subject.suite, subject.protocol)
    names = frozenset(only)
    pending = deque(rule for rule in suite.rules(subject.services) if not names or rule.name in names)
    results: list[RuleResult] = []

    def keep(result: RuleResult) -> None:
        results.append(result)
        note(result)

    try:
        while pending:
            with subject.start() as target:
                asyncio.run(_check_until_failure(pending, suite.clients(subject.server, target), target, keep))
    except ServerFailed as failed:
        if not results:
            raise
        keep(_before_any_rule(failed))
    return _conformance(subject, results)


def unverified(subject: Subject, failed: ServerFailed) -> Conformance:
    """The result of a server that could not be built or started."""
    return _conformance(subject, [_before_any_rule(failed)])


def _conformance(subject: Subject, results: list[RuleResult]) -> Conformance:
    return Conformance(
        server=subject.server, suite=subject.suite, protocol=subject.protocol, digest=digest(), rules=results
    )


async def _check_until_failure(pending: deque[Rule], clients: Clients, target: Target, note: Note) -> None:
    while pending:
        rule = pending.popleft()
        result = await _check(rule, clients, target)
        note(result)
        if not result.passed and not rule.final:
            return


async def _check(rule: Rule, clients: Clients, target: Target) -> RuleResult:
    began = time.monotonic()
    detail = ""
    try:
        async with asyncio.timeout(rule.limit_seconds) as limit:
            await rule.check(clients)
    except (Mismatch, OSError, WebSocketException, http.client.HTTPException) as fault:
        if limit.expired():
            detail = f"did not finish within {rule.limit_seconds:g} s"
        else:
            detail = str(fault) if isinstance(fault, Mismatch) else f"{type(fault).__name__}: {fault}"
    finally:
        await clients.dismiss()
    return RuleResult(
        name=rule.name,
        statement=rule.statement,
        outcome="failed" if detail else "passed",
        detail=detail,
        log_tail=target.log_tail() if detail else "",
        seconds=time.monotonic() - began,
    )


def _before_any_rule(failed: ServerFailed) -> RuleResult:
    return RuleResult(
        name=f"{failed.failure.step}s",
        statement="The server can be built, and starts each time.",
        outcome="failed",
        detail=failed.failure.message,
        log_tail=failed.failure.log_tail,
        seconds=0,
    )
