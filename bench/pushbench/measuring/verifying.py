"""Built servers are verified several at a time, by `pushbench verify` and before any trial."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from pushbench import conformance
from pushbench.catalog.servers import Server
from pushbench.conformance import Conformance, Converse
from pushbench.conformance.side_by_side import Watch, verify_each
from pushbench.conformance.target import Subject
from pushbench.drivers.driver import Build, Driver
from pushbench.drivers.kubernetes import KubernetesDriver
from pushbench.drivers.lanes import in_lane
from pushbench.drivers.process import ProcessDriver
from pushbench.machine.environment import physical_cores

MOST_LANES = 4
"""unless somebody wants more: Pushbench's own share of the CPU grows with them, and rules about milliseconds are
waiting for it"""
BRIEF = {"java": ("-XX:TieredStopAtLevel=1",)}
"""By the program of a server's command: options with which the process driver starts it to be verified. The JVM's
second compiler makes code fast that runs for long. In the half minute of a verification it takes a third of the
server's CPU, and no rule asks how fast the server is."""


@dataclass(frozen=True)
class Built:
    """A server that can be verified."""

    server: Server
    build: Build
    driver: Driver
    converse: Converse | None = None
    """for servers that declare their protocol"""

    def in_lane(self, lane: int) -> Subject:
        return conformance.subject(
            self.server, _brief(self.server, self.build), in_lane(self.driver, lane), self.converse
        )


def _brief(server: Server, build: Build) -> Build:
    """The build as it is started to be verified. The command's own options come after these, and prevail."""
    program = Path(server.process.start[0]).name if server.spec.process else ""
    return replace(build, options=(*BRIEF.get(program, ()), *build.options))


def lanes_of(driver: Driver) -> int:
    """How many servers at a time: three for two cores, because each waits in between; one where all are to have the
    same port, or a node of a cluster."""
    if isinstance(driver, KubernetesDriver) or (isinstance(driver, ProcessDriver) and driver.port is not None):
        return 1
    cores = len(physical_cores(os.sched_getaffinity(0)))
    return min(MOST_LANES, cores + cores // 2)


def verify_built(built: Sequence[Built], lanes: int, watch: Watch, only: Sequence[str] = ()) -> list[Conformance]:
    """The result of each server, in their order; `watch` hears of them by their places in it."""
    order = _order([each.server for each in built])
    by_place = Watch(
        lambda number: watch.began(order[number]),
        lambda number, result: watch.checked(order[number], result),
        lambda number, found: watch.found(order[number], found),
    )
    found = verify_each([built[place].in_lane for place in order], lanes, by_place, only)
    return [found[order.index(place)] for place in range(len(built))]


def _order(servers: Sequence[Server]) -> list[int]:
    """The places of servers in the order in which they begin. The slowest ones come first, so that none of them is left
    alone at the end, and others between them: a JVM mostly works while it is verified, and the others mostly wait.
    """
    places = sorted(range(len(servers)), key=lambda place: not servers[place].spec.services)  # which have outages
    slow = [place for place in places if _is_slow(servers[place])]
    swift = [place for place in places if not _is_slow(servers[place])]
    return [place for pair in zip_longest(slow, swift) for place in pair if place is not None]


def _is_slow(server: Server) -> bool:
    return "java" in server.spec.process.toolchains if server.spec.process else bool(server.spec.compose)
