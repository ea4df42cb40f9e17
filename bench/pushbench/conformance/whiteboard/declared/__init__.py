"""Declared protocols: the rules that are independent of the protocol, and the clients for it."""

from __future__ import annotations

from dataclasses import replace

from pushbench.conformance import declared_conversation
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Declared, Target
from pushbench.conformance.whiteboard import crowds, lifecycle, membership
from pushbench.conformance.whiteboard.declared import delivery, leaving, slow_readers
from pushbench.conformance.whiteboard.declared.clients import Clients

SHARED = {
    membership.closing_ends_membership: (
        "A client whose connection ended is no member; coming back, it receives each message once."
    ),
    crowds.two_hundred_join_at_once: (
        "200 clients that join one group at once are all members within 10 s, and then a message reaches them all."
    ),
    crowds.resets_harm_nobody: ("When half of a group vanishes with TCP resets, the other half misses nothing."),
}
"""Rules of the built-in protocols that apply to all, in the terms of declared ones."""


def rules(_: None) -> tuple[Rule, ...]:
    return (
        *rules_in(declared_conversation, delivery, leaving),
        *(replace(rule, statement=statement) for rule, statement in SHARED.items()),
        *rules_in(slow_readers),
        lifecycle.sigterm_exits_within_5_seconds,
    )


def clients(server: str, target: Target, declared: Declared) -> Clients:
    return Clients(server, target, declared)
