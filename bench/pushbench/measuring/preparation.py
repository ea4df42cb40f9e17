"""From chosen servers to measurable ones: toolchains found, servers built, and all verified before any timing.

A server that fails a step is kept with its failure; the others go on.
"""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushbench import conformance
from pushbench.building.builds import Note, build_generator
from pushbench.catalog.elsewhere import require_authorities
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.protocols import declared_by
from pushbench.catalog.servers import Server, here, of_suite, read_catalog, select
from pushbench.catalog.suites import Suite, find_suite
from pushbench.conformance import Conformance
from pushbench.conformance.side_by_side import Watch
from pushbench.conformance.verification import STARTS
from pushbench.drivers import services
from pushbench.drivers.choice import DriverChoice, choose_driver
from pushbench.drivers.driver import Build, Driver
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.project import Project
from pushbench.measuring.conversing import conversing
from pushbench.measuring.verifying import Built, lanes_of, verify_built
from pushbench.records.record import Failure, Skipped

BUILDS_AT_ONCE = 2  # npm, pip and Maven wait for the network half of the time


class NothingToRun(UserError):
    """No server of a suite can run on this machine."""


@dataclass(frozen=True)
class Prepared:
    """A server that may be measured, or why it may not."""

    server: Server
    digest: str
    result: Build | Failure
    verified: bool = False


@dataclass(frozen=True)
class Selection:
    """The servers to measure or verify, and the driver for them."""

    driver: Driver
    servers: Sequence[Server]
    skipped: Sequence[Skipped]


def by_suite(project: Project, suite: str, names: Sequence[str]) -> dict[str, list[str]]:
    """The ids of the named servers, or of all that run here, by suite; only those of `suite` if it is given.

    Raises UserError for an unknown suite or name, for the id of a server of another suite, and if no server is left.
    """
    catalog = read_catalog(project.servers)
    if suite:
        find_suite(project.scenarios, suite)
        for server in catalog:
            if server.id in names and server.spec.suite != suite:
                raise UserError(f"{server.id} belongs to the suite {server.spec.suite!r}, not to {suite!r}")
        catalog = of_suite(catalog, suite)
    if not names:
        catalog = here(catalog)
    found: dict[str, list[str]] = {}
    for server in select(catalog, names) if names else catalog:
        found.setdefault(server.spec.suite, []).append(server.id)
    if not found:
        raise UserError("no server runs here", hint="name one: `./pushbench servers` lists them")
    return found


def select_servers(
    project: Project,
    suite: Suite,
    names: Sequence[str],
    note: Note,
    choice: DriverChoice,
) -> Selection:
    """The named servers, or all of the suite, that can run here.

    Raises UserError for a name that is unknown or of another suite, for a driver that is not available, and if no
    server is left.
    """
    return _selection(project, suite, _asked_for(project, suite, names), note, choice)


def select_given(project: Project, suite: Suite, server: Server, note: Note, choice: DriverChoice) -> Selection:
    """Select a server that is not in the catalog. Raises UserError."""
    return _selection(project, suite, [_checked(suite, server)], note, choice)


def _selection(project: Project, suite: Suite, asked: Sequence[Server], note: Note, choice: DriverChoice) -> Selection:
    driver = choose_driver(project, asked, choice, note)
    skipped = [Skipped(server=server.id, reason=lack) for server in asked if (lack := driver.lacks(server))]
    for each in skipped:
        note(f"{each.server}: skipped: {each.reason}")
    if len(skipped) == len(asked):
        systems = all(server.spec.compose for server in asked)
        hint = "choose the driver named above" if systems else "install one of the toolchains named above"
        raise NothingToRun(
            f"no server of {suite.id} can be built here", hint=hint if driver.name == "process" else None
        )
    left_out = {each.server for each in skipped}
    return Selection(driver, [server for server in asked if server.id not in left_out], skipped)


def _asked_for(project: Project, suite: Suite, names: Sequence[str]) -> list[Server]:
    ids = by_suite(project, suite.id, names).get(suite.id, [])
    found = select(read_catalog(project.servers), ids)
    return [_checked(suite, server) for server in found]


def _checked(suite: Suite, server: Server) -> Server:
    suite.check(server)
    services.check(server)
    if server.spec.url:
        require_authorities(server.spec.url, server.authorities, None if server.declared else str(server.file))
    return server


def build_all(project: Project, selection: Selection, note: Note) -> tuple[Path, list[Prepared]]:
    """The generator's binary, and the servers. Raises UserError if there is no generator."""
    return build_selections(project, [selection], note)


def build_selections(project: Project, selections: Sequence[Selection], note: Note) -> tuple[Path, list[Prepared]]:
    """Like `build_all`, for all the selections."""
    with ThreadPoolExecutor(1) as pool:
        generator = pool.submit(build_generator, project, note)
        built = build_each([(each.driver, server) for each in selections for server in each.servers], note)
        return generator.result(), built


def build_servers(driver: Driver, servers: Sequence[Server], note: Note) -> list[Prepared]:
    return build_each([(driver, server) for server in servers], note)


def build_each(asked: Sequence[tuple[Driver, Server]], note: Note) -> list[Prepared]:
    """Build servers of several folders at a time. Servers of one folder share products and are built one by one."""
    folders: dict[Path, list[int]] = {}
    for place, (_, server) in enumerate(asked):
        folders.setdefault(server.folder, []).append(place)

    def build(places: Sequence[int]) -> dict[int, Prepared]:
        return {place: _build(*asked[place], note) for place in places}

    with ThreadPoolExecutor(BUILDS_AT_ONCE) as pool:
        built = ChainMap(*pool.map(build, folders.values()))
    return [built[place] for place in range(len(asked))]


def _build(driver: Driver, server: Server, note: Note) -> Prepared:
    try:
        built = driver.build(server, note)
        return Prepared(server, built.digest, built)
    except ServerFailed as failed:
        note(f"{server.id}: failed to build: {failed.failure.message}\n{failed.failure.log_tail}".rstrip())
        return Prepared(server, driver.digest(server), failed.failure)


def verify_all(project: Project, built: Sequence[Prepared], driver: Driver, note: Note) -> list[Prepared]:
    """Verify the servers, except those that passed before and are unchanged."""
    converse = conversing(project, (each.server for each in built), note)
    whole = [Built(each.server, each.result, driver, converse) for each in built if isinstance(each.result, Build)]
    pending = [each for each in whole if not _Passed(project, each).before()]

    def began(place: int) -> None:
        note(f"{pending[place].server.id}: verifying")

    def ended(place: int, found: Conformance) -> None:
        if found.passed:
            _Passed(project, pending[place]).now()
            note(f"{found.server}: passed {len(found.asked)} rules{found.unasked}{found.disturbed}")
        else:
            failure = _failure(found)
            told = f"not benchmarked: it {failure.message}"
            if failure.step == "start":
                told = f"not benchmarked: {failure.message}\n{failure.log_tail}".rstrip()
            note(f"{found.server}: {told}")

    def postponed(_: int, found: Conformance) -> None:
        note(f"{found.server}: {found.postponed}")

    watch = Watch(began, lambda *_: None, ended, postponed)
    results = {each.server: each for each in verify_built(pending, lanes_of(driver), watch)}
    return [
        Prepared(each.server, each.digest, _verified(each.result, results.get(each.server.id)), verified=True)
        if isinstance(each.result, Build)
        else each
        for each in built
    ]


def _verified(build: Build, found: Conformance | None) -> Build | Failure:
    return build if found is None or found.passed else _failure(found)


def _failure(found: Conformance) -> Failure:
    first = found.failures[0]
    if first.name == STARTS:
        return Failure(step="start", message=first.detail, log_tail=first.log_tail)
    broken = "; ".join(f"{rule.name}: {rule.detail}" for rule in found.failures)
    return Failure(step="verify", message=f"breaks {broken}", log_tail=first.log_tail)


class _Passed:
    """The note on disk that a build has passed all rules, as the rules were then."""

    def __init__(self, project: Project, built: Built) -> None:
        self._path = project.cache / "verified" / f"{built.server.slug}.json"
        self._content: dict[str, Any] = {"build": built.build.digest, "rules": conformance.digest()}
        if declared := declared_by(built.server):  # an image need not have the file
            self._content["protocol"] = declared.declaration.model_dump(mode="json")

    def before(self) -> bool:
        try:
            return bool(json.loads(self._path.read_text()) == self._content)
        except (OSError, ValueError):
            return False

    def now(self) -> None:
        write_atomically(self._path, json.dumps(self._content).encode())
