"""The command that repeats a measurement: the same for terminals, Markdown, comments and the site. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pushbench.records.record import Comparison, Parameters, Record


def command(record: Record) -> str:
    """The command that repeats the run in a checkout that has its sources."""
    return shlex.join(["./pushbench", *_verb(record), *_what(record), *_how(record)])


def command_from_anywhere(record: Record) -> str:
    """The same for a reader whose checkout may be at another commit. `compare` checks out both of its arms."""
    commit = record.commit
    if commit is None or commit.dirty or _checks_out(record.comparison):
        return command(record)
    return f"git checkout {shlex.quote(commit.sha)} && {command(record)}"


def value_of(parameter: str | int | float | bool) -> str:
    """A parameter's value in the form of the command line."""
    return str(parameter).lower() if isinstance(parameter, bool) else str(parameter)


def _checks_out(compared: Comparison | None) -> bool:
    return compared is not None and compared.injected is None


def _verb(record: Record) -> list[str]:
    compared = record.comparison
    if not compared:
        return ["run"]
    if compared.injected:
        return ["calibrate", "measure", "--fault", compared.injected]
    head = ["--head", record.commit.sha[:12]] if record.commit and not record.commit.dirty else []
    accept = ["--accept"] if head and any(line.confirmed for line in compared.accepting) else []
    return ["compare", "--base", compared.base.sha[:12], *head, *accept]


def _what(record: Record) -> list[str]:
    return ["--suite", record.suite, "--profile", record.profile, *_servers(record)]


def _servers(record: Record) -> list[str]:
    for name, where in (record.elsewhere or {}).items():
        if where.protocol:
            trusted = ["--ca", where.ca] if where.ca else []
            return ["--url", where.url, "--protocol", where.protocol, "--name", name, *trusted]
    one_sided = record.comparison.one_sided if record.comparison else ()
    servers = record.servers or [each.server for each in one_sided]  # twice if it works on neither side
    return ["--servers", ",".join(dict.fromkeys(servers))] if servers else []


def _how(record: Record) -> Iterator[str]:
    """`calibrate measure` has no option except the driver."""
    environment, compared = record.environment, record.comparison
    if not environment.remote:
        yield from ("--driver", environment.driver)
    if record.cluster and record.cluster.context:
        yield from ("--context", record.cluster.context)
    if record.cluster and record.cluster.namespace_prefix:
        yield from ("--namespace-prefix", record.cluster.namespace_prefix)
    if any(each.owner_agreed for each in (record.elsewhere or {}).values()):
        yield "--owner-agreed"
    if compared and compared.injected:
        return
    if environment.workers:
        yield from ("--workers", str(environment.workers))
    if environment.generators:
        yield from ("--generators", str(environment.generators))
    yield from _parameters(record.parameters)
    if record.plan and not compared:
        first = record.plan[0]
        rounds = max(planned.round for planned in record.plan)
        yield from ("--rounds", str(rounds), "--seed", str(first.seed - first.round))  # the inverse of plan.make_plan


def _parameters(parameters: Parameters) -> Iterator[str]:
    for name, value in parameters.items():
        yield from ("--parameter", f"{name}={value_of(value)}")
