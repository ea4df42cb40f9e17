"""The suite `whiteboard`: its rules, in the order of the text and of checking, and its clients."""

from __future__ import annotations

from types import ModuleType

from pushbench.conformance import every_server
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Target
from pushbench.conformance.whiteboard import (
    crowds,
    delivery,
    hostility,
    lifecycle,
    load,
    membership,
    nagle,
    outage,
)
from pushbench.conformance.whiteboard.clients import Clients


def rules(protocol: ModuleType) -> tuple[Rule, ...]:
    return rules_in(every_server, membership, delivery, protocol, hostility, crowds, load, nagle, outage, lifecycle)


def clients(server: str, target: Target, protocol: ModuleType) -> Clients:
    return Clients(server, target, protocol.ProtocolClient)
