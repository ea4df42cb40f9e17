"""Declared requests: the rules that are independent of the protocol, for streams and for single answers.

A suite of requests uses them as its `declared`.
"""

from __future__ import annotations

from pushbench.conformance import declared_conversation
from pushbench.conformance.declared_requests import answers, crowds, lifecycle
from pushbench.conformance.declared_requests.clients import Clients
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Declared, Target


def rules(_: None) -> tuple[Rule, ...]:
    return rules_in(declared_conversation, answers, crowds, lifecycle)


def clients(server: str, target: Target, declared: Declared) -> Clients:
    return Clients(server, target, declared)
