"""Each rule can fail, and for its own reason: a fault of the token server breaks these and none asked beside."""

from __future__ import annotations

import pytest

from pushbench.conformance import rules_for, verify
from tests.conformance.patiently import verify_expecting, with_some_others
from tests.conformance.token_stream.conftest import Subjects

SUITE, PROTOCOL = "token-stream", "token-stream-sse"
RULES = [rule.name for rule in rules_for(SUITE, PROTOCOL)]
COUNTED = {"metricz-counts-the-streams", "leaving-stops-the-work", "leaving-at-once-leaves-no-work"}
SCHEDULE = {"paced-characters-come-when-due", "paced-characters-come-one-by-one", "pace-does-not-drift"}

FAULTS: list[tuple[str, set[str]]] = [
    ("healthz-is-anonymous", {"healthz-names-the-versions"}),
    ("any-path", {"unknown-paths-are-refused"}),
    ("loses", {"every-character-comes-once-in-order"}),
    ("repeats", {"every-character-comes-once-in-order"}),
    ("swaps", {"every-character-comes-once-in-order"}),
    # Every id is another one then.
    (
        "numbers-from-1",
        {
            "every-character-comes-once-in-order",
            "data-are-the-characters",
            "stream-ends-after-the-last-character",
            "last-event-id-resumes",
        },
    ),
    ("takes-bytes-for-characters", {"data-are-the-characters"}),
    ("writes-no-space", {"data-are-the-characters"}),
    ("cuts-second-streams", {"stream-ends-after-the-last-character"}),
    ("says-more", {"stream-ends-after-the-last-character"}),
    ("resumes-with-the-last", {"last-event-id-resumes"}),
    ("last-id-starts-anew", {"last-id-is-followed-by-nothing"}),
    ("is-plain-text", {"stream-is-declared"}),
    ("may-be-stored", {"stream-is-declared"}),
    ("names-events", {"event-is-an-id-and-its-data"}),
    ("says-when-to-retry", {"event-is-an-id-and-its-data"}),
    ("resumes-late", {"resumed-stream-begins-at-once"}),
    (
        "slowest-is-2",
        {
            "slowest-and-fastest-pace-are-accepted",
            "last-id-is-followed-by-nothing",
            "metricz-counts-the-streams",
            "leaving-stops-the-work",
        },
    ),
    ("forgives-pace", {"bad-pace-is-refused"}),
    ("forgives-last-id", {"bad-last-event-id-is-refused"}),
    ("serves-more", {"nothing-else-is-served"}),
    ("any-method", {"wrong-method-is-refused", "refusals-are-json"}),
    ("allows-nothing", {"wrong-method-is-refused"}),
    ("limits-nothing", {"large-body-is-refused", "refusals-are-json"}),
    ("limits-declared-bodies", {"large-body-is-refused"}),
    ("limits-one-less", {"body-of-64-kib-is-accepted"}),
    ("errors-are-text", {"refusals-are-json"}),
    ("errors-are-empty", {"refusals-are-json"}),
    ("hundred-requests", {"connection-is-kept"}),
    ("compresses", {"compression-stays-off"}),
    ("one-first-request-at-a-time", {"half-requests-delay-nobody"}),
    ("counts-requests", COUNTED),
    ("works-on-when-slow", {"leaving-stops-the-work"}),
    ("works-for-who-left-at-once", {"leaving-at-once-leaves-no-work"}),
    ("leaks-sockets", {"resets-leave-no-socket"}),
    ("cuts-streams-at-the-end", {"sigterm-ends-the-streams"}),
    ("accepts-to-the-end", {"sigterm-refuses-new-clients"}),
    ("exits-with-1", {"sigterm-exits-with-0"}),
    ("lingers", {"sigterm-exits-within-5-seconds"}),
]

WITH_TIME = SCHEDULE | {
    "unpaced-text-comes-at-once",
    "three-hundred-streams-begin-at-once",
    "streams-are-not-mixed",
    "slow-readers-harm-nobody",
    "no-log-line-per-request",
    "nagle-is-off",
}
"""Rules that need time or many clients, checked only where the fault is about them."""
FAULTS_WITH_TIME: list[tuple[str, set[str]]] = [
    ("paces-late", {"paced-characters-come-when-due"}),
    ("paces-twice", {"paced-characters-come-when-due", "pace-does-not-drift"}),
    ("sends-in-batches", {"paced-characters-come-one-by-one"}),
    ("drifts", {"pace-does-not-drift"}),
    ("rounds-periods", {"pace-does-not-drift"}),
    ("pauses", {"unpaced-text-comes-at-once"}),
    ("two-hundred-streams", {"three-hundred-streams-begin-at-once"}),
    ("mixes-streams", {"streams-are-not-mixed"}),
    ("hoards", {"slow-readers-harm-nobody"}),
    ("logs-requests", {"no-log-line-per-request"}),
    ("logs-leaving", {"no-log-line-per-request"}),
    ("nagles", {"nagle-is-off"}),
]
NEAR = [
    SCHEDULE,
    {"unpaced-text-comes-at-once"},
    {"three-hundred-streams-begin-at-once", "streams-are-not-mixed", "slow-readers-harm-nobody"},
    {"no-log-line-per-request"},
    {"nagle-is-off"},
]
"""Of these rules, those that a fault of one of them could break, too."""


@pytest.mark.slow
def test_a_good_server_keeps_all_rules(token_stream: Subjects) -> None:
    found = verify_expecting((), token_stream())
    assert {result.name: result.detail for result in found.failures} == {}
    assert [result.name for result in found.rules] == RULES


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "fault", "broken"), [(turn, *each) for turn, each in enumerate(FAULTS)])
def test_a_fault_breaks_its_rules_and_no_others(
    token_stream: Subjects, turn: int, fault: str, broken: set[str]
) -> None:
    others = [name for name in RULES if name not in WITH_TIME]
    found = verify_expecting(broken, token_stream(fault), with_some_others(broken, others, turn))
    assert {result.name for result in found.failures} == broken, found.failures


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize(("fault", "broken"), FAULTS_WITH_TIME)
def test_a_fault_with_time_breaks_its_rule_and_no_other(token_stream: Subjects, fault: str, broken: set[str]) -> None:
    [near] = [rules for rules in NEAR if rules & broken]
    found = verify(token_stream(fault), near)
    assert {result.name for result in found.failures} == broken, found.failures


def test_every_rule_is_broken_by_some_fault() -> None:
    assert {name for _, broken in FAULTS + FAULTS_WITH_TIME for name in broken} == set(RULES)


def test_rules_are_named_once_and_said_in_a_sentence() -> None:
    assert len(set(RULES)) == len(RULES)
    assert [rule.statement for rule in rules_for(SUITE, PROTOCOL) if not rule.statement.endswith(".")] == []
