"""Each rule can fail, and for its own reason: a fault of a server of positions breaks these and none asked beside."""

from __future__ import annotations

import pytest

from pushbench.conformance import rules_for, verify
from tests.conformance.location.conftest import Subjects
from tests.conformance.patiently import verify_expecting, with_some_others

SUITE = "location"
PROTOCOLS = ("location-poll", "location-long-poll", "location-sse", "location-websocket", "location-stomp")
SLOW = {"silent-listener-is-disconnected", "many-groups-are-not-mixed", "no-log-line-per-position"}
"""Rules that need thousands of positions, checked only where the fault is about them."""

Fault = tuple[str, str, set[str]]
FAULTS: list[Fault] = [
    ("location-poll", "healthz-is-anonymous", {"healthz-names-the-versions"}),
    ("location-poll", "any-path", {"unknown-paths-are-refused", "refusals-are-json"}),
    ("location-poll", "forgives-ids", {"bad-ids-are-refused", "bad-polls-are-refused", "refusals-are-json"}),
    ("location-poll", "has-room", {"sixty-fifth-user-is-refused"}),
    ("location-poll", "serves-more", {"nothing-else-is-served"}),
    ("location-poll", "any-method", {"wrong-method-is-refused"}),
    ("location-poll", "allows-nothing", {"wrong-method-is-refused"}),
    ("location-poll", "limits-nothing", {"large-body-is-refused", "refusals-are-json"}),
    ("location-poll", "limits-one-less", {"large-body-is-refused"}),
    ("location-poll", "takes-any-type", {"other-types-are-refused", "refusals-are-json"}),
    ("location-poll", "errors-are-text", {"refusals-are-json"}),
    ("location-poll", "hundred-requests", {"connection-is-kept", "no-log-line-per-position"}),
    ("location-poll", "rounds", {"numbers-are-told-unchanged"}),
    ("location-poll", "tells-everything", {"other-fields-are-not-told"}),
    ("location-poll", "counts-one-group", {"metricz-counts-the-groups"}),
    ("location-poll", "logs-requests", {"no-log-line-per-position"}),
    ("location-poll", "exits-with-1", {"sigterm-exits-with-0"}),
    ("location-poll", "lingers", {"sigterm-exits-within-5-seconds"}),
    ("location-poll", "keeps-old-versions", {"since-of-another-life-is-forgiven"}),
    ("location-poll", "forgives-numbers", {"bad-positions-are-refused"}),
    ("location-poll", "forgives-since", {"bad-polls-are-refused"}),
    ("location-poll", "forgives-users", {"bad-polls-are-refused"}),
    ("location-long-poll", "holds-first-polls", {"poll-with-news-is-not-held"}),
    ("location-long-poll", "forgives-wait", {"bad-wait-is-refused"}),
    ("location-long-poll", "own-positions-wake", {"held-poll-ends-with-its-time", "own-position-ends-no-poll"}),
    ("location-long-poll", "cuts-at-the-end", {"sigterm-ends-the-news"}),
    ("location-sse", "is-plain-text", {"stream-is-declared"}),
    ("location-sse", "starts-anew", {"last-event-id-resumes"}),
    ("location-sse", "queues-all", {"silent-listener-is-disconnected"}),
    ("location-sse", "keeps-listeners", {"leaving-is-noticed"}),
    ("location-sse", "resets-streams", {"sigterm-ends-the-news"}),
    ("location-sse", "cuts-at-the-end", {"sigterm-ends-the-news"}),
    ("location-websocket", "takes-binary", {"binary-frame-is-refused"}),
    ("location-websocket", "limits-nothing", {"large-message-closes"}),
    ("location-websocket", "keeps-listeners", {"leaving-is-noticed"}),
    ("location-websocket", "forgives-ids", {"bad-socket-is-refused"}),
    ("location-stomp", "keeps-listeners", {"leaving-is-noticed"}),
    ("location-stomp", "forwards-everything", {"topics-take-no-client-messages"}),
    ("location-stomp", "forgets-receipts", {"disconnect-is-acknowledged"}),
]
"""Each breaks these rules and no others. With each fault, a fifth of the others is asked."""
WIDE: list[Fault] = [
    ("location-poll", "refuses-with-422", {"bad-ids-are-refused", "bad-positions-are-refused"}),
    ("location-poll", "forgets-before", {"first-news-has-the-newest", "answers-keep-their-order"}),
    ("location-poll", "tells-all", {"first-news-has-the-newest", "many-groups-are-not-mixed"}),
    ("location-poll", "tells-twice", {"poll-tells-of-the-newest"}),
    ("location-poll", "tells-the-sender", {"own-position-stays-away", "position-reaches-the-others"}),
    ("location-poll", "has-one-group", {"groups-are-not-mixed"}),
    ("location-poll", "counts-from-2", {"version-counts-the-positions"}),
    ("location-poll", "loses", {"position-reaches-the-others"}),
    ("location-poll", "may-be-stored", {"poll-tells-of-the-newest"}),
    ("location-poll", "answers-polls-late", {"poll-is-answered-at-once"}),
    ("location-poll", "accepts-to-the-end", {"sigterm-refuses-new-clients"}),
    ("location-long-poll", "holds-nothing", {"poll-is-held-until-there-is-news"}),
    ("location-long-poll", "holds-all", {"poll-with-news-is-not-held"}),
    ("location-long-poll", "wakes-late", {"poll-is-held-until-there-is-news"}),
    ("location-sse", "names-events", {"position-reaches-the-others"}),
    ("location-sse", "ids-are-others", {"position-reaches-the-others"}),
    ("location-sse", "skips-bursts", {"each-position-is-told-of"}),
    ("location-websocket", "says-nothing", {"bad-positions-are-refused"}),
    ("location-websocket", "skips-bursts", {"each-position-is-told-of"}),
    ("location-websocket", "cuts-at-the-end", {"sigterm-ends-the-news"}),
]
"""Each breaks most of what its server does; of these rules it is shown."""


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_good_server_keeps_all_rules(location: Subjects, protocol: str) -> None:
    found = verify_expecting((), location(protocol))
    assert {result.name: result.detail for result in found.failures} == {}
    assert [result.name for result in found.rules] == [rule.name for rule in rules_for(SUITE, protocol)]


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "protocol", "fault", "broken"), [(turn, *each) for turn, each in enumerate(FAULTS)])
def test_a_fault_breaks_its_rules_and_no_others(
    location: Subjects, turn: int, protocol: str, fault: str, broken: set[str]
) -> None:
    others = [rule.name for rule in rules_for(SUITE, protocol) if rule.name not in SLOW]
    found = verify_expecting(broken, location(protocol, fault), with_some_others(broken, others, turn))
    assert {result.name for result in found.failures} == broken, found.failures


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "fault", "broken"), WIDE)
def test_a_wide_fault_breaks_these_rules(location: Subjects, protocol: str, fault: str, broken: set[str]) -> None:
    found = verify_expecting(broken, location(protocol, fault), broken)
    assert {result.name for result in found.failures} == broken, found.failures


@pytest.mark.parametrize("protocol", ["location-websocket", "location-stomp"])
def test_a_server_is_asked_itself_and_not_the_proxy_of_the_environment(
    location: Subjects, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    found = verify(location(protocol), ["position-reaches-the-others"])
    assert {result.name: result.detail for result in found.failures} == {}
    assert found.rules


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_rule_is_broken_by_some_fault(protocol: str) -> None:
    broken = {name for _, _, names in FAULTS + WIDE for name in names}
    assert {rule.name for rule in rules_for(SUITE, protocol)} - broken == set()


def test_rules_are_named_once_and_said_in_a_sentence() -> None:
    for protocol in PROTOCOLS:
        rules = rules_for(SUITE, protocol)
        assert len({rule.name for rule in rules}) == len(rules) >= 15
        assert [rule.statement for rule in rules if not rule.statement.endswith(".")] == []
