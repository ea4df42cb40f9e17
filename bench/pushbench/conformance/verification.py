"""Checks the rules on a server, those that mostly wait in parallel, and records the result of each."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

from pushbench.catalog.failures import ServerFailed
from pushbench.conformance.checking import Note, check, check_beside, not_asked
from pushbench.conformance.result import Conformance, RuleResult
from pushbench.conformance.rule import Rule
from pushbench.conformance.suite import Clients, SharingClients, SuiteRules, digest
from pushbench.conformance.target import Subject, Target
from pushbench.conformance.waiting import hearing
from pushbench.machine.disturbance import Since

Group = tuple[Rule, ...]
"""Rules that are checked in parallel, or a single rule."""

STOLEN_MOST = 0.05
"""of the CPU time, by the hypervisor: up to this, 5 ms of 100 are missing, and no rule depends on so little"""
MOST_CHECKS = 3
STARTS = "starts"
"""the name of the result for a server that does not start, beside those of the rules; `builds` for a failed build"""


def verify(
    subject: Subject, only: Iterable[str] = (), note: Note = lambda _: None, ends: Callable[[], None] = lambda: None
) -> Conformance:
    """Check all rules of a server, or those named in `only`; `note` gets each result at once.

    `ends` is called when all that remains is the server's exit.

    One start of the server is enough for all rules as long as they pass. After a failure, the server is restarted, so
    that the damage of one rule does not count against the next. Rules that allow it are checked in parallel. If one of
    them fails, it and the rules that have not passed yet are checked again in sequence, and only that result counts.
    Raises UserError if there are no rules for the server, and ServerFailed if it does not start at all.

    A rule that fails while the hypervisor takes much of the CPU is checked again: the server may have waited for the
    CPU. If a rule that decides about the others fails, they are not asked.
    """
    suite = SuiteRules(subject.suite, subject.protocol)
    names = frozenset(only)
    rules = [rule for rule in suite.rules(subject.services, subject.outage) if not names or rule.name in names]
    pending = deque(_groups(rules))
    results: list[RuleResult] = []
    checks = Counter[str]()

    def keep(result: RuleResult) -> None:
        if subject.declared:
            result = subject.declared.without_secrets(result)
        results.append(result)
        note(result)

    try:
        while pending:
            with hearing(ends), subject.start() as target:
                clients = suite.clients(subject, target)
                asyncio.run(_check_until_failure(pending, checks, clients, target, keep))
    except ServerFailed as failed:
        if not results:
            raise
        keep(_before_any_rule(failed))
    places = {rule.name: place for place, rule in enumerate(rules)}
    results.sort(key=lambda result: places.get(result.name, len(rules)))
    return _conformance(subject.server, subject.suite, subject.protocol, results)


def unverified(server: str, suite: str, protocol: str, failed: ServerFailed) -> Conformance:
    """The result for a server that could not be built or started."""
    return _conformance(server, suite, protocol, [_before_any_rule(failed)])


def _conformance(server: str, suite: str, protocol: str, results: list[RuleResult]) -> Conformance:
    return Conformance(server=server, suite=suite, protocol=protocol, digest=digest(), rules=results)


def _groups(rules: Sequence[Rule]) -> list[Group]:
    """The groups in the order of checking: single rules, parallel ones, and those that end the server."""
    beside = tuple(rule for rule in rules if rule.beside_others)
    alone = [(rule,) for rule in rules if not rule.beside_others]
    groups = [*alone, beside] if beside else alone
    return sorted(groups, key=lambda group: group[0].final)


async def _check_until_failure(
    pending: deque[Group], checks: Counter[str], clients: Clients, target: Target, note: Note
) -> None:
    """Takes groups from `pending`, and prepends the rules that are to be checked again, each alone."""
    again: list[Rule] = []
    while pending:
        rule, *others = group = pending.popleft()
        if others:
            assert isinstance(clients, SharingClients)
            if again := list(await check_beside(group, clients, target, note)):
                break
            continue
        began = Since.now()
        checks[rule.name] += 1
        result = await check(rule, clients, target)
        if result.failed and checks[rule.name] < MOST_CHECKS and began.stolen_share() > STOLEN_MOST:
            again.append(rule)
        else:
            note(result.model_copy(update={"checks": checks[rule.name]}))
        if rule.decides and result.failed and not again:
            for other in (each for group in pending for each in group):
                note(not_asked(other, f"the server does not keep {rule.name}"))
            pending.clear()
        if result.failed and not rule.final:
            break
    pending.extendleft((rule,) for rule in reversed(again))


def _before_any_rule(failed: ServerFailed) -> RuleResult:
    return RuleResult(
        name=f"{failed.failure.step}s",
        statement="The server can be built, and starts each time.",
        outcome="failed",
        detail=failed.failure.message,
        log_tail=failed.failure.log_tail,
        seconds=0,
    )
