"""The subject of a verification: a server that can be started, and what the rules need from it while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pushbench.catalog.protocols import DeclaredProtocol
from pushbench.catalog.servers import Outage
from pushbench.conformance.result import RuleResult
from pushbench.drivers.service import Running
from pushbench.generator.talking import Talked
from pushbench.machine.processes import Exit
from pushbench.machine.resources import Accounted


class Target(Protocol):
    """A running server; the instances of every driver conform to it."""

    url: str
    """http://127.0.0.1:port"""

    @property
    def replicas(self) -> int:
        """The number of pods that clients reach at this URL; 1 outside a cluster."""
        ...

    @property
    def tree(self) -> Accounted: ...

    @property
    def services(self) -> Sequence[Running]: ...

    def terminate(self, timeout: float) -> Exit: ...

    def log_tail(self) -> str: ...

    def output_bytes(self) -> int:
        """The size of its output that is kept: it shrinks when the oldest part is dropped. Raises OSError."""
        ...


@dataclass(frozen=True)
class Declared:
    """The protocol that a server declares."""

    protocol: DeclaredProtocol
    converse: Callable[[str], Talked]
    """Has the generator hold a conversation with the server at a URL. Raises UserError."""

    def without_secrets(self, result: RuleResult) -> RuleResult:
        """The result as it may be published."""
        redact = self.protocol.redact
        return result.model_copy(update={"detail": redact(result.detail), "log_tail": redact(result.log_tail)})


@dataclass(frozen=True)
class Subject:
    """A server under verification."""

    server: str
    """its id, as in /healthz"""
    suite: str
    protocol: str
    services: Sequence[str]
    """the names of the services that it needs"""
    start: Callable[[], AbstractContextManager[Target]]
    """Starts the server afresh and waits until it is healthy; leaving the block ends it. Raises ServerFailed."""
    outage: Outage = "keeps-clients"
    """the effect of a lost service on its clients"""
    declared: Declared | None = None
    """None for a protocol of the suite"""
