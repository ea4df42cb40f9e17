"""The suite `presence`: its rules and its clients."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from pushbench.conformance.presence import greeting

from pushbench.conformance import every_server
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Target


@dataclass(frozen=True)
class Clients:
    server: str
    target: Target

    async def dismiss(self) -> None:
        """Nothing stays open."""


def rules(protocol: ModuleType) -> tuple[Rule, ...]:
    return rules_in(every_server, greeting)


def clients(server: str, target: Target, protocol: ModuleType) -> Clients:
    return Clients(server, target)
