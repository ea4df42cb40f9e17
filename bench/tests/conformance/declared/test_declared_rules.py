"""Each rule of declared protocols can fail, and for its own reason; what cannot be asked is named with the reason."""

from __future__ import annotations

import pytest

from pushbench.conformance import rules_for, verify
from pushbench.conformance.result import RuleResult
from tests.conformance.declared.conftest import EXAMPLE, PROTOCOL, Declaring
from tests.conformance.patiently import verify_expecting

pytestmark = pytest.mark.slow

RULES = [rule.name for rule in rules_for("whiteboard", "protocol.yml")]
DELIVERY = [
    "message-reaches-every-member",
    "sender-receives-as-declared",
    "groups-are-isolated",
    "messages-come-once",
    "order-per-sender-is-kept",
    "content-is-unchanged",
    "nothing-else-comes",
]
MEMBERSHIP = ["joined-means-subscribed", "leaving-ends-deliveries", "closing-ends-membership", "resets-harm-nobody"]
FAULTS = [
    ("loses", DELIVERY, "message-reaches-every-member", "the first of 1 that are missing"),
    ("forgets-sender", DELIVERY, "sender-receives-as-declared", "the first of 120 that are missing"),
    ("matches-prefixes", DELIVERY, "groups-are-isolated", "of another group"),
    ("repeats", DELIVERY, "messages-come-once", "message 99 of client"),
    ("swaps", DELIVERY, "order-per-sender-is-kept", "after message 100 of client"),
    ("spoils-marked", DELIVERY, "content-is-unchanged", "another /stroke"),
    ("adds-notices", DELIVERY, "nothing-else-comes", "notice"),
    ("joins-late", MEMBERSHIP, "joined-means-subscribed", "expected the message"),
    ("leaving-is-ignored", MEMBERSHIP, "leaving-ends-deliveries", "expected no message at a client that left"),
    ("remembers-users", MEMBERSHIP, "closing-ends-membership", "expected nothing more"),
    ("resets-close-boards", MEMBERSHIP, "resets-harm-nobody", "expected the message"),
    ("hundred-clients", ["two-hundred-join-at-once"], "two-hundred-join-at-once", "1013"),
    ("waits-for-slow", ["slow-reader-harms-nobody"], "slow-reader-harms-nobody", "while another member does not read"),
    ("hoards", ["slow-reader-harms-nobody"], "slow-reader-harms-nobody", "memory to grow by at most"),
    ("lingers", ["sigterm-exits-within-5-seconds"], "sigterm-exits-within-5-seconds", "an exit within 5 s"),
]


def by_name(results: list[RuleResult], outcome: str) -> dict[str, str]:
    return {result.name: result.detail for result in results if result.outcome == outcome}


def test_a_good_server_keeps_all_rules(declaring: Declaring) -> None:
    found = verify_expecting((), declaring(PROTOCOL))
    assert [(result.name, result.outcome, result.detail) for result in found.rules] == [
        (name, "passed", "") for name in RULES
    ]
    assert len(RULES) == 15


@pytest.mark.parametrize(("fault", "near", "broken", "detail"), FAULTS, ids=[fault for fault, *_ in FAULTS])
def test_a_fault_breaks_its_rule_and_none_near(
    declaring: Declaring, fault: str, near: list[str], broken: str, detail: str
) -> None:
    found = verify_expecting({broken}, declaring(PROTOCOL, fault), near)
    assert len(found.rules) == len(near)
    failed = by_name(found.rules, "failed")
    assert set(failed) == {broken}, failed
    assert detail in failed[broken]


def test_every_rule_is_broken_by_some_fault() -> None:
    assert {broken for _, _, broken, _ in FAULTS} | {"conversation-is-understood"} == set(RULES)


def test_where_the_conversation_fails_nothing_else_is_asked(declaring: Declaring) -> None:
    found = verify(declaring(PROTOCOL, "says-hello"))
    [(name, detail)] = by_name(found.rules, "failed").items()
    assert name == "conversation-is-understood"
    assert "protocol.yml:1: ignore: a message that is not declared" in detail
    others = by_name(found.rules, "not-asked")
    assert set(others) == set(RULES) - {name}
    assert set(others.values()) == {"the server does not keep conversation-is-understood"}
    assert not found.passed


LITTLE = """\
websocket: {path: /ws}
join: {send: '{"type": "join", "boardId": "{group}", "userId": "u-{client}"}'}
message:
  send: |
    {"type": "draw", "boardId": "{group}", "userId": "u-{client}", "seq": {id}, "sentAt": {time}, "stroke": [[1,2]]}
  received: {/type: draw}
  id: /seq
ignore: [{/type: joined}]
"""


def test_what_cannot_be_asked_is_named_with_the_reason(declaring: Declaring) -> None:
    asked = ["content-is-unchanged", "joined-means-subscribed", "leaving-ends-deliveries", "slow-reader-harms-nobody"]
    found = verify(declaring(LITTLE), asked)
    assert by_name(found.rules, "not-asked") == {
        "content-is-unchanged": "the protocol declares no `message.same`",
        "joined-means-subscribed": "the protocol declares no `join.acknowledged`",
        "leaving-ends-deliveries": "the protocol declares no `leave`",
        "slow-reader-harms-nobody": "what members send has no `{text}`, so no message is large enough to fill a buffer",
    }
    assert (found.passed, found.kept, found.unasked) == (True, "0 of 0", ", 4 not asked")


def test_a_text_that_may_be_anything_is_not_asked_to_be_unchanged(declaring: Declaring) -> None:
    text = 'websocket: {path: /ws}\nformat: text\nmessage: {send: "{id} {text:9}", received: "{id} {any}"}\n'
    [found] = verify(declaring(text), ["content-is-unchanged"]).rules
    assert (found.outcome, found.detail) == ("not-asked", "`message.received` has an `{any}`, which may be anything")


def test_a_server_that_takes_no_large_messages_is_not_asked_about_slow_readers(
    declaring: Declaring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pushbench.conformance.whiteboard.declared.slow_readers.LENGTHS", (32_000, 31_000))
    large = PROTOCOL.replace('"stroke": [', '"more": "{text:200}", "even": "{text:200}", "stroke": [')
    [found] = verify(declaring(large), ["slow-reader-harms-nobody"]).rules
    assert (found.outcome, found.detail) == ("not-asked", "no message with a text of 31,000 characters arrives")


@pytest.mark.parametrize(("fault", "kept"), [("forgets-sender", True), ("", False)])
def test_a_sender_that_is_left_out_gets_nothing_of_its_own(declaring: Declaring, fault: str, *, kept: bool) -> None:
    others = EXAMPLE.replace("  received: {/type: draw}\n", "  received: {/type: draw}\n  receivers: others\n")
    broken = set() if kept else {"sender-receives-as-declared"}
    found = verify_expecting(broken, declaring(others, fault), DELIVERY)
    assert set(by_name(found.rules, "failed")) == broken


def test_a_result_has_no_secret(declaring: Declaring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_WHO", "s3cret-t0ken")
    text = PROTOCOL.replace('"userId": "u-{client}"', '"userId": "{secret:who}"', 1).replace("joined}", "welcome}")
    found = verify(declaring(f"{text}secrets: {{who: {{env: PUSHBENCH_SECRET_WHO}}}}\n"), ["leaving-ends-deliveries"])
    [detail] = by_name(found.rules, "failed").values()
    assert "{secret:who}" in detail, "the server answers with it"
    assert "s3cret" not in found.model_dump_json()
