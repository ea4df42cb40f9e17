"""Servers that run elsewhere: one named on the command line, and how their certificates are checked."""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from urllib.parse import urlsplit

from pushbench.catalog.addresses import checked_url, is_secure, name_of
from pushbench.catalog.protocols import read_protocol
from pushbench.catalog.servers import NAME, Server, ServerSpec
from pushbench.catalog.suites import Suite, declaring_suite
from pushbench.foundation.errors import UserError


def suite_at(scenarios: Path, protocol: str, wanted: str = "") -> Suite:
    """The suite for the protocol of a server that a command line describes. Raises UserError."""
    if not protocol:
        raise UserError("--url: the protocol of the server is missing", hint="add --protocol FILE: docs/own-server.md")
    return declaring_suite(scenarios, read_protocol(Path(protocol)).transport, wanted)


def server_at(url: str, suite: str, protocol: str, *, name: str = "", authorities: str = "") -> Server:
    """The server that a command line describes. Raises UserError; `authorities` is a file of certificates."""
    address = require_url("--url", url)
    own = name or name_of(address)
    if not re.fullmatch(NAME, own):
        raise UserError(f"--name {own!r}: expected small letters, digits and hyphens, such as my-chat")
    file = Path(protocol)
    spec = ServerSpec(
        title=own,
        link=re.sub("^ws", "http", address),
        language="",
        suite=suite,
        protocol="protocol.yml",
        tier="baseline",
        url=address,
    )
    return Server(own, file.parent, own, spec, declared=file, trusted=Path(authorities) if authorities else None)


def require_url(option: str, text: str) -> str:
    """The checked URL of an option. Raises UserError."""
    try:
        return checked_url(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None


def require_authorities(url: str, file: Path | None, where: str | None = None) -> None:
    """Raises UserError if the file of authorities has no certificates, or if the URL does not use TLS."""
    if file is None:
        return
    if not is_secure(url):
        raise UserError(f"{urlsplit(url).scheme}:// has no certificate to verify with {file.name}", where=where)
    try:
        ssl.create_default_context(cafile=str(file))
    except OSError as error:  # ssl.SSLError is one, too
        what = "no PEM certificates" if isinstance(error, ssl.SSLError) else str(error.strerror)
        raise UserError(what, where=str(file)) from None
