"""When servers were last measured with a profile, and which changed since then. Reads a history, and runs git."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pushbench.catalog.servers import Server
from pushbench.ci.budget import Turn
from pushbench.ci.fetching import has
from pushbench.foundation.git import git
from pushbench.records import history
from pushbench.records.history import Entry

MOST_READ = 500
"""of the newest runs of an environment and suite that are searched for a server"""


def read_turns(store: Path, root: Path, servers: Sequence[Server], profile: str) -> dict[str, Turn]:
    """The turns of those servers that have had one, on any machine.

    `root` is a checkout with its history. Raises UserError for a file that is not an entry.
    """
    newest: dict[str, Entry] = {}
    for environment, suite, kept in history.folders(store):
        wanted = {server.id for server in servers if (server.spec.suite, profile) == (suite, kept)}
        for entry in _entries(store / environment / suite / kept) if wanted else ():
            for server in wanted & {name for name, found in entry.servers.items() if found.valid_trials}:
                wanted.remove(server)
                if server not in newest or newest[server].created < entry.created:
                    newest[server] = entry
            if not wanted:
                break
    return {
        server.id: Turn(newest[server.id].created, changed(root, server, newest[server.id].commit))
        for server in servers
        if server.id in newest
    }


def _entries(folder: Path) -> Iterator[Entry]:
    """The entries, newest first: ids begin with the time."""
    for name in sorted(history.sizes(folder), reverse=True)[:MOST_READ]:
        yield history.read_entry(folder / f"{name}.json")


def changed(root: Path, server: Server, commit: str | None) -> bool:
    """Whether the server's folder differs from `commit`; true if git does not find that commit."""
    if commit is None or not re.fullmatch(r"[0-9a-f]{40}", commit) or not has(root, commit):
        return True
    return not git(root, "diff", "--quiet", commit, "HEAD", "--", str(server.folder)).ok
