"""How rules are checked: concurrently, alone where necessary, and each only for its own faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from pushbench.conformance.rule import Mismatch, Rule, rule
from pushbench.machine.disturbance import Since
from tests.conformance.test_verification import Nobody, Verify, comes_right, holds, outcomes, verify_rules

__all__ = ["verify_rules"]


@rule("It waits.", beside_others=True)
async def waits(_: Nobody) -> None:
    await asyncio.sleep(0)


@rule("It waits for ever.", limit_seconds=0.05, beside_others=True)
async def waits_for_ever(_: Nobody) -> None:
    await asyncio.sleep(60)


@rule("It does not hold in either part.", limit_seconds=0.2)
async def is_slow_twice(_: Nobody) -> AsyncGenerator[None]:
    await asyncio.sleep(0.15)
    yield
    await asyncio.sleep(0.15)


def in_two_parts(name: str, log: list[str]) -> Rule:
    async def check(_: Nobody) -> AsyncGenerator[None]:
        log.append(f"{name} begins")
        yield
        log.append(f"{name} is alone")
        await asyncio.sleep(0.01)
        log.append(f"{name} ends")

    check.__name__ = name
    return rule("It has two parts.")(check)


def test_rules_are_beside_others_until_they_are_alone_and_are_told_in_their_order(verify_rules: Verify) -> None:
    log: list[str] = []
    results, started = verify_rules(in_two_parts("one", log), holds, waits, in_two_parts("two", log))
    assert log == ["one begins", "two begins", "one is alone", "one ends", "two is alone", "two ends"]
    assert [(result.name, result.passed) for result in results] == [
        ("one", True),
        ("holds", True),
        ("waits", True),
        ("two", True),
    ]
    assert started == 1


def test_a_rule_that_is_checked_by_itself_has_both_parts(verify_rules: Verify) -> None:
    log: list[str] = []
    verify_rules(in_two_parts("one", log))
    assert log == ["one begins", "one is alone", "one ends"]


@pytest.mark.parametrize("alone", [False, True])
def test_a_fault_that_ends_the_server_is_held_against_its_own_rule(verify_rules: Verify, *, alone: bool) -> None:
    """If the fault is found during other rules, they fail, too; if it is found alone, the others have not ended yet."""
    seen: list[str] = []

    async def survives(clients: Nobody) -> AsyncGenerator[None]:
        if alone:
            yield
        clients.server_is_gone = True
        raise Mismatch("a server", "none")

    async def is_served(clients: Nobody) -> AsyncGenerator[None]:
        try:
            await asyncio.sleep(0)
            if clients.server_is_gone:
                raise ConnectionResetError
            yield
            seen.append("served")
        finally:
            seen.append("left")

    results, started = verify_rules(waits, rule("It survives.")(survives), rule("It is served.")(is_served))
    assert outcomes(results) == [
        ("waits", "passed", ""),
        ("survives", "failed", "expected a server; saw none"),
        ("is-served", "passed", ""),
    ]
    assert seen == ["left", "served", "left"]
    assert started == 3


def test_a_failure_beside_others_proves_nothing_and_is_no_check(verify_rules: Verify) -> None:
    results, started = verify_rules(comes_right(1, beside_others=True), waits)
    assert [(result.name, result.passed, result.checks) for result in results] == [
        ("comes-right", True, 1),
        ("waits", True, 1),
    ]
    assert started == 2


def test_a_rule_that_fails_on_a_disturbed_machine_is_checked_again_by_itself(
    verify_rules: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Since, "stolen_share", lambda _: 0.2)
    results, started = verify_rules(waits, comes_right(2, beside_others=True))
    assert [(result.passed, result.checks) for result in results] == [(True, 1), (True, 2)]
    assert started == 3


def test_the_limit_of_a_rule_is_for_all_of_its_parts(verify_rules: Verify) -> None:
    results, _ = verify_rules(waits, waits_for_ever, is_slow_twice)
    assert outcomes(results)[1:] == [
        ("waits-for-ever", "failed", "did not finish within 0.05 s"),
        ("is-slow-twice", "failed", "did not finish within 0.2 s"),
    ]
