"""The suite `token-stream`: its rules, in the order of the text and of checking, and its clients."""

from __future__ import annotations

from types import ModuleType

from pushbench.conformance import every_server
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Target
from pushbench.conformance.token_stream import (
    connections,
    crowds,
    delivery,
    leaving,
    lifecycle,
    load,
    nagle,
    pacing,
    refusals,
)
from pushbench.conformance.token_stream.clients import Clients


def rules(protocol: ModuleType) -> tuple[Rule, ...]:
    return rules_in(
        every_server, delivery, protocol, pacing, refusals, connections, leaving, crowds, load, nagle, lifecycle
    )


def clients(server: str, target: Target, protocol: ModuleType) -> Clients:
    return Clients(server, target, protocol.PATH)
