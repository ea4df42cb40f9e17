"""`pushbench ci fetch`: complete a shallow checkout with the commits that a plan needs."""

from __future__ import annotations

import os

import typer

from pushbench.cli.ci.job import planned_by
from pushbench.cli.examples import examples

_EXAMPLE = examples(
    "PLAN=... ./pushbench ci fetch",
    "(in a job that checked out one commit)",
)


def register(group: typer.Typer) -> None:
    group.command("fetch", epilog=_EXAMPLE)(fetch)


def fetch() -> None:
    """Fetch the commits that later steps need.

    These are the history of what is checked out, and the commits of the plan in the variable PLAN, if it is set.

    No other branch is fetched. A private repository needs GITHUB_TOKEN, with the permission contents: read.
    """
    from pushbench.ci.fetching import fetch, has
    from pushbench.foundation.project import Project

    root = Project.current().root
    planned = planned_by() if os.environ.get("PLAN") else None
    commits = [planned.sha, planned.base] if planned else []
    missing = [sha for sha in commits if sha and not has(root, sha)]
    fetch(root, missing, os.environ.get("GITHUB_TOKEN", ""))
