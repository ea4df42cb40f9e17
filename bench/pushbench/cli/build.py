"""`pushbench build`: the generator and the servers, without measuring anything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import NamesArgument, ServersOption, SuiteOption
from pushbench.foundation.errors import EXIT_FAIL

if TYPE_CHECKING:
    from pushbench.catalog.servers import Server
    from pushbench.catalog.suites import Suite
    from pushbench.foundation.project import Project
    from pushbench.measuring.preparation import Prepared, Selection

_EXAMPLES = examples(
    "./pushbench build",
    "./pushbench build spring-stomp --test",
)


def register(app: typer.Typer) -> None:
    app.command("build", epilog=_EXAMPLES)(build)


def build(
    named: NamesArgument = None,
    *,
    suite: SuiteOption = "",
    servers: ServersOption = "",
    test: Annotated[
        bool, typer.Option("--test", help="Also run the servers' own tests; variants that share tests run them once.")
    ] = False,
) -> None:
    """Build the generator (k6) and the servers.

    Builds the servers for the process driver, and skips what is up to date.
    """
    from pushbench.cli.suites_of import each_suite
    from pushbench.drivers.choice import DriverChoice
    from pushbench.drivers.driver import Build
    from pushbench.foundation.project import Project
    from pushbench.machine.ownership import only_run_on_machine
    from pushbench.measuring.preparation import build_selections, select_servers

    project = Project.current()

    def select(of: Suite, ids: list[str]) -> Selection:
        return select_servers(project, of, ids, options.note, DriverChoice("process"))

    with only_run_on_machine(options.note):
        chosen = each_suite(project, suite, options.chosen(named, servers), select)
        _, prepared = build_selections(project, chosen, options.note)
    failed = [each.server.id for each in prepared if not isinstance(each.result, Build)]
    failed += _test(project, prepared) if test else []
    options.note(f"failed: {', '.join(failed)}" if failed else "everything is built")
    raise typer.Exit(EXIT_FAIL if failed else 0)


def _test(project: Project, prepared: Sequence[Prepared]) -> list[str]:
    """Run the tests of the built servers, several folders at a time. Return the ids of servers whose tests failed."""
    from concurrent.futures import ThreadPoolExecutor

    from pushbench.building.builds import run_server_tests
    from pushbench.catalog.failures import ServerFailed
    from pushbench.drivers.driver import Build
    from pushbench.measuring.preparation import BUILDS_AT_ONCE

    folders: dict[Path, list[tuple[Server, Build]]] = {}
    for each in prepared:
        if isinstance(each.result, Build):
            own = folders.setdefault(each.server.folder, [])
            if all(each.server.process.test != server.process.test for server, _ in own):
                own.append((each.server, each.result))

    def test(servers: list[tuple[Server, Build]]) -> list[str]:
        failed = []
        for server, build in servers:
            try:
                run_server_tests(project, server, build.toolchains, options.note)
            except ServerFailed as error:
                options.note(f"{server.id}: {error.failure.message}\n{error.failure.log_tail}".rstrip())
                failed.append(server.id)
        return failed

    with ThreadPoolExecutor(BUILDS_AT_ONCE) as pool:
        return list(chain(*pool.map(test, folders.values())))
