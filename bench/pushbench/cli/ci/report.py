"""`pushbench ci report`: the check Pushbench of a run's commit, and the comment on its pull request."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import github_of_job, promises_of
from pushbench.cli.examples import examples
from pushbench.foundation.errors import UserError

_EXAMPLES = examples(
    "GITHUB_TOKEN=... ./pushbench ci report --run 1234567890",
    "./pushbench ci report --open",
)

RunOption = Annotated[int | None, typer.Option("--run", min=1, help="Of the workflow bench.", metavar="ID")]
OpenOption = Annotated[
    bool, typer.Option("--open", help="Instead of --run: give open pull requests of forks without a check one.")
]


def register(group: typer.Typer) -> None:
    group.command("report", epilog=_EXAMPLES)(report)


def report(*, run: RunOption = None, open_: OpenOption = False) -> None:
    """Update the check of a run, and comment on its pull request.

    The check is in progress while the run is not completed. Of a run that is not believed no artifact is read.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_EVENT_NAME and GITHUB_TOKEN, which needs the permissions
    actions: read, pull-requests: write, checks: write and statuses: write.
    """
    from pushbench.catalog.servers import read_catalog
    from pushbench.ci import actions, reporting, sweeping
    from pushbench.foundation.project import Project

    if (run is None) != open_:
        raise UserError("say which: --run ID or --open")
    if run is None:
        with github_of_job() as github:
            sweeping.sweep(github, options.note)
        return
    site = os.environ.get("PUSHBENCH_SITE", "")
    project = Project.current()
    folders = frozenset(server.folder.name for server in read_catalog(project.servers))
    patient = os.environ.get("GITHUB_EVENT_NAME") == "workflow_dispatch"
    with github_of_job() as github:
        drafted = reporting.report(
            github, run, site, options.note, folders=folders, promises=promises_of(project), patient=patient
        )
    actions.add_summary(drafted.summary)
