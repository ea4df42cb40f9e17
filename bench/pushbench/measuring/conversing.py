"""One conversation with each server that runs elsewhere, before it gets any load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pushbench.building.builds import Note
from pushbench.catalog.protocols import declared_by
from pushbench.foundation.project import Project
from pushbench.generator.talking import converse
from pushbench.measuring.preparation import Prepared


def require_conversations(project: Project, binary: Path, prepared: Sequence[Prepared], note: Note) -> None:
    """Raises UserError, with file and line, for the first server that does not speak as its protocol says."""
    for each in prepared:
        server, declared = each.server, declared_by(each.server)
        if server.spec.url is None or declared is None:
            continue
        note(f"load goes to {server.spec.url}: measure a server only if its owner agrees")
        secrets = declared.environment()
        talked = converse(
            binary, project.generator, server.spec.url, declared.declaration, secrets, authorities=server.authorities
        )
        if talked.fault:
            raise declared.error(talked.fault.at, talked.fault.what)
        note(f"{server.id}: {talked.tally}")
