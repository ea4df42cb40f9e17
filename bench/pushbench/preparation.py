"""From chosen servers to servers that may be measured: toolchains found, built, and verified before any timing.

A server that fails a step is kept with its failure; the others go on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pushbench import conformance, services, toolchains
from pushbench.builds import Build, Note, build_digest, build_generator, build_server
from pushbench.catalog import Server, of_suite, read_catalog, select
from pushbench.drivers import Driver
from pushbench.errors import UserError
from pushbench.failures import ServerFailed
from pushbench.files import write_atomically
from pushbench.project import Project
from pushbench.record import Failure, Skipped
from pushbench.suites import Suite
from pushbench.toolchains import Toolset

BUILDS_AT_ONCE = 2  # npm, pip and Maven wait for the network half of the time


@dataclass(frozen=True)
class Candidate:
    """A server whose toolchains are on this machine."""

    server: Server
    tools: Toolset


@dataclass(frozen=True)
class Prepared:
    """A server that may be measured, or why it may not."""

    server: Server
    digest: str
    result: Build | Failure
    verified: bool = False


def candidates(
    project: Project, suite: Suite, names: Sequence[str], note: Note
) -> tuple[list[Candidate], list[Skipped]]:
    """The named servers, or all of the suite, whose toolchains are there, and those whose are not.

    Raises UserError for a name that is unknown or of another suite, and when no server is left.
    """
    catalog = read_catalog(project.servers)
    found, skipped = [], []
    for server in select(catalog, names) if names else of_suite(catalog, suite.id):
        if server.spec.suite != suite.id:
            raise UserError(f"{server.id} belongs to the suite {server.spec.suite!r}, not to {suite.id!r}")
        suite.check(server)
        services.check(server)
        tools = toolchains.choose(server.spec.process.toolchains)
        absent = [*([] if isinstance(tools, Toolset) else tools), *services.missing(server.spec.services)]
        if isinstance(tools, Toolset) and not absent:
            found.append(Candidate(server, tools))
        else:
            skipped.append(Skipped(server=server.id, reason="; ".join(str(each) for each in absent)))
            note(f"{server.id}: skipped: {skipped[-1].reason}")
    if not found:
        raise UserError(f"no server of {suite.id} can be built here", hint="install one of the toolchains named above")
    return found, skipped


def build_all(project: Project, chosen: Sequence[Candidate], note: Note) -> tuple[Path, list[Prepared]]:
    """The generator's binary, and the servers. Raises UserError when there is no generator."""

    def build(candidate: Candidate) -> Prepared:
        server, tools = candidate.server, candidate.tools
        try:
            return Prepared(server, build_digest(server, tools), build_server(project, server, tools, note))
        except ServerFailed as failed:
            note(f"{server.id}: failed to build: {failed.failure.message}\n{failed.failure.log_tail}".rstrip())
            return Prepared(server, build_digest(server, tools), failed.failure)

    with ThreadPoolExecutor(BUILDS_AT_ONCE) as pool:
        generator = pool.submit(build_generator, project, note)  # the longest, so it is the first
        built = list(pool.map(build, chosen))
        return generator.result(), built


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
