"""Finds the rules and the clients of a suite and a protocol by name; no other module lists them.

A suite is a package beside this module with `rules` and `clients`; a protocol is a module of that package. The package
`declared` inside it, with `rules` and `clients` of its own, is for protocols that servers declare themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Protocol, runtime_checkable

from pushbench.catalog.servers import DECLARED, Outage
from pushbench.conformance.rule import Rule
from pushbench.conformance.target import Subject, Target
from pushbench.foundation.errors import UserError


class Clients(Protocol):
    """The part of a suite's clients that the verification needs; the suite's rules use more of them."""

    async def dismiss(self) -> None:
        """Close all connections."""


@runtime_checkable
class SharingClients(Clients, Protocol):
    """The clients of a suite with rules that may be checked in parallel."""

    def beside(self) -> Clients:
        """Clients of the same server for one of these rules: they meet no others, and are dismissed separately."""


class SuiteRules:
    """The rules and the clients for one protocol. Raises UserError if there are none."""

    def __init__(self, name: str, protocol: str) -> None:
        package = f"{__package__}.{_identifier(name)}"
        self._package = _find(package, f"suite {name!r}")
        self._protocol: ModuleType | None = None
        if protocol.endswith(DECLARED):
            self._package = _find(f"{package}.declared", f"declared protocols of {name}")
        else:
            self._protocol = _find(f"{package}.{_identifier(protocol)}", f"protocol {protocol!r} of {name}")

    def rules(self, services: Sequence[str], outage: Outage | None = None) -> tuple[Rule, ...]:
        """The rules for a server that needs `services`, in the order of checking: those that end the server come last.

        `outage` is the effect of a lost service on the server's clients; None selects the rules for both effects.
        """
        found: tuple[Rule, ...] = self._package.rules(self._protocol)
        asked = [rule for rule in found if rule.concerns(services, outage)]
        return tuple(sorted(asked, key=lambda rule: rule.final))

    def clients(self, subject: Subject, target: Target) -> Clients:
        found: Clients = self._package.clients(subject.server, target, self._protocol or subject.declared)
        return found


def digest() -> str:
    """The digest of the sources of all rules: a server that passed needs no second verification until it changes."""
    content, folder = hashlib.sha256(), Path(__file__).parent
    for source in sorted(folder.rglob("*.py")):
        content.update(f"{source.relative_to(folder)}\0".encode() + source.read_bytes() + b"\0")
    return content.hexdigest()


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _find(module: str, what: str) -> ModuleType:
    if not find_spec(module):
        raise UserError(f"there are no rules for the {what}", hint=f"write the module {module}")
    return import_module(module)
