"""Each rule of declared requests can fail, and for its own reason; what cannot be asked is named with the reason."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pushbench.catalog.protocols import read_protocol
from pushbench.conformance import Declared, Subject, rules_for, verify
from pushbench.conformance.declared_requests import crowds
from pushbench.conformance.result import RuleResult
from pushbench.generator.talking import Fault, Talked
from tests.conformance.declared.answer_server import AnswerServer
from tests.conformance.patiently import verify_expecting
from tests.conformance.token_stream.conftest import Thread

pytestmark = pytest.mark.slow

CLIENTS = import_module("pushbench.conformance.declared_requests.clients")
STREAM = """\
sse: {path: /stream, tokens: 10, number: /n, end: "[DONE]"}
message:
  send: '{"id": {id}, "text": "{text:20}"}'
  received: {/n: "{any}"}
  id: /id
  same: [/text]
"""
ANSWER = """\
http: {path: "/answer?of={client}", status: 201}
message:
  send: '{"id": {id}, "text": "{text:20}"}'
  received: {/id: "{any}"}
  id: /id
  same: [/text]
"""
RULES = [rule.name for rule in rules_for("token-stream", "protocol.yml")]
ABOUT_ANSWERS = [
    "every-request-is-answered",
    "answers-are-not-mixed",
    "tokens-come-in-order",
    "content-is-unchanged",
    "nothing-else-comes",
]
FAULTS = [
    (STREAM, "loses", ABOUT_ANSWERS, "every-request-is-answered", "expected 10 tokens for request"),
    (STREAM, "repeats", ABOUT_ANSWERS, "every-request-is-answered", "saw 11"),
    (STREAM, "never-ends", ABOUT_ANSWERS, "every-request-is-answered", "a stream without its end"),
    (STREAM, "mixes", ABOUT_ANSWERS, "answers-are-not-mixed", "another id"),
    (ANSWER, "mixes", ABOUT_ANSWERS, "answers-are-not-mixed", "another id"),
    (STREAM, "swaps", ABOUT_ANSWERS, "tokens-come-in-order", "token 4 after token 5"),
    (STREAM, "alters", ABOUT_ANSWERS, "content-is-unchanged", "another /text"),
    (ANSWER, "alters", ABOUT_ANSWERS, "content-is-unchanged", "another /text"),
    (STREAM, "notices", ABOUT_ANSWERS, "nothing-else-comes", "which is not declared"),
    (STREAM, "hundred-clients", ["two-hundred-ask-at-once"], "two-hundred-ask-at-once", "HTTP 503"),
    (STREAM, "loses-after-resets", ["resets-harm-nobody"], "resets-harm-nobody", "saw 0"),
    (STREAM, "hoards", ["slow-readers-harm-nobody"], "slow-readers-harm-nobody", "memory to grow by at most"),
    (ANSWER, "lingers", ["sigterm-exits-within-5-seconds"], "sigterm-exits-within-5-seconds", "an exit within 5 s"),
]
Asking = Callable[..., Subject]


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CLIENTS, "PROMPT", 1.0)
    monkeypatch.setattr(crowds, "CROWD", 101)


@contextlib.contextmanager
def serving(faults: tuple[str, ...]) -> Iterator[Thread]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server: Any = AnswerServer(frozenset(faults))
    port = asyncio.run_coroutine_threadsafe(server.start(), loop).result(60)
    target = Thread(server, loop, f"http://127.0.0.1:{port}")
    try:
        yield target
        target.terminate(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    """`asking(STREAM, "loses")`: the server as a subject that declares its protocol so, with faults."""

    def subject(text: str, *faults: str, talked: Fault | None = None) -> Subject:
        file = tmp_path / "protocol.yml"
        file.write_text(text)
        suite = "token-stream" if text.startswith("sse") else "posts"
        declared = Declared(read_protocol(file), lambda _: Talked(lines=[], fault=talked, error=""))
        return Subject("answers", suite, "protocol.yml", [], lambda: serving(faults), declared=declared)

    return subject


def by_name(results: list[RuleResult], outcome: str) -> dict[str, str]:
    return {result.name: result.detail for result in results if result.outcome == outcome}


@pytest.mark.parametrize(("text", "unasked"), [(STREAM, set()), (ANSWER, {"tokens-come-in-order"})])
def test_a_good_server_keeps_all_rules(asking: Asking, text: str, unasked: set[str]) -> None:
    found = verify_expecting((), asking(text))
    assert [result.name for result in found.rules] == RULES
    assert {result.name: result.detail for result in found.failures} == {}
    assert set(by_name(found.rules, "not-asked")) == unasked


@pytest.mark.parametrize(("text", "fault", "near", "broken", "detail"), FAULTS)
def test_a_fault_breaks_its_rule_and_none_near(
    asking: Asking, text: str, fault: str, near: list[str], broken: str, detail: str
) -> None:
    found = verify_expecting({broken}, asking(text, fault), near)
    failed = by_name(found.rules, "failed")
    assert set(failed) == {broken}, failed
    assert detail in failed[broken]


def test_every_rule_is_broken_by_some_fault() -> None:
    assert {broken for *_, broken, _ in FAULTS} | {"conversation-is-understood"} == set(RULES)
    assert [rule.name for rule in rules_for("posts", "protocol.yml")] == RULES


def test_where_the_conversation_fails_nothing_else_is_asked(asking: Asking) -> None:
    found = verify(asking(STREAM, talked=Fault(at="sse.tokens", what="3 of 10")))
    assert "protocol.yml:1: sse.tokens: 3 of 10" in by_name(found.rules, "failed")["conversation-is-understood"]
    assert set(by_name(found.rules, "not-asked")) == set(RULES) - {"conversation-is-understood"}


def test_what_cannot_be_asked_is_named_with_the_reason(asking: Asking) -> None:
    text = 'http: {path: /answer, status: 201}\nmessage: {send: "{}"}\n'
    found = verify(asking(text), ABOUT_ANSWERS)
    assert by_name(found.rules, "not-asked") == {
        "answers-are-not-mixed": "the protocol declares no `message.id`, and no {id} or {client} in `message.received`",
        "tokens-come-in-order": "an answer has one receipt",
        "content-is-unchanged": "the protocol declares no `message.same`",
    }
    assert found.failures == []
