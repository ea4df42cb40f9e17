"""Checks the rules on a server, one after another, and writes down what each one said."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable

from websockets.exceptions import WebSocketException

from pushbench.catalog.failures import ServerFailed
from pushbench.conformance.result import Conformance, RuleResult
from pushbench.conformance.rule import Mismatch, Rule
from pushbench.conformance.suite import Clients, SuiteRules, digest
from pushbench.conformance.target import Subject, Target
from pushbench.machine.disturbance import Since

Note = Callable[[RuleResult], None]

STOLEN_MOST = 0.05
"""of the CPU time, by the hypervisor: below that, 5 ms of 100 are missing, and no rule counts on so little"""
MOST_CHECKS = 3
STARTS = "starts"
"""the name of the result of a server that does not start, beside those of the rules; `builds` of one without a build"""


def verify(subject: Subject, only: Iterable[str] = (), note: Note = lambda _: None) -> Conformance:
    """Check all rules of a server, or those named in `only`; `note` hears of each as soon as it is done.

    One start serves all rules as long as they pass. After a failure the server is started anew, so that what one rule
    has broken is not held against the next. Raises UserError when there are no rules for the server, and ServerFailed
    when it does not start at all.

    A rule that fails while the hypervisor takes much of the CPU is checked again: the server may have waited for it.
    """
    suite = SuiteRules(subject.suite, subject.protocol)
    names = frozenset(only)
    pending = deque(rule for rule in suite.rules(subject.services, subject.outage) if not names or rule.name in names)
    results: list[RuleResult] = []
    checks = Counter[str]()

    def keep(result: RuleResult) -> None:
        results.append(result)
        note(result)

    try:
        while pending:
            with subject.start() as target:
                clients = suite.clients(subject.server, target)
                asyncio.run(_check_until_failure(pending, checks, clients, target, keep))
    except ServerFailed as failed:
        if not results:
            raise
        keep(_before_any_rule(failed))
    return _conformance(subject.server, subject.suite, subject.protocol, results)


def unverified(server: str, suite: str, protocol: str, failed: ServerFailed) -> Conformance:
    """The result of a server that could not be built or started."""
    return _conformance(server, suite, protocol, [_before_any_rule(failed)])


def _conformance(server: str, suite: str, protocol: str, results: list[RuleResult]) -> Conformance:
    return Conformance(server=server, suite=suite, protocol=protocol, digest=digest(), rules=results)


async def _check_until_failure(
    pending: deque[Rule], checks: Counter[str], clients: Clients, target: Target, note: Note
) -> None:
    """Takes rules from `pending`, and puts those first there that are to be checked again."""
    again: list[Rule] = []
    while pending:
        rule, began = pending.popleft(), Since.now()
        checks[rule.name] += 1
        result = await _check(rule, clients, target)
        if not result.passed and checks[rule.name] < MOST_CHECKS and began.stolen_share() > STOLEN_MOST:
            again.append(rule)
        else:
            note(result.model_copy(update={"checks": checks[rule.name]}))
        if not result.passed and not rule.final:
            break
    pending.extendleft(reversed(again))


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
