"""From chosen servers to servers that may be measured: toolchains found, built, and verified before any timing.

A server that fails a step is kept with its failure; the others go on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pushbench import conformance, services
from pushbench.builds import Note, build_generator
from pushbench.catalog import Server, of_suite, read_catalog, select
from pushbench.driver_choice import DriverChoice, choose_driver
from pushbench.drivers import Build, Driver
from pushbench.errors import UserError
from pushbench.failures import ServerFailed
from pushbench.files import write_atomically
from pushbench.project import Project
from pushbench.record import Failure, Skipped
from pushbench.suites import Suite

BUILDS_AT_ONCE = 2  # npm, pip and Maven wait for the network half of the time


@dataclass(frozen=True)
class Prepared:
    """A server that may be measured, or why it may not."""

    server: Server
    digest: str
    result: Build | Failure
    verified: bool = False


@dataclass(frozen=True)
class Selection:
    """What is to be measured, or verified, and by which driver."""

    driver: Driver
    servers: Sequence[Server]
    skipped: Sequence[Skipped]


def select_servers(
    project: Project,
    suite: Suite,
    names: Sequence[str],
    note: Note,
    choice: DriverChoice,
) -> Selection:
    """The named servers, or all of the suite, that can run here.

    Raises UserError for a name that is unknown or of another suite, for a driver that cannot be had, and when no
    server is left.
    """
    asked = _asked_for(project, suite, names)
    driver = choose_driver(project, asked, choice, note)
    skipped = [Skipped(server=server.id, reason=lack) for server in asked if (lack := driver.lacks(server))]
    for each in skipped:
        note(f"{each.server}: skipped: {each.reason}")
    if len(skipped) == len(asked):
        raise UserError(f"no server of {suite.id} can be built here", hint="install one of the toolchains named above")
    left_out = {each.server for each in skipped}
    return Selection(driver, [server for server in asked if server.id not in left_out], skipped)


def _asked_for(project: Project, suite: Suite, names: Sequence[str]) -> list[Server]:
    catalog = read_catalog(project.servers)
    found = select(catalog, names) if names else of_suite(catalog, suite.id)
    for server in found:
        if server.spec.suite != suite.id:
            raise UserError(f"{server.id} belongs to the suite {server.spec.suite!r}, not to {suite.id!r}")
        suite.check(server)
        services.check(server)
    return found


def build_all(project: Project, selection: Selection, note: Note) -> tuple[Path, list[Prepared]]:
    """The generator's binary, and the servers. Raises UserError when there is no generator."""
    with ThreadPoolExecutor(1) as pool:
        generator = pool.submit(build_generator, project, note)
        built = build_servers(selection.driver, selection.servers, note)
        return generator.result(), built


def build_servers(driver: Driver, servers: Sequence[Server], note: Note) -> list[Prepared]:
    def build(server: Server) -> Prepared:
        try:
            built = driver.build(server, note)
            return Prepared(server, built.digest, built)
        except ServerFailed as failed:
            note(f"{server.id}: failed to build: {failed.failure.message}\n{failed.failure.log_tail}".rstrip())
            return Prepared(server, driver.digest(server), failed.failure)

    with ThreadPoolExecutor(BUILDS_AT_ONCE) as pool:
        return list(pool.map(build, servers))


def verify_all(project: Project, built: Sequence[Prepared], driver: Driver, note: Note) -> list[Prepared]:
    """Those that passed unchanged before are not verified again."""
    return [
        Prepared(each.server, each.digest, _verify(project, each.server, each.result, driver, note), verified=True)
        if isinstance(each.result, Build)
        else each
        for each in built
    ]


def _verify(project: Project, server: Server, build: Build, driver: Driver, note: Note) -> Build | Failure:
    passed = project.cache / "verified" / f"{server.slug}.json"
    now = {"build": build.digest, "rules": conformance.digest()}
    try:
        if json.loads(passed.read_text()) == now:
            return build
    except (OSError, ValueError):
        pass
    note(f"{server.id}: verifying")
    try:
        found = conformance.gate(server, build, driver)
    except ServerFailed as failed:
        note(f"{server.id}: not benchmarked: {failed.failure.message}\n{failed.failure.log_tail}".rstrip())
        return failed.failure
    if found.passed:
        note(f"{server.id}: passed {len(found.rules)} rules")
        write_atomically(passed, json.dumps(now).encode())
        return build
    broken = "; ".join(f"{rule.name}: {rule.detail}" for rule in found.failures)
    note(f"{server.id}: not benchmarked, it breaks {broken}")
    return Failure(step="verify", message=f"breaks {broken}", log_tail=found.failures[0].log_tail)
