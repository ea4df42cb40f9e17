"""Each rule can fail, and for its own reason: every fault of a server of typing games breaks these rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.conformance import rules_for
from pushbench.conformance.typing_game.text import TEXT
from tests.conformance.patiently import verify_expecting
from tests.conformance.typing_game.conftest import Subjects

RULES = rules_for("typing-game", "typing-game-socketio")
SERVERS = Path(__file__).parents[4] / "servers"

Fault = tuple[str, set[str]]
FAULTS: list[Fault] = [
    ("healthz-is-anonymous", {"healthz-names-the-versions"}),
    ("any-path", {"unknown-paths-are-refused", "refusals-are-json", "connection-is-kept"}),
    ("means-100", {"lengths-are-not-mixed"}),
    ("has-a-shorter-text", {"limits-are-accepted"}),
    ("frees-seats-at-once", {"six-players-get-one-room", "seats-and-rooms-are-kept-for-ten-seconds"}),
    ("keeps-seats", {"seats-and-rooms-are-kept-for-ten-seconds"}),
    ("keeps-rooms", {"seats-and-rooms-are-kept-for-ten-seconds"}),
    ("serves-more", {"nothing-else-is-served"}),
    ("any-method", {"wrong-method-is-refused"}),
    ("allows-nothing", {"wrong-method-is-refused"}),
    ("limits-no-body", {"large-body-is-refused", "refusals-are-json"}),
    ("limits-one-less", {"large-body-is-refused"}),
    ("any-type", {"other-types-are-refused", "refusals-are-json"}),
    ("errors-are-text", {"refusals-are-json"}),
    ("hundred-requests", {"connection-is-kept"}),
    ("gathers-half", {"waiting-room-begins-after-two-seconds"}),
    ("waits-when-full", {"full-room-begins-at-once"}),
    ("starts-at-once", {"full-room-begins-at-once"}),
    ("plays-twice", {"impossible-join-is-turned-away"}),
    ("users-may-double", {"user-joins-once"}),
    ("counts-beyond-the-end", {"text-has-an-end"}),
    ("believes-messages", {"foreign-keystrokes-are-errors"}),
    ("types-early", {"foreign-keystrokes-are-errors"}),
    ("forgives-seq", {"seq-must-increase"}),
    ("needs-no-ids", {"ping-is-acknowledged"}),
    ("types-on", {"finished-player-types-no-more"}),
    ("keeps-finished-rooms", {"metricz-counts-rooms-and-players"}),
    ("waits-for-leavers", {"leaver-is-not-waited-for"}),
    ("tells-no-delay", {"metricz-tells-the-delay"}),
    ("tells-milliseconds", {"metricz-tells-the-delay"}),
    ("delay-stands-still", {"metricz-tells-the-delay"}),
    ("forgives-times", {"bad-message-is-an-error"}),
    ("forgives-events", {"bad-event-is-an-error"}),
    ("broken-packets-end-all", {"broken-packet-is-harmless", "binary-ends-its-connection"}),
    ("passes-over-binary", {"binary-ends-its-connection"}),
    ("offers-upgrades", {"only-web-sockets-are-spoken"}),
    ("speaks-polling", {"only-web-sockets-are-spoken"}),
    ("limits-no-message", {"message-limit-is-64-kib"}),
    ("violations-end-all", {"protocol-errors-harm-nobody"}),
    ("compresses", {"compression-stays-off"}),
    ("upgrades-any-path", {"bad-upgrade-is-refused"}),
    ("reads-one-at-a-time", {"half-requests-delay-nobody"}),
    ("queues-all", {"silent-player-is-disconnected"}),
    ("logs-messages", {"no-log-line-per-message"}),
    ("has-nagle", {"nagle-is-off"}),
    ("closes-with-1012", {"sigterm-closes-with-1001"}),
    ("accepts-to-the-end", {"sigterm-refuses-new-clients"}),
    ("exits-with-1", {"sigterm-exits-with-0"}),
    ("lingers", {"sigterm-exits-within-5-seconds"}),
]
"""Each breaks these rules, and none of the others that are probed."""
PROBED = {
    "six-players-get-one-room",
    "connection-is-kept",
    "refusals-are-json",
    "join-gives-the-text",
    "keystroke-reaches-every-member",
    "game-ends-when-all-have-finished",
    "bad-event-is-an-error",
}
"""Quick rules that show whether a server is right but for its fault."""
PROBED_AT_THE_END = {"sigterm-closes-with-1001"}
"""The same where the fault is about the end."""
WIDE: list[Fault] = [
    ("has-seven-seats", {"six-players-get-one-room"}),
    ("mixes-lengths", {"lengths-are-not-mixed"}),
    ("counts-one-key", {"keys-are-checked-one-by-one"}),
    ("forgives-requests", {"bad-request-is-400"}),
    ("refuses-with-422", {"bad-request-is-400", "connection-is-kept"}),
    ("shouts", {"join-gives-the-text"}),
    ("stays-open", {"impossible-join-is-turned-away"}),
    ("reverses-players", {"full-room-begins-at-once"}),
    ("keeps-leavers", {"leaver-frees-the-seat", "metricz-counts-rooms-and-players"}),
    ("forgets-no-room", {"metricz-counts-rooms-and-players"}),
    ("counts-one-room", {"metricz-counts-rooms-and-players"}),
    ("tells-everybody", {"keystroke-reaches-every-member", "impossible-join-is-turned-away"}),
    ("skips-the-sender", {"keystroke-reaches-every-member"}),
    ("wrong-keys-move-on", {"keys-are-checked-one-by-one"}),
    ("joins-states", {"every-event-has-its-state"}),
    ("loses-some", {"many-rooms-are-not-mixed", "every-event-has-its-state"}),
    ("alters-some", {"many-rooms-are-not-mixed", "every-event-has-its-state"}),
    ("pings-lie", {"ping-is-acknowledged"}),
    ("gives-no-reason", {"bad-message-is-an-error", "finished-player-types-no-more"}),
    ("ends-with-the-first", {"finished-player-types-no-more", "game-ends-when-all-have-finished"}),
    ("never-ends", {"game-ends-when-all-have-finished"}),
    ("sorts-places", {"game-ends-when-all-have-finished"}),
    ("ends-connections", {"rematch-is-played-on-the-same-connection"}),
    ("reset-ends-the-room", {"resets-harm-nobody"}),
]
"""Each breaks most of what its server does; of these rules it is shown."""


@pytest.mark.slow
def test_a_good_server_keeps_all_rules(game: Subjects) -> None:
    found = verify_expecting((), game())
    assert {result.name: result.detail for result in found.failures} == {}
    assert [result.name for result in found.rules] == [rule.name for rule in RULES]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "broken"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_fault_breaks_its_rules_and_no_others(game: Subjects, fault: str, broken: set[str]) -> None:
    at_the_end = PROBED_AT_THE_END if any(name.startswith("sigterm") for name in broken) else set()
    found = verify_expecting(broken, game(fault), PROBED | at_the_end | broken)
    assert {result.name for result in found.failures} == broken, found.failures


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "broken"), WIDE, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wide_fault_breaks_these_rules(game: Subjects, fault: str, broken: set[str]) -> None:
    found = verify_expecting(broken, game(fault), broken)
    assert {result.name for result in found.failures} == broken, found.failures


def test_every_rule_is_broken_by_some_fault() -> None:
    broken = {name for _, names in FAULTS + WIDE for name in names}
    assert {rule.name for rule in RULES} - broken == set()


def test_rules_are_named_once_and_said_in_a_sentence() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES) >= 15
    assert [rule.statement for rule in RULES if not rule.statement.endswith(".")] == []


def test_the_rules_have_the_text_of_the_servers() -> None:
    assert [path.read_text() for path in SERVERS.glob("*-game/text.txt")] == [TEXT]
