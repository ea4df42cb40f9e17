"""`pushbench verify`: whether servers keep the rules of their suite, without measuring anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.options import DEFAULT_SUITE, DriverOption, JsonOption, SuiteOption, WaitOption, WorkersOption
from pushbench.errors import EXIT_FAIL

if TYPE_CHECKING:
    from pushbench.catalog import Server
    from pushbench.conformance import Conformance, RuleResult
    from pushbench.drivers import Driver

_EXAMPLES = (
    "Examples: `pushbench verify`; `pushbench verify node-ws fastapi`; "
    "`pushbench verify spring-stomp --rule order-per-sender-is-kept`."
)


def register(app: typer.Typer) -> None:
    app.command("verify", epilog=_EXAMPLES)(verify)


def verify(
    servers: Annotated[
        list[str] | None,
        typer.Argument(help="Ids, patterns (node-*) or tiers (tier:tuned); without them all."),
    ] = None,
    *,
    suite: SuiteOption = DEFAULT_SUITE,
    rule: Annotated[
        list[str] | None, typer.Option("--rule", help="Check only this one; may be repeated.", metavar="NAME")
    ] = None,
    driver: DriverOption = "auto",
    workers: WorkersOption = None,
    wait: WaitOption = False,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="For the servers; without it a free one each.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Build servers and check every rule on them, over their own protocol.

    Exit code: 0 all rules are kept, 1 a rule is broken or a server does not start, 2 usage or configuration error.
    """
    from pushbench.driver_choice import DriverChoice
    from pushbench.ownership import only_run_on_machine
    from pushbench.preparation import select_servers
    from pushbench.processes import raise_open_files
    from pushbench.project import Project
    from pushbench.suites import find_suite

    project = Project.current()
    found_suite = find_suite(project.scenarios, suite)
    chosen = select_servers(project, found_suite, servers or [], options.note, DriverChoice(driver, port, workers))
    rules = _known_rules(chosen.servers, rule or [])
    with only_run_on_machine(options.note, wait=wait):
        raise_open_files()
        found = [_verify(server, chosen.driver, rules) for server in chosen.servers]
    if as_json:
        options.print_json([each.model_dump(mode="json") for each in found])
    else:
        _print(found)
    raise typer.Exit(0 if all(each.passed for each in found) else EXIT_FAIL)


def _known_rules(chosen: Sequence[Server], names: list[str]) -> list[str]:
    from pushbench.conformance import rules_for
    from pushbench.yamlfile import unknown

    specs = [server.spec for server in chosen]
    known = list(
        dict.fromkeys(rule.name for spec in specs for rule in rules_for(spec.suite, spec.protocol, spec.services))
    )
    for name in names:
        if name not in known:
            raise unknown("rule", name, known)
    return names


def _verify(server: Server, driver: Driver, rules: list[str]) -> Conformance:
    from rich.console import Console

    from pushbench import conformance
    from pushbench.drivers import Build
    from pushbench.failures import ServerFailed

    live = Console(stderr=True, highlight=False)
    done = 0

    def note(result: RuleResult) -> None:
        nonlocal done
        done += 1
        status.update(f"{server.id}: {done} rules checked, last {result.name}")
        if not result.passed:
            live.print(f"{server.id}: FAIL {result.name}")

    try:
        subject = conformance.subject(server, driver.build(server, options.note), driver)
        options.note(f"{server.id}: verifying")
        with live.status(f"{server.id}: starting") as status:
            found = conformance.verify(subject, rules, note)
    except ServerFailed as failed:
        return conformance.unverified(conformance.subject(server, Build(server.id, ""), driver), failed)
    kept, seconds = len(found.rules) - len(found.failures), sum(result.seconds for result in found.rules)
    options.note(f"{server.id}: keeps {kept} of {len(found.rules)} rules ({seconds:.0f} s)")
    return found


def _print(found: Sequence[Conformance]) -> None:
    from rich.console import Console

    from pushbench.conformance.tables import failures, rule_tables

    console = Console(highlight=False)
    for table in rule_tables(found, console.width):
        console.print(table, "")
    for each in found:
        console.print(failures(each))
