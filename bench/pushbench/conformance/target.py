"""What is verified: a server that can be started, and what the rules need of it while it runs."""

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
    """A running server; every driver's instances are."""

    url: str
    """http://127.0.0.1:port"""

    @property
    def replicas(self) -> int:
        """How many pods clients reach at this URL; 1 outside a cluster."""
        ...

    @property
    def tree(self) -> Accounted: ...

    @property
    def services(self) -> Sequence[Running]: ...

    def terminate(self, timeout: float) -> Exit: ...

    def log_tail(self) -> str: ...

    def output_bytes(self) -> int:
        """How much of its output is kept: less than before where the oldest part was dropped. Raises OSError."""
        ...


@dataclass(frozen=True)
class Declared:
    """The protocol that a server declares."""

    protocol: DeclaredProtocol
    converse: Callable[[str], Talked]
    """Has the generator play a conversation with the server at a URL. Raises UserError."""

    def without_secrets(self, result: RuleResult) -> RuleResult:
        """What people may read of a result."""
        redact = self.protocol.redact
        return result.model_copy(update={"detail": redact(result.detail), "log_tail": redact(result.log_tail)})


@dataclass(frozen=True)
class Subject:
    """A server under verification."""

    server: str
    """its id, as it must report it on /healthz"""
    suite: str
    protocol: str
    services: Sequence[str]
    """the names of those that it needs"""
    start: Callable[[], AbstractContextManager[Target]]
    """Starts it anew and waits until it is healthy; leaving the block ends it. Raises ServerFailed."""
    outage: Outage = "keeps-clients"
    """what the loss of a service does to its clients"""
    declared: Declared | None = None
    """None for a protocol of the suite"""
