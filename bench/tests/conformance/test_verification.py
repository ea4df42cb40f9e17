"""How rules are run: one start for all rules that pass, a fresh one after a failure; any behaviour gives a result."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from pushbench.catalog.failures import ServerFailed
from pushbench.conformance import Conformance, RuleResult, Subject, digest, rules_for, unverified, verify
from pushbench.conformance.rule import Mismatch, NotAsked, Rule, escaped, rule
from pushbench.conformance.suite import SuiteRules
from pushbench.conformance.target import Target
from pushbench.drivers.service import Running
from pushbench.foundation.errors import UserError
from pushbench.machine.disturbance import Since
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Tree


@dataclass
class Silent:
    """A target that none of these rules contacts."""

    url: str = "http://127.0.0.1:1"
    tree: Tree = field(default_factory=lambda: Tree(0))
    services: Sequence[Running] = ()
    replicas = 1

    def terminate(self, timeout: float) -> Exit:
        return Exit(0, timeout, killed=False)

    def log_tail(self) -> str:
        return "its last words"

    def output_bytes(self) -> int:
        return 0


class Nobody:
    """Placeholder clients of one server."""

    server_is_gone = False

    async def dismiss(self) -> None:
        pass

    def beside(self) -> Nobody:
        return self


Verify = Callable[..., tuple[list[RuleResult], int]]


@pytest.fixture
def verify_rules(monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Verify a server that starts at most `starts` times with some rules. Returns the results and the actual starts."""

    def run(*rules: Rule, starts: int = 99) -> tuple[list[RuleResult], int]:
        started = 0

        @contextlib.contextmanager
        def start() -> Iterator[Target]:
            nonlocal started
            if started == starts:
                raise ServerFailed("start", "it is dead", "no more")
            started += 1
            yield Silent()

        monkeypatch.setattr(SuiteRules, "rules", lambda *_: rules)
        monkeypatch.setattr(SuiteRules, "clients", lambda *_: Nobody())
        return verify(Subject("silent", "whiteboard", "whiteboard-json", [], start)).rules, started

    return run


@rule("It is so.")
async def holds(_: Nobody) -> None: ...


@rule("It is not so.")
async def does_not_hold(_: Nobody) -> None:
    raise Mismatch("this", "that")


@rule("It takes for ever.", limit_seconds=0.05)
async def hangs(_: Nobody) -> None:
    await asyncio.sleep(60)


@rule("It cannot connect.")
async def cannot_connect(_: Nobody) -> None:
    raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


@rule("It cannot be told.")
async def cannot_be_told(_: Nobody) -> None:
    raise NotAsked("nobody declares it")


@rule("It decides.", decides=True)
async def decides(_: Nobody) -> None:
    raise Mismatch("this", "that")


@rule("It comes last.", final=True)
async def is_final(_: Nobody) -> None:
    raise Mismatch("an end", "none")


def outcomes(results: list[RuleResult]) -> list[tuple[str, str, str]]:
    return [(result.name, result.outcome, result.detail) for result in results]


def test_one_start_serves_all_rules_that_pass_and_a_failure_asks_for_another(verify_rules: Verify) -> None:
    results, started = verify_rules(holds, does_not_hold, comes_right(0))
    assert [result.outcome for result in results] == ["passed", "failed", "passed"]
    assert started == 2


def test_a_failure_says_what_was_expected_and_seen_and_the_last_words_of_the_server(verify_rules: Verify) -> None:
    [result], _ = verify_rules(does_not_hold)
    assert outcomes([result]) == [("does-not-hold", "failed", "expected this; saw that")]
    assert (result.statement, result.log_tail) == ("It is not so.", "its last words")


def test_a_rule_that_hangs_or_loses_its_connection_fails_by_name(verify_rules: Verify) -> None:
    results, _ = verify_rules(hangs, cannot_connect)
    assert outcomes(results) == [
        ("hangs", "failed", "did not finish within 0.05 s"),
        ("cannot-connect", "failed", "ConnectionRefusedError: [Errno 111] Connection refused"),
    ]


def test_a_rule_that_cannot_be_asked_says_why_and_needs_no_other_start(verify_rules: Verify) -> None:
    results, started = verify_rules(cannot_be_told, holds)
    assert outcomes(results) == [("cannot-be-told", "not-asked", "nobody declares it"), ("holds", "passed", "")]
    assert started == 1


def test_where_a_rule_that_decides_fails_the_others_are_not_asked(verify_rules: Verify) -> None:
    results, started = verify_rules(decides, holds, is_final)
    assert [(result.name, result.outcome) for result in results] == [
        ("decides", "failed"),
        ("holds", "not-asked"),
        ("is-final", "not-asked"),
    ]
    assert results[1].detail == "the server does not keep decides"
    assert started == 1


def test_rules_about_the_end_share_it(verify_rules: Verify) -> None:
    _, started = verify_rules(holds, is_final, is_final)
    assert started == 1


def test_a_server_that_does_not_start_again_keeps_what_was_found(verify_rules: Verify) -> None:
    results, _ = verify_rules(does_not_hold, holds, starts=1)
    assert outcomes(results)[1] == ("starts", "failed", "it is dead")
    assert results[1].log_tail == "no more"


def test_a_server_that_does_not_start_at_all_is_told_as_that(verify_rules: Verify) -> None:
    with pytest.raises(ServerFailed, match="it is dead"):
        verify_rules(holds, starts=0)


def test_a_server_that_was_not_built_is_not_verified() -> None:
    found = unverified("node-ws", "whiteboard", "whiteboard-json", ServerFailed("build", "no compiler"))
    assert (found.server, found.passed) == ("node-ws", False)
    assert outcomes(found.rules) == [("builds", "failed", "no compiler")]


@pytest.mark.parametrize(
    ("suite", "protocol", "told"),
    [
        ("knitting", "wool", "there are no rules for the suite 'knitting'"),
        ("location", "protocol.yml", "there are no rules for the declared protocols of location"),
        ("whiteboard", "telepathy", "there are no rules for the protocol 'telepathy' of whiteboard"),
    ],
)
def test_what_has_no_rules_is_a_mistake(suite: str, protocol: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        rules_for(suite, protocol)


def test_rules_are_named_once_and_said_in_a_sentence_and_the_final_ones_come_last() -> None:
    rules = rules_for("whiteboard", "whiteboard-json")
    assert len({each.name for each in rules}) == len(rules)
    assert all(each.statement.endswith(".") for each in rules)
    assert [each.final for each in rules] == sorted(each.final for each in rules)


def test_the_digest_is_the_same_until_a_rule_changes() -> None:
    assert digest() == digest()
    assert len(digest()) == 64


def test_hostile_text_becomes_one_short_line() -> None:
    assert escaped("\x1b[31m\n\u202e") == r"'\x1b[31m\n\u202e'"
    assert escaped("x" * 1000).endswith("... (1000 long)")


def comes_right(fails: int, *, final: bool = False, beside_others: bool = False) -> Rule:
    """A rule that fails `fails` times and then holds."""
    left = [fails]

    async def comes_right(_: Nobody) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise Mismatch("it in time", "nothing")

    return rule("It comes in time.", final=final, beside_others=beside_others)(comes_right)


@pytest.mark.parametrize("final", [False, True])
def test_a_rule_that_fails_on_a_disturbed_machine_is_checked_again_on_a_fresh_server(
    verify_rules: Verify, monkeypatch: pytest.MonkeyPatch, *, final: bool
) -> None:
    monkeypatch.setattr(Since, "stolen_share", lambda _: 0.2)
    results, started = verify_rules(holds, comes_right(1, final=final))
    assert [(result.name, result.outcome, result.checks) for result in results] == [
        ("holds", "passed", 1),
        ("comes-right", "passed", 2),
    ]
    assert started == 2
    found = Conformance(server="x", suite="whiteboard", protocol="whiteboard-json", digest="", rules=results)
    assert found.disturbed == "; checked again, because others had the CPU: comes-right"


@pytest.mark.parametrize(("stolen", "checks"), [(0.2, 3), (0.04, 1)])
def test_a_failure_that_comes_each_time_or_on_a_machine_that_ran_is_one(
    verify_rules: Verify, monkeypatch: pytest.MonkeyPatch, stolen: float, checks: int
) -> None:
    monkeypatch.setattr(Since, "stolen_share", lambda _: stolen)
    results, _ = verify_rules(does_not_hold, holds)
    assert [(result.outcome, result.checks) for result in results] == [("failed", checks), ("passed", 1)]
