"""`pushbench verify`: whether servers keep the rules of their suite, without measuring anything."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import (
    ContextOption,
    DriverOption,
    JsonOption,
    NamesArgument,
    NamespacePrefixOption,
    PortOption,
    ServersOption,
    SuiteOption,
    WaitOption,
    WorkersOption,
)
from pushbench.foundation.errors import EXIT_FAIL, UserError

if TYPE_CHECKING:
    from pushbench.catalog.servers import Server
    from pushbench.catalog.suites import Suite
    from pushbench.conformance import Conformance, Converse, RuleResult
    from pushbench.conformance.side_by_side import Watch
    from pushbench.drivers.driver import Driver
    from pushbench.measuring.preparation import Prepared, Selection

_EXAMPLES = examples(
    "./pushbench verify",
    "./pushbench verify node-ws tier:tuned",
    "./pushbench verify spring-stomp --rule order-per-sender-is-kept",
    "./pushbench verify node-ws --driver kubernetes",
)


def register(app: typer.Typer) -> None:
    app.command("verify", epilog=_EXAMPLES)(verify)


def verify(
    named: NamesArgument = None,
    *,
    suite: SuiteOption = "",
    servers: ServersOption = "",
    rule: Annotated[
        list[str] | None, typer.Option("--rule", help="Check only this rule; repeatable.", metavar="NAME")
    ] = None,
    driver: DriverOption = "auto",
    context: ContextOption = None,
    namespace_prefix: NamespacePrefixOption = None,
    workers: WorkersOption = None,
    wait: WaitOption = False,
    port: PortOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            help="Servers checked at a time; by default three per two cores, at most 4.",
            metavar="N",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Build servers and check every rule of their protocol.

    Exit code: 0 all rules are kept, 1 a rule is broken or a server does not start, 2 usage or configuration error.
    """
    from pushbench.cli.suites_of import each_suite
    from pushbench.drivers.choice import DriverChoice
    from pushbench.drivers.kubernetes import ClusterChoice
    from pushbench.foundation.project import Project
    from pushbench.machine.processes import raise_open_files
    from pushbench.measuring.alone import alone
    from pushbench.measuring.conversing import conversing
    from pushbench.measuring.preparation import build_each, select_servers
    from pushbench.measuring.verifying import lanes_of

    project = Project.current()
    if port is not None and jobs not in (None, 1):
        raise UserError("--port is for one server at a time", hint="leave --jobs out")

    def select(of: Suite, ids: list[str]) -> Selection:
        choice = DriverChoice(driver, port, workers, cluster=ClusterChoice(context, namespace_prefix))
        return select_servers(project, of, ids, options.note, choice)

    chosen = each_suite(project, suite, options.chosen(named, servers), select)
    rules = _known_rules([server for each in chosen for server in each.servers], rule or [])
    with alone([each.driver for each in chosen], options.note, wait=wait, clients_here=True):
        raise_open_files()
        asked = [(each.driver, server) for each in chosen for server in each.servers]
        prepared = build_each(asked, options.note)
        built = [(driver, each) for (driver, _), each in zip(asked, prepared, strict=True)]
        converse = conversing(project, (server for _, server in asked), options.note)
        found = _verify_all(built, rules, jobs or min(lanes_of(each.driver) for each in chosen), converse)
    if as_json:
        options.print_json([each.model_dump(mode="json") for each in found])
    else:
        _print(found)
    raise typer.Exit(0 if all(each.passed for each in found) else EXIT_FAIL)


def _known_rules(chosen: Sequence[Server], names: list[str]) -> list[str]:
    from pushbench.conformance import rules_for
    from pushbench.foundation.yamlfile import unknown

    specs = [server.spec for server in chosen]
    rules = (rule for spec in specs for rule in rules_for(spec.suite, spec.protocol, spec.services, spec.outage))
    known = list(dict.fromkeys(rule.name for rule in rules))
    for name in names:
        if name not in known:
            raise unknown("rule", name, known)
    return names


def _verify_all(
    prepared: Sequence[tuple[Driver, Prepared]], rules: list[str], jobs: int, converse: Converse | None
) -> list[Conformance]:
    """Return the result of each server, in the given order, also of servers that were not built."""
    from pushbench import conformance
    from pushbench.catalog.failures import ServerFailed
    from pushbench.drivers.driver import Build
    from pushbench.measuring.verifying import Built, verify_built

    found: dict[str, Conformance] = {}
    built: list[Built] = []
    for driver, each in prepared:
        server, result = each.server, each.result
        if isinstance(result, Build):
            built.append(Built(server, result, driver, converse))
        else:
            failed = ServerFailed(result.step, result.message, result.log_tail)
            found[server.id] = conformance.unverified(server.id, server.spec.suite, server.spec.protocol, failed)
    with _watch([each.server.id for each in built]) as watch:
        found |= {done.server: done for done in verify_built(built, jobs, watch, rules)}
    return [found[each.server.id] for _, each in prepared]


@contextlib.contextmanager
def _watch(ids: Sequence[str]) -> Iterator[Watch]:
    """Yield what reports beginnings, broken rules and ends; on a terminal also the rules checked so far per server."""
    from rich.console import Console
    from rich.status import Status

    from pushbench.conformance.side_by_side import Watch

    console = Console(stderr=True, highlight=False)
    checked: dict[str, int] = {}
    begun: dict[str, float] = {}
    status = Status("", console=console)

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    def show() -> None:
        # The thread of `status` runs while servers are checked: the lanes are forks, and a fork does not copy threads.
        status.update("; ".join(f"{server}: {rules} rules checked" for server, rules in checked.items()))
        if checked:
            status.start()
        else:
            status.stop()

    def began(number: int) -> None:
        checked[ids[number]], begun[ids[number]] = 0, time.monotonic()
        say(f"{ids[number]}: verifying")
        show()

    def heard(number: int, result: RuleResult) -> None:
        checked[ids[number]] += 1
        if result.failed:
            say(f"{ids[number]}: FAIL {result.name}")
        show()

    def postponed(number: int, found: Conformance) -> None:
        del checked[ids[number]]
        say(f"{ids[number]}: {found.postponed}")
        show()

    def ended(number: int, found: Conformance) -> None:
        checked.pop(ids[number], None)
        seconds = time.monotonic() - begun[ids[number]]
        say(f"{ids[number]}: keeps {found.kept} rules{found.unasked} ({seconds:.0f} s){found.disturbed}")
        show()

    try:
        yield Watch(began, heard, ended, postponed)
    finally:
        status.stop()


def _print(found: Sequence[Conformance]) -> None:
    from rich.console import Console

    from pushbench.conformance.tables import failures, not_asked, overview

    console = Console(highlight=False)
    console.print(overview(found, console.width), "")
    for each in found:
        console.print(failures(each))
        console.print(not_asked(each))
