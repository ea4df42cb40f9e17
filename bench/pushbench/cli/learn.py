"""`pushbench learn`: a draft of protocol.yml from clients that are really there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import AuthoritiesOption, JsonOption
from pushbench.foundation.errors import UserError

_EXAMPLES = examples(
    "./pushbench learn --to ws://127.0.0.1:8080",
    "./pushbench learn --to ws://127.0.0.1:8080 --into protocol.yml --force",
    "./pushbench learn --to http://127.0.0.1:8080 --into protocol.yml",
    "./pushbench learn --to wss://chat.example.org --ca own-ca.pem",
)


def register(app: typer.Typer) -> None:
    app.command("learn", epilog=_EXAMPLES)(learn)


def learn(
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to", help="The server, which runs already: ws:// for WebSocket, http:// for requests.", metavar="URL"
        ),
    ],
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, metavar="PORT", help="Where it listens, for this machine alone."),
    ] = 8081,
    into: Annotated[
        Path | None, typer.Option("--into", help="The file to write, in place of stdout.", metavar="FILE")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    ca: AuthoritiesOption = "",
    as_json: JsonOption = False,
) -> None:
    """Draft protocol.yml from what clients say.

    Listens beside the server and passes everything on. Over WebSocket, connect two clients of yours there, and let
    both leave. Over HTTP, send three requests of one sort; their answers may be streams. Then it prints a draft with a
    comment at each guess.

    Exit code: 0 there is a draft, 2 the clients said too little for one.
    """
    from pushbench.authoring.drafting import draft
    from pushbench.authoring.overhearing import overhear
    from pushbench.catalog.elsewhere import require_authorities, require_url
    from pushbench.catalog.protocols import protocol_in
    from pushbench.foundation.files import write_atomically
    from pushbench.foundation.yamlfile import parse_yaml

    to = require_url("--to", to)
    authorities = Path(ca) if ca else None
    require_authorities(to, authorities, "--ca")
    if into and into.exists() and not force:
        raise UserError("is there already", where=str(into), hint="--force replaces it")
    try:
        text = draft(asyncio.run(overhear(to, port, options.note, authorities)))
    except KeyboardInterrupt:
        raise UserError("ended before clients had said enough for a draft") from None
    problem = None
    try:
        protocol_in(parse_yaml(text, into or Path("protocol.yml")))
    except UserError as error:
        problem = str(error)
    if into:
        write_atomically(into, text.encode())
    if as_json:
        options.print_json({"draft": text, "file": str(into) if into else None, "problem": problem})
    elif into:
        trusted = f" --ca {ca}" if ca else ""
        print(f"written   {into}\nnext: ./pushbench protocol check {into} --to {to}{trusted}")
    else:
        print(text, end="")
    if problem:
        options.note(f"decide first: {problem}")
