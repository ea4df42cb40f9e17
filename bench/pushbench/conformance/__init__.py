"""The gate before any timing: checks a server against its suite's rules, over its own protocol.

The rules are the specification of a server, one module per topic. Start with `every_server` and
`whiteboard.membership`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pushbench.catalog.declaration import Declaration
from pushbench.catalog.protocols import declared_by
from pushbench.catalog.servers import Outage, Server
from pushbench.conformance.result import Conformance, RuleResult
from pushbench.conformance.rule import Rule
from pushbench.conformance.suite import SuiteRules, digest
from pushbench.conformance.target import Declared, Subject, Target
from pushbench.conformance.verification import unverified, verify
from pushbench.drivers.driver import Build, Driver
from pushbench.generator.talking import Talked

Converse = Callable[[str, Declaration, Mapping[str, str]], Talked]
"""Has the generator hold a conversation with the server at a URL, for its declaration and with these secrets."""

__all__ = [
    "Conformance",
    "Converse",
    "Declared",
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
    """All rules for a server with this suite and protocol. Raises UserError if there are none."""
    return SuiteRules(suite, protocol).rules(services, outage)


def subject(
    server: Server,
    build: Build,
    driver: Driver,
    converse: Converse | None = None,
    environment: Mapping[str, str] | None = None,
) -> Subject:
    """A server of the catalog as a subject of verification, with additional variables in its `environment`.

    A server that declares its protocol needs `converse`.
    """
    spec, declared = server.spec, declared_by(server)
    start = partial(driver.running, server, build, environment)
    spoken = None
    if declared:
        assert converse
        secrets = declared.environment()
        spoken = Declared(declared, lambda url: converse(url, declared.declaration, secrets))
    return Subject(server.id, spec.suite, spec.protocol, spec.services, start, spec.outage, spoken)
