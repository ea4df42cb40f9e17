"""`pushbench learn`: a draft of protocol.yml from the traffic of existing clients."""

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
        typer.Option("--to", help="The running server: ws:// for WebSocket, http:// for requests.", metavar="URL"),
    ],
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, metavar="PORT", help="Port to listen on, for this machine only."),
    ] = 8081,
    into: Annotated[
        Path | None, typer.Option("--into", help="The file to write, instead of stdout.", metavar="FILE")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    ca: AuthoritiesOption = "",
    as_json: JsonOption = False,
) -> None:
    """Draft protocol.yml from what clients send.

    Listens in front of the server and forwards everything. Over WebSocket, connect two of your clients to it, and let
    both disconnect. Over HTTP, send three requests of the same kind; their responses may be streams. Then prints a
    draft with a comment at each guess.

    Exit code: 0 there is a draft, 2 the clients sent too little for one.
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
        raise UserError("already exists", where=str(into), hint="--force replaces it")
    try:
        text = draft(asyncio.run(overhear(to, port, options.note, authorities)))
    except KeyboardInterrupt:
        raise UserError("ended before the clients had sent enough for a draft") from None
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
        options.note(f"the draft is not valid yet: {problem}")
