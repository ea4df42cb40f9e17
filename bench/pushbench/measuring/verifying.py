"""Built servers are verified several at a time, by `pushbench verify` and before any trial."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Built:
    """A server that can be verified."""

    server: Server
    build: Build
    driver: Driver
    converse: Converse | None = None
    """for servers that declare their protocol"""

    def in_lane(self, lane: int) -> Subject:
        return conformance.subject(self.server, self.build, in_lane(self.driver, lane), self.converse)


def lanes_of(driver: Driver) -> int:
    """How many servers at a time: one a core; one where all are to have the same port, or a node of a cluster."""
    if isinstance(driver, KubernetesDriver) or (isinstance(driver, ProcessDriver) and driver.port is not None):
        return 1
    return min(MOST_LANES, len(physical_cores(os.sched_getaffinity(0))))


def verify_built(built: Sequence[Built], lanes: int, watch: Watch, only: Sequence[str] = ()) -> list[Conformance]:
    """The result of each server, in their order; `watch` hears of them by their places in it."""
    order = sorted(range(len(built)), key=lambda place: not _is_slow(built[place].server))
    by_place = Watch(
        lambda number: watch.began(order[number]),
        lambda number, result: watch.checked(order[number], result),
        lambda number, found: watch.found(order[number], found),
    )
    # The slowest ones begin, so that none of them is left alone at the end.
    found = verify_each([built[place].in_lane for place in order], lanes, by_place, only)
    return [found[order.index(place)] for place in range(len(built))]


def _is_slow(server: Server) -> bool:
    return "java" in server.spec.process.toolchains if server.spec.process else bool(server.spec.compose)
