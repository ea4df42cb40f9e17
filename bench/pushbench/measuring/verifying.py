"""Verification of built servers, several at a time, for `pushbench verify` and before any trial."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from pushbench import conformance
from pushbench.catalog.servers import Server
from pushbench.conformance import Conformance, Converse
from pushbench.conformance.side_by_side import Watch, verify_each
from pushbench.conformance.target import Subject
from pushbench.conformance.verification import STARTS
from pushbench.drivers.driver import Build, Driver
from pushbench.drivers.kubernetes import KubernetesDriver
from pushbench.drivers.lanes import in_lane
from pushbench.drivers.process import ProcessDriver
from pushbench.machine.environment import physical_cores

MOST_LANES = 4
"""unless the user asks for more: Pushbench's own share of the CPU grows with the lanes, and rules about milliseconds
wait for it"""
ALONE = 2
"""How often a server must pass a rule alone that it failed beside others; a single failure counts."""
BRIEF = "-XX:TieredStopAtLevel=1"
"""Option of a JVM that is verified. The JVM's second compiler optimizes long-running code. In the half minute of a
verification it takes a third of the server's CPU, and no rule checks how fast the server is."""
JVM_OPTIONS = "JDK_JAVA_OPTIONS"
"""Environment variable with options of `java`. They come before the options of its command, which override them
(https://docs.oracle.com/en/java/javase/25/docs/specs/man/java.html)."""


@dataclass(frozen=True)
class Built:
    """A server that can be verified."""

    server: Server
    build: Build
    driver: Driver
    converse: Converse | None = None
    """for servers that declare their protocol"""

    def in_lane(self, lane: int) -> Subject:
        environment = _environment(self.server)
        return conformance.subject(self.server, self.build, in_lane(self.driver, lane), self.converse, environment)


def _environment(server: Server) -> dict[str, str]:
    """Variables added to a server's environment to verify it."""
    if not server.spec.process or Path(server.process.start[0]).name != "java":
        return {}
    return {JVM_OPTIONS: f"{BRIEF} {server.spec.env.get(JVM_OPTIONS, '')}".strip()}


def lanes_of(driver: Driver) -> int:
    """How many servers at a time: three for two cores, because each waits at times; one if all must have the same port,
    or a node of a cluster."""
    if isinstance(driver, KubernetesDriver) or (isinstance(driver, ProcessDriver) and driver.port is not None):
        return 1
    cores = len(physical_cores(os.sched_getaffinity(0)))
    return min(MOST_LANES, cores + cores // 2)


def verify_built(built: Sequence[Built], lanes: int, watch: Watch, only: Sequence[str] = ()) -> list[Conformance]:
    """The result of each server, in their order; `watch` receives their places in it.

    A rule that a server failed beside others is checked again while nothing else is verified, ALONE times on fresh
    servers: the others may have had the CPU that it waited for. What was found alone counts.
    """
    order = _order([each.server for each in built])
    beside = min(lanes, len(built)) > 1

    def ended(number: int, found: Conformance) -> None:
        if found.passed or not beside:
            watch.found(order[number], found)
        else:
            watch.postponed(order[number], found)

    by_place = Watch(
        lambda number: watch.began(order[number]),
        lambda number, result: watch.checked(order[number], result),
        ended,
    )
    found = dict(zip(order, verify_each([built[place].in_lane for place in order], lanes, by_place, only), strict=True))
    for place in order if beside else ():
        if not found[place].passed:
            found[place] = _alone(built[place], found[place])
            watch.found(place, found[place])
    return [found[place] for place in range(len(built))]


def _alone(built: Built, before: Conformance) -> Conformance:
    """The result `before`, with the rules that failed there as the server keeps them alone."""
    started = not any(result.name == STARTS for result in before.failures)
    names = [result.name for result in before.rules if not result.passed] if started else ()
    silent = Watch(lambda _: None, lambda *_: None, lambda *_: None)
    checks, kept_alone = 0, True
    while kept_alone and checks < ALONE:
        checks += 1
        [found] = verify_each([built.in_lane], 1, silent, names)
        kept_alone = found.passed
    now = {result.name: result.model_copy(update={"checks": checks + 1}) for result in found.rules}
    kept = [now.pop(each.name, each) for each in before.rules if started or each.name in now]
    return before.model_copy(update={"rules": [*kept, *now.values()]})


def _order(servers: Sequence[Server]) -> list[int]:
    """The places of servers in the order in which to begin them. The slowest come first, so that none of them is left
    alone at the end: those with services, which have outages, and those with the most rules. A JVM mostly works while
    it is verified, and the others mostly wait, so both kinds alternate.
    """
    places = sorted(range(len(servers)), key=lambda place: _expected(servers[place]), reverse=True)
    slow = [place for place in places if _is_slow(servers[place])]
    swift = [place for place in places if not _is_slow(servers[place])]
    return [place for pair in zip_longest(slow, swift) for place in pair if place is not None]


def _expected(server: Server) -> tuple[bool, int]:
    """The relative duration of a verification: whether there are services, and the number of rules."""
    spec = server.spec
    return bool(spec.services), len(conformance.rules_for(spec.suite, spec.protocol, spec.services, spec.outage))


def _is_slow(server: Server) -> bool:
    return "java" in server.spec.process.toolchains if server.spec.process else bool(server.spec.compose)
