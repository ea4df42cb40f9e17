"""Each rule can fail, and only for its own reason: a fault of the whiteboard server breaks only these rules."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from pushbench.catalog.servers import Outage
from pushbench.conformance import Subject, rules_for, verify
from pushbench.conformance.whiteboard import outage, whiteboard_socketio
from tests.conformance.patiently import verify_expecting, with_some_others

JSON, SOCKETIO, STOMP = PROTOCOLS = "whiteboard-json", "whiteboard-socketio", "whiteboard-stomp"
EVERY_RULE = {rule.name for protocol in PROTOCOLS for rule in rules_for("whiteboard", protocol, ["fake"])}
SLOW_READERS = {
    "slow-reader-harms-nobody",
    "slow-reader-holds-no-sender",
    "four-slow-readers-harm-nobody",
}

FAULTS: list[tuple[str, str, set[str]]] = [
    (JSON, "healthz-is-anonymous", {"healthz-names-the-versions"}),
    (JSON, "any-path", {"unknown-paths-are-refused"}),
    (JSON, "names-of-63", {"join-is-acknowledged"}),
    (JSON, "joins-late", {"joined-means-subscribed"}),
    (JSON, "joins-add-up", {"second-join-changes-nothing"}),
    (JSON, "three-boards", {"several-boards-on-a-connection"}),
    (JSON, "leaving-is-ignored", {"leaving-ends-deliveries"}),
    (JSON, "anyone-draws", {"drawing-needs-membership"}),
    (JSON, "remembers-users", {"closing-ends-membership"}),
    (JSON, "leaving-never-fails", {"leaving-needs-membership"}),
    (JSON, "loses", {"order-per-sender-is-kept"}),
    (JSON, "swaps", {"order-per-sender-is-kept"}),
    (JSON, "repeats", {"order-per-sender-is-kept"}),
    (JSON, "misses-one-of-ten", {"draw-reaches-every-member", "joined-means-subscribed"}),
    # A sender that does not get its own draws has nothing to read.
    (JSON, "forgets-sender", {"draw-reaches-its-sender", "deaf-sender-harms-nobody"}),
    (JSON, "matches-prefixes", {"boards-are-isolated"}),
    (JSON, "matches-patterns", {"board-names-are-not-patterns"}),
    (JSON, "reserialises", {"text-is-unchanged", "extreme-json-is-harmless"}),
    (JSON, "spoils-large", {"sixty-kib-arrive-unchanged", "message-of-64-kib-is-accepted"}),
    (JSON, "limits-one-less", {"message-of-64-kib-is-accepted"}),
    (JSON, "limits-nothing", {"larger-message-closes-1009"}),
    (JSON, "limits-characters", {"larger-message-closes-1009"}),
    (JSON, "takes-any-stroke", {"bad-message-is-an-error"}),
    (JSON, "errors-come-twice", {"bad-message-is-an-error"}),
    (JSON, "takes-nan", {"bad-message-is-an-error"}),
    (JSON, "binary-closes", {"binary-frame-is-an-error"}),
    (JSON, "binary-is-text", {"binary-frame-is-an-error"}),
    (JSON, "dies-of-deep-json", {"extreme-json-is-harmless"}),
    (JSON, "dies-of-protocol-errors", {"protocol-errors-harm-nobody"}),
    (JSON, "compresses", {"compression-stays-off"}),
    (JSON, "any-upgrade", {"bad-upgrade-is-refused"}),
    (JSON, "one-handshake-at-a-time", {"half-handshakes-delay-nobody"}),
    (JSON, "hundred-clients", {"two-hundred-join-at-once"}),
    (JSON, "resets-close-boards", {"resets-harm-nobody"}),
    (JSON, "leaks-sockets", {"resets-leave-no-socket"}),
    (JSON, "queues-without-limit", SLOW_READERS | {"deaf-sender-harms-nobody"}),
    (JSON, "hoards", SLOW_READERS),
    (JSON, "skips-slow", SLOW_READERS | {"deaf-sender-harms-nobody"}),
    (JSON, "waits-for-slow", SLOW_READERS),
    (JSON, "closes-with-1012", {"sigterm-closes-with-1001"}),
    (JSON, "outage-ends-memberships", {"outage-of-a-service-is-survived"}),
    (JSON, "outage-ends-connections", {"outage-of-a-service-is-survived"}),
    (JSON, "lost-service-is-ignored", {"outage-of-a-service-ends-connections"}),
    (JSON, "accepts-to-the-end", {"sigterm-refuses-new-clients"}),
    (JSON, "exits-with-1", {"sigterm-exits-with-0"}),
    (JSON, "lingers", {"sigterm-exits-within-5-seconds"}),
    (STOMP, "believes-bodies", {"body-must-name-its-destination"}),
    (STOMP, "topics-are-open", {"topics-take-no-client-messages"}),
    (STOMP, "subscribes-anything", {"other-destinations-are-refused"}),
    (STOMP, "forgets-receipts", {"disconnect-is-acknowledged"}),
    (STOMP, "dies-of-broken-frames", {"broken-frame-is-harmless"}),
    (STOMP, "anyone-draws", {"drawing-needs-membership"}),
    (STOMP, "spoils-large", {"sixty-kib-arrive-unchanged", "message-of-64-kib-is-accepted"}),
    (SOCKETIO, "leaving-never-fails", {"leaving-needs-membership"}),
    (SOCKETIO, "believes-bodies", {"event-and-body-belong-together", "broken-packet-is-harmless"}),
    (SOCKETIO, "dies-of-broken-packets", {"broken-packet-is-harmless"}),
    (SOCKETIO, "passes-binary-on", {"binary-ends-its-connection"}),
    (SOCKETIO, "offers-upgrades", {"only-web-sockets-are-spoken"}),
    (SOCKETIO, "speaks-polling", {"only-web-sockets-are-spoken"}),
    (SOCKETIO, "forgets-notes", {"text-is-unchanged", "sixty-kib-arrive-unchanged", "extreme-json-is-harmless"}),
    (SOCKETIO, "takes-any-stroke", {"bad-message-is-an-error"}),
    (SOCKETIO, "spoils-large", {"sixty-kib-arrive-unchanged", "message-of-64-kib-is-accepted"}),
    (SOCKETIO, "crosses-one-in-1000", {"many-boards-are-not-mixed"}),
    (JSON, "alters-one-in-1000", {"many-boards-are-not-mixed"}),
    (JSON, "crosses-one-in-1000", {"many-boards-are-not-mixed"}),
    (STOMP, "crosses-one-in-1000", {"many-boards-are-not-mixed"}),
    (JSON, "ends-at-bursts", {"burst-of-large-draws-arrives"}),
    (JSON, "logs-draws", {"no-log-line-per-message"}),
    (JSON, "nagles", {"nagle-is-off"}),
    (STOMP, "nagles", {"nagle-is-off"}),
]

DEAR = [
    {"many-boards-are-not-mixed", "burst-of-large-draws-arrives", "no-log-line-per-message", "nagle-is-off"},
    SLOW_READERS,
    {"resets-harm-nobody", "resets-leave-no-socket"},
    {"two-hundred-join-at-once"},
    {"order-per-sender-is-kept"},
    {"joined-means-subscribed", "draw-reaches-every-member"},
    {name for name in EVERY_RULE if name.startswith("sigterm-")},
]
"""Groups of slow rules. A group is checked only if the fault breaks one of its rules."""


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_good_server_keeps_all_rules(whiteboard: Callable[..., Subject], protocol: str) -> None:
    waits: list[str] = []
    found = verify(whiteboard(protocol), ends=lambda: waits.append("for the exit"))
    assert {result.name: result.detail for result in found.failures} == {}
    assert [result.name for result in found.rules] == [rule.name for rule in rules_for("whiteboard", protocol)]
    assert len(found.rules) >= 15
    assert waits == ["for the exit"]


@pytest.mark.slow
def test_a_good_server_with_a_service_keeps_one_rule_more(whiteboard: Callable[..., Subject]) -> None:
    found = verify(whiteboard(JSON, "outage-is-survived"), ["outage-of-a-service-is-survived"])
    assert [(result.name, result.outcome) for result in found.rules] == [("outage-of-a-service-is-survived", "passed")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [
        ("lost-service-closes", None),
        ("lost-service-aborts", "a closing handshake"),
        ("lost-service-looks-healthy", "a /healthz other than 200"),
        ("lost-service-stays-lost", "a member again within 1 s"),
    ],
)
def test_a_server_that_ends_its_connections_with_a_service_does_so_in_good_order(
    whiteboard: Callable[..., Subject], monkeypatch: pytest.MonkeyPatch, behaviour: str, fault: str | None
) -> None:
    monkeypatch.setattr(outage, "RETURN_SECONDS", 1.0)
    [found] = verify(whiteboard(JSON, behaviour), ["outage-of-a-service-ends-connections"]).rules
    assert fault in found.detail if fault else found.passed, found.detail


def test_a_server_is_asked_for_what_it_says_of_the_loss_of_a_service() -> None:
    def about(services: list[str], outage: Outage) -> set[str]:
        return {rule.name for rule in rules_for("whiteboard", JSON, services, outage) if "outage" in rule.name}

    assert about(["fake"], "keeps-clients") == {"outage-of-a-service-is-survived"}
    assert about(["fake"], "ends-connections") == {"outage-of-a-service-ends-connections"}
    assert about([], "ends-connections") == set()


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "protocol", "fault", "broken"), [(turn, *each) for turn, each in enumerate(FAULTS)])
def test_a_fault_breaks_its_rules_and_none_near(
    whiteboard: Callable[..., Subject], turn: int, protocol: str, fault: str, broken: set[str]
) -> None:
    near = broken.union(*(group for group in DEAR if group & broken))
    dear = set[str]().union(*DEAR)
    others = [rule.name for rule in rules_for("whiteboard", protocol, ["fake"]) if rule.name not in dear]
    found = verify_expecting(broken, whiteboard(protocol, fault), with_some_others(near, others, turn))
    assert {result.name for result in found.failures} == broken, found.failures


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "kept"), [("two-hundred-join-at-once", True), ("broken-frame-is-harmless", False)])
def test_a_crowd_may_be_greeted_within_the_ten_seconds_of_its_rule(
    whiteboard: Callable[..., Subject], rule: str, kept: bool
) -> None:
    found = verify(whiteboard(STOMP, "greets-late-when-cold"), [rule])
    assert found.passed == kept
    assert kept or "a CONNECTED frame within 2 s" in found.failures[0].detail


@pytest.mark.slow
def test_servers_that_start_at_the_same_time_have_ports_of_their_own(whiteboard: Callable[..., Subject]) -> None:
    """Tests of two checkouts may run on one machine, and none may connect to a server of the other."""
    with ExitStack() as running, ThreadPoolExecutor() as pool:
        subject = whiteboard(JSON)
        starts = [subject.start() for _ in range(3)]
        targets = list(pool.map(running.enter_context, starts))
        assert len({target.url for target in targets}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_compression_is_seen_over_each_protocol(whiteboard: Callable[..., Subject], protocol: str) -> None:
    assert not verify(whiteboard(protocol, "compresses"), ["compression-stays-off"]).passed


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_rule_is_broken_by_some_fault(protocol: str) -> None:
    breakable = {name for _, _, broken in FAULTS for name in broken}
    assert {rule.name for rule in rules_for("whiteboard", protocol, ["fake"])} <= breakable


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "fault", "rule"),
    [
        (JSON, "errors-close", "bad-message-is-an-error"),
        (JSON, "errors-are-silent", "drawing-needs-membership"),
        (JSON, "joined-without-user", "join-is-acknowledged"),
        (SOCKETIO, "acknowledges-others", "join-is-acknowledged"),
    ],
)
def test_a_fault_that_breaks_nearly_everything_breaks_the_rule_about_it(
    whiteboard: Callable[..., Subject], protocol: str, fault: str, rule: str
) -> None:
    assert not verify(whiteboard(protocol, fault), only=[rule]).passed


@pytest.mark.slow
def test_equal_json_is_unchanged_over_socket_io(whiteboard: Callable[..., Subject]) -> None:
    found = verify(whiteboard(SOCKETIO, "reserialises"), ["text-is-unchanged"])
    assert {result.name: result.detail for result in found.failures} == {}


@pytest.mark.parametrize(
    ("sent", "arrived", "same"),
    [
        ('{"a": [1.50, -0, 1e3]}', '{"a":[1.5,0,1000]}', True),
        ('{"a":123456789012345678}', '{"a":123456789012345680}', True),
        ('{"a":1e999}', '{"a":null}', True),
        (r'{"a":"\u00e9","b":1}', '{"b":1,"a":"\u00e9"}', True),
        ('{"a":1}', '{"a":true}', False),
        ('{"a":1}', '{"a":"1"}', False),
        ('{"a":1}', '{"a":1.0000001}', False),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ('{"a":1}', '{"a":1,"b":null}', False),
        ('{"a":1}', "[", False),
    ],
)
def test_socket_io_promises_equal_json(sent: str, arrived: str, *, same: bool) -> None:
    client = whiteboard_socketio.ProtocolClient.__new__(whiteboard_socketio.ProtocolClient)
    assert client.same(sent, arrived) == same
