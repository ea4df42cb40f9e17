"""The backing services that a server needs. None exists yet: a server that needs one is refused by name."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.catalog import Server
from pushbench.errors import UserError

KNOWN: Sequence[str] = ()


def check(server: Server) -> None:
    """Raises UserError for a service that Pushbench cannot start."""
    for name in server.spec.services:
        if name not in KNOWN:
            raise UserError(
                f"{server.id} needs the service {name!r}, which Pushbench cannot start yet", where=str(server.file)
            )
