"""Each rule of posts can fail, and only for its own reason: every fault of the server breaks exactly these rules."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import pytest

from pushbench.conformance import Subject, rules_for, verify
from tests.conformance.patiently import verify_expecting

RULES = rules_for("posts", "posts-http", ["mysql"])
LASTING = {
    "slow-readers-cost-bounded-memory",
    "nagle-is-off",
    "half-requests-delay-nobody",
    "no-log-line-per-request",
    "every-201-is-a-row",
    "metricz-follows-the-load",
    "pool-has-ten-connections",
    *(rule.name for rule in RULES if rule.final),
}
"""Rules that last, checked only where the fault is about one of them."""

FAULTS: list[tuple[str, set[str]]] = [
    ("healthz-is-anonymous", {"healthz-names-the-versions"}),
    ("any-path", {"unknown-paths-are-refused", "other-paths-are-404"}),
    ("drops-controls", {"post-is-read-as-it-was-sent"}),
    ("counts-units", {"longest-texts-are-stored"}),
    ("same-post-once", {"each-post-has-its-own-number"}),
    ("takes-numbers", {"other-fields-are-ignored"}),
    ("exact-types", {"content-type-may-have-parameters"}),
    ("crashes-of-words", {"unknown-post-is-404"}),
    ("long-titles", {"bad-post-is-400"}),
    ("keeps-refused", {"refused-post-leaves-no-row"}),
    ("takes-forms", {"other-content-type-is-415"}),
    ("limits-one-less", {"larger-body-is-413"}),
    ("limits-nothing", {"larger-body-is-413"}),
    ("chunks-have-no-limit", {"larger-body-is-413"}),
    ("no-allow", {"wrong-method-is-405"}),
    ("serves-more", {"other-paths-are-404"}),
    ("ignores-close", {"connection-is-kept"}),
    ("answers-backwards", {"pipelined-requests-are-answered-in-order"}),
    ("stops-reading", {"pipelined-requests-are-answered-in-order"}),
    ("lower-case-chunks", {"request-may-come-in-pieces"}),
    ("compresses", {"compression-stays-off"}),
    ("dies-of-broken-requests", {"broken-request-harms-nobody"}),
    ("dies-of-deep-json", {"extreme-json-harms-nobody"}),
    ("twenty-bodies", {"half-requests-delay-nobody"}),
    ("loses-in-crowds", {"every-201-is-a-row"}),
    ("mixes-in-crowds", {"every-201-is-a-row"}),
    ("doubles-in-crowds", {"every-201-is-a-row"}),
    ("fifty-connections", {"pool-has-ten-connections"}),
    ("one-connection", {"pool-has-ten-connections"}),
    ("logs-requests", {"no-log-line-per-request"}),
    ("pool-of-twenty", {"metricz-tells-the-pool", "metricz-follows-the-load", "resets-leave-nothing"}),
    ("seems-idle", {"metricz-follows-the-load"}),
    ("waits-for-ever", {"metricz-follows-the-load", "resets-leave-nothing"}),
    ("leaks-sockets", {"resets-leave-nothing"}),
    ("buffers-answers", {"slow-readers-cost-bounded-memory"}),
    ("nagles", {"nagle-is-off"}),
    ("outage-is-500", {"outage-of-the-database-is-survived"}),
    ("outage-is-for-ever", {"outage-of-the-database-is-survived"}),
    ("commits-are-forgotten", {"outage-of-the-database-is-survived"}),
    ("drops-requests", {"sigterm-finishes-requests"}),
    ("resets-at-the-end", {"sigterm-ends-idle-connections"}),
    ("serves-to-the-end", {"sigterm-refuses-new-clients"}),
    ("exits-with-1", {"sigterm-exits-with-0"}),
    ("lingers", {"sigterm-exits-within-5-seconds"}),
]
BROKEN_ALMOST_EVERYWHERE = [
    ("answers-200", "post-is-created"),
    ("created-has-a-body", "post-is-created"),
    ("absolute-locations", "post-is-created"),
    ("adds-a-field", "post-is-read-as-it-was-sent"),
    ("plain-errors", "bad-post-is-400"),
]


@pytest.mark.slow
def test_a_good_server_keeps_all_rules(posts: Callable[..., Subject]) -> None:
    found = verify_expecting((), posts())
    assert {result.name: result.detail for result in found.failures} == {}
    assert [result.name for result in found.rules] == [rule.name for rule in RULES]
    assert len(found.rules) >= 15 + 2


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "broken"), FAULTS)
def test_a_fault_breaks_its_rules_and_no_others(
    posts: Callable[..., Subject], fault: str, broken: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant in ("lifecycle.EXIT_SECONDS", "outage.RECOVERY_SECONDS", "outage.ANSWER_SECONDS"):
        monkeypatch.setattr(f"pushbench.conformance.posts.{constant}", 1.0)
    monkeypatch.setattr(import_module("pushbench.conformance.posts.clients"), "PROMPT", 1.0)
    monkeypatch.setattr("pushbench.conformance.posts.crowds.SETTLED_SECONDS", 0.3)
    monkeypatch.setattr("pushbench.conformance.posts.metricz.SETTLED_SECONDS", 0.3)
    monkeypatch.setattr("tests.conformance.posts.server.LINGER_SECONDS", 1.5)
    quick = [rule.name for rule in RULES if rule.name not in LASTING - broken]
    if any(rule.final for rule in RULES if rule.name in broken):
        quick = [rule.name for rule in RULES if rule.final]
    found = verify_expecting(broken, posts(fault), quick)
    assert {result.name for result in found.failures} == broken, found.failures


@pytest.mark.parametrize(("fault", "rule"), BROKEN_ALMOST_EVERYWHERE)
def test_a_fault_that_breaks_nearly_everything_breaks_the_rule_about_it(
    posts: Callable[..., Subject], fault: str, rule: str
) -> None:
    assert not verify(posts(fault), only=[rule]).passed


def test_every_rule_is_broken_by_some_fault() -> None:
    breakable = {name for _, broken in FAULTS for name in broken} | {rule for _, rule in BROKEN_ALMOST_EVERYWHERE}
    assert {rule.name for rule in RULES} <= breakable
