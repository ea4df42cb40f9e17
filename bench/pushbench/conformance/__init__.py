"""The gate before any timing: whether a server keeps its suite's rules, over its own protocol.

The rules are the specification of a server, one module a topic: start with `every_server` and `whiteboard.membership`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pushbench.catalog.servers import Outage, Server
from pushbench.conformance.result import Conformance, RuleResult
from pushbench.conformance.rule import Rule
from pushbench.conformance.suite import SuiteRules, digest
from pushbench.conformance.target import Subject, Target
from pushbench.conformance.verification import unverified, verify
from pushbench.drivers.driver import Build, Driver

__all__ = [
    "Conformance",
    "Rule",
    "RuleResult",
    "Subject",
    "Target",
    "digest",
    "rules_for",
    "subject",
    "unverified",
    "verify",
]


def rules_for(
    suite: str, protocol: str, services: Sequence[str] = (), outage: Outage | None = None
) -> tuple[Rule, ...]:
    """All rules of a server with this suite and protocol. Raises UserError when there are none."""
    return SuiteRules(suite, protocol).rules(services, outage)


def subject(server: Server, build: Build, driver: Driver, env: Mapping[str, str] | None = None) -> Subject:
    """A server of the catalog as what is verified."""
    spec = server.spec
    start = partial(driver.running, server, build, env)
    return Subject(server.id, spec.suite, spec.protocol, spec.services, start, spec.outage)
