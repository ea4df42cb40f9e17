"""`pushbench protocol check`: whether a server speaks the protocol that a file declares."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import AuthoritiesOption, JsonOption
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.catalog.protocols import DeclaredProtocol
    from pushbench.catalog.servers import Server
    from pushbench.foundation.project import Project
    from pushbench.generator.talking import Line, Talked

MOST_SHOWN = 90
"""characters shown of a message; --json has all"""
FIRST_TOKENS = 2
"""shown of a stream; the others are only counted, except the last one"""

_EXAMPLES = examples(
    "./pushbench protocol check my-chat",
    "./pushbench protocol check my-chat --to ws://127.0.0.1:8080",
    "./pushbench protocol check protocol.yml --to ws://127.0.0.1:8080",
    "./pushbench protocol check chat.yml --to wss://example.org --ca own-ca.pem",
)


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Protocols that servers declare.", no_args_is_help=True, epilog=_EXAMPLES)
    group.command("check", epilog=_EXAMPLES)(check)
    app.add_typer(group, name="protocol")


def check(
    name: Annotated[str, typer.Argument(help="A server with a protocol.yml, or the file.", metavar="SERVER|FILE")],
    *,
    to: Annotated[
        str, typer.Option("--to", help="The running server.", metavar="URL", show_default="pushbench starts it")
    ] = "",
    ca: AuthoritiesOption = "",
    as_json: JsonOption = False,
) -> None:
    """Play one conversation of two clients, and show every message.

    For a long stream, shows only the first tokens and the last one.

    Exit code: 0 everything was understood, 2 the file or the server is wrong.
    """
    from pushbench.catalog.elsewhere import require_authorities, require_url
    from pushbench.foundation.project import Project

    project = Project.current()
    server, declared = _named(project, name)
    environment = declared.environment()
    authorities = Path(ca) if ca else server.authorities if server and not to else None
    to = require_url("--to", to) if to else (server.spec.url or "" if server else "")
    if to:
        require_authorities(to, authorities)
    elif server is None:
        raise UserError("no server to talk to", where=name, hint="add --to ws://127.0.0.1:PORT")
    with _running(project, server, to) as url:
        talked = _talk(project, url, declared, environment, authorities)
    if as_json:
        options.print_json({"file": str(declared.file.path), "to": url, **talked.model_dump(exclude={"error"})})
    else:
        _print(talked)
    if talked.fault:
        raise declared.error(talked.fault.at, talked.fault.what)


def require_spoken(project: Project, server: Server) -> None:
    """Start a server and play a conversation. Raises UserError if the server deviates from its protocol."""
    from pushbench.catalog.protocols import declared_by

    declared = declared_by(server)
    if declared is None:
        return
    with _running(project, server, server.spec.url or "") as url:
        talked = _talk(project, url, declared, declared.environment(), server.authorities)
    if talked.fault:
        raise declared.error(talked.fault.at, talked.fault.what)


def _named(project: Project, name: str) -> tuple[Server | None, DeclaredProtocol]:
    from pushbench.catalog.protocols import declared_by, read_protocol
    from pushbench.catalog.servers import DECLARED, read_catalog, select

    if name.endswith(DECLARED):
        return None, read_protocol(Path(name))
    [server, *others] = select(read_catalog(project.servers), [name])
    if others:
        raise UserError(f"{name!r} matches {len(others) + 1} servers", hint="name one")
    declared = declared_by(server)
    if declared is None:
        raise UserError(
            f"{server.id} speaks {server.spec.protocol}, which is built in", hint="check it with `pushbench verify`"
        )
    return server, declared


@contextlib.contextmanager
def _running(project: Project, server: Server | None, to: str) -> Iterator[str]:
    """Yield the address of the server; start the server unless it already runs."""
    if to or server is None:
        yield to
        return
    from pushbench.catalog.failures import ServerFailed
    from pushbench.drivers.choice import DriverChoice, choose_driver
    from pushbench.machine.ownership import only_run_on_machine

    with only_run_on_machine(options.note):
        driver = choose_driver(project, [server], DriverChoice("process"), options.note)
        if lack := driver.lacks(server):
            raise UserError(lack, where=str(server.file))
        try:
            with driver.running(server, driver.build(server, options.note)) as instance:
                yield instance.url
        except ServerFailed as failed:
            raise UserError(str(failed), where=str(server.file)) from None


def _talk(
    project: Project, url: str, declared: DeclaredProtocol, environment: dict[str, str], authorities: Path | None
) -> Talked:
    from pushbench.building.builds import build_generator
    from pushbench.generator.talking import converse

    binary = build_generator(project, options.note)
    return converse(binary, project.generator, url, declared.declaration, environment, authorities=authorities)


def _print(talked: Talked) -> None:
    for tokens, group in groupby(talked.lines or [], _is_token):
        lines = list(group)
        shown = [*lines[:FIRST_TOKENS], lines[-1]] if tokens and len(lines) > FIRST_TOKENS + 1 else lines
        for place, line in enumerate(shown):
            if len(shown) < len(lines) and place == FIRST_TOKENS:
                print(f"{'':22}... {len(lines) - len(shown):,} more tokens")
            print(_shown(line))
    print(talked.tally)


def _is_token(line: Line) -> bool:
    return line.understood and line.meaning.startswith("token ")


def _shown(line: Line) -> str:
    from pushbench.foundation.text import one_line

    sign = {"sent": "->", "received": "<-", "connection": "--"}[line.kind]
    text = one_line(line.text, MOST_SHOWN)
    meaning = f"\n{'':22}{'is' if line.understood else 'NOT UNDERSTOOD:'} {line.meaning}" if line.meaning else ""
    return f"{line.at_us / 1e6:8.3f} s  client {line.client} {sign} {text}{meaning}"
