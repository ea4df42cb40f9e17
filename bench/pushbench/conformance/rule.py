"""A rule: one requirement on a server, written as a small async function. It is independent of suites and protocols."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from inspect import isasyncgenfunction
from types import ModuleType
from typing import Any

from pushbench.catalog.servers import Outage

Check = Callable[[Any], Awaitable[None]] | Callable[[Any], AsyncGenerator[None]]
"""Takes the clients of a suite. It returns if the server did what it must, raises Mismatch if it did not, and raises
NotAsked if it cannot decide.

A generator may be checked in parallel with others up to its `yield`, and is alone on the server from there on.
"""


class Mismatch(Exception):
    """The server's behaviour differs from the rule."""

    def __init__(self, expected: str, seen: object) -> None:
        super().__init__(f"expected {expected}; saw {seen}")
        self.expected, self.seen = expected, str(seen)


class NotAsked(Exception):
    """The rule does not apply to this server; the message gives the reason."""


@dataclass(frozen=True)
class Rule:
    """`name` is stable: people and programs refer to it. `statement` says in one sentence what a server must do."""

    name: str
    statement: str
    check: Check
    limit_seconds: float
    final: bool
    """Ends the server; such rules come last and share that one end."""
    needs_services: bool
    """Only for servers with backing services."""
    outage: Outage | None = None
    """Only for servers whose clients experience the loss of a service in this way; None: for all."""
    beside_others: bool = False
    """May be checked in parallel with others on one server: it mostly waits, and other clients do not affect it."""
    decides: bool = False
    """Comes first. If it fails, no other rule is asked."""

    def concerns(self, services: Sequence[str], outage: Outage | None) -> bool:
        """Whether the rule applies to a server with these services. `outage` None: whatever their loss causes."""
        return (bool(services) or not self.needs_services) and (outage is None or self.outage in (None, outage))

    async def steps(self, clients: object) -> AsyncGenerator[None]:
        """Check the rule; yields where it must be alone to continue."""
        checked = self.check(clients)
        if isinstance(checked, AsyncGenerator):
            async with aclosing(checked):
                async for _ in checked:
                    yield
        else:
            await checked


def rule(
    statement: str,
    *,
    limit_seconds: float = 10.0,
    final: bool = False,
    needs_services: bool = False,
    outage: Outage | None = None,
    beside_others: bool = False,
    decides: bool = False,
) -> Callable[[Check], Rule]:
    """Make a rule from an async function, named after it: `joined_means_subscribed` is `joined-means-subscribed`."""

    def register(check: Check) -> Rule:
        name = getattr(check, "__name__").replace("_", "-")  # noqa: B009 - Callable has no __name__ for type checkers
        beside = beside_others or isasyncgenfunction(check)
        return Rule(name, statement, check, limit_seconds, final, needs_services, outage, beside, decides)

    return register


def rules_in(*modules: ModuleType) -> tuple[Rule, ...]:
    """The rules of modules, in source order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Rule))


def escaped(hostile: str | bytes, limit: int = 96) -> str:
    """Text of unknown origin as one short line of printable ASCII."""
    text = ascii(hostile)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(hostile)} long)"
