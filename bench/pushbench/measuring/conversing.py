"""Conversations with servers whose protocols are declared: for the rules, and before a load on a server elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from pushbench.building.builds import Note, build_generator
from pushbench.catalog.protocols import declared_by
from pushbench.catalog.servers import Server
from pushbench.conformance import Converse
from pushbench.foundation.project import Project
from pushbench.generator import talking


def conversing(project: Project, servers: Iterable[Server], note: Note) -> Converse | None:
    """Plays conversations with this checkout's generator; None if none of the servers declares its protocol."""
    if not any(server.protocol_file for server in servers):
        return None
    return partial(talking.converse, build_generator(project, note), project.generator)


def require_conversations(project: Project, binary: Path, servers: Iterable[Server], note: Note) -> None:
    """Raises UserError, with file and line, for the first server elsewhere that does not follow its protocol file."""
    for server in servers:
        declared = declared_by(server)
        if server.spec.url is None or declared is None:
            continue
        note(f"load goes to {server.spec.url}: measure a server only if its owner agrees")
        secrets = declared.environment()
        talked = talking.converse(
            binary, project.generator, server.spec.url, declared.declaration, secrets, authorities=server.authorities
        )
        if talked.fault:
            raise declared.error(talked.fault.at, talked.fault.what)
        note(f"{server.id}: {talked.tally}")
