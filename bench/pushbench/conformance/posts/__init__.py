"""The suite `posts`: its rules, in the order of the text and of checking, and its clients."""

from __future__ import annotations

from types import ModuleType

from pushbench.conformance import every_server
from pushbench.conformance.posts import (
    creating,
    crowds,
    exchanges,
    hostility,
    lifecycle,
    load,
    metricz,
    nagle,
    outage,
    refusing,
)
from pushbench.conformance.posts.clients import Clients
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Target


def rules(protocol: ModuleType) -> tuple[Rule, ...]:
    return rules_in(
        every_server, creating, refusing, exchanges, hostility, load, metricz, crowds, nagle, outage, lifecycle
    )


def clients(server: str, target: Target, protocol: ModuleType) -> Clients:
    return Clients(server, target)
