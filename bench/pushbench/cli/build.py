"""`pushbench build`: the generator and the servers, without measuring anything."""

from __future__ import annotations

from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.options import DEFAULT_SUITE, ServersOption, SuiteOption
from pushbench.errors import EXIT_FAIL

_EXAMPLES = "Examples: `pushbench build`; `pushbench build --servers spring-stomp --test`."


def register(app: typer.Typer) -> None:
    app.command("build", epilog=_EXAMPLES)(build)


def build(
    *,
    suite: SuiteOption = DEFAULT_SUITE,
    servers: ServersOption = "",
    test: Annotated[
        bool, typer.Option("--test", help="Run the servers' own tests afterwards, those of variants once.")
    ] = False,
) -> None:
    """Build the generator (k6) and, for the process driver, the servers; what is built already is left as it is."""
    from pushbench.builds import run_server_tests
    from pushbench.driver_choice import DriverChoice
    from pushbench.drivers import Build
    from pushbench.failures import ServerFailed
    from pushbench.ownership import only_run_on_machine
    from pushbench.preparation import build_all, select_servers
    from pushbench.project import Project
    from pushbench.suites import find_suite

    project = Project.current()
    found = find_suite(project.scenarios, suite)
    chosen = select_servers(project, found, options.names(servers), options.note, DriverChoice("process"))
    with only_run_on_machine(options.note):
        _, prepared = build_all(project, chosen, options.note)
    failed = [each.server.id for each in prepared if not isinstance(each.result, Build)]
    tested = []
    for each in prepared:
        own = (each.server.folder, each.server.spec.process.test)
        if not test or not isinstance(each.result, Build) or own in tested:
            continue
        tested.append(own)
        try:
            run_server_tests(project, each.server, each.result.toolchains, options.note)
        except ServerFailed as error:
            options.note(f"{each.server.id}: {error.failure.message}\n{error.failure.log_tail}".rstrip())
            failed.append(each.server.id)
    options.note(f"failed: {', '.join(failed)}" if failed else "everything is built")
    raise typer.Exit(EXIT_FAIL if failed else 0)
