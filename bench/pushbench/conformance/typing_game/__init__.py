"""The suite `typing-game`: its rules, in the order of the text and of checking, and its clients."""

from __future__ import annotations

from types import ModuleType

from pushbench.conformance import every_server
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Target
from pushbench.conformance.typing_game import (
    crowds,
    ending,
    hostility,
    joining,
    keeping,
    lifecycle,
    load,
    matchmaking,
    metricz,
    requests,
    typing,
)
from pushbench.conformance.typing_game.clients import Clients


def rules(protocol: ModuleType) -> tuple[Rule, ...]:
    return rules_in(
        every_server,
        matchmaking,
        requests,
        joining,
        typing,
        ending,
        metricz,
        protocol,
        hostility,
        crowds,
        load,
        keeping,
        lifecycle,
    )


def clients(server: str, target: Target, protocol: ModuleType) -> Clients:
    return Clients(server, target)
