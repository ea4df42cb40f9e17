"""`pushbench ci report`: the check Pushbench of a run's commit, and the comment on its pull request."""

from __future__ import annotations

import os

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import RunOption, github_of_job

_EXAMPLE = "Example: `GITHUB_TOKEN=... pushbench ci report --run 1234567890`."


def register(group: typer.Typer) -> None:
    group.command("report", epilog=_EXAMPLE)(report)


def report(*, run: RunOption) -> None:
    """Make the check Pushbench agree with a run, and comment on its pull request.

    The check is in progress while the run is not completed. Of a run that is not believed no artifact is read.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_EVENT_NAME and GITHUB_TOKEN, which needs the permissions
    actions: read, pull-requests: write, checks: write and statuses: write.
    """
    from pushbench.catalog import read_catalog
    from pushbench.ci import actions, reporting
    from pushbench.project import Project

    site = os.environ.get("PUSHBENCH_SITE", "")
    folders = frozenset(server.folder.name for server in read_catalog(Project.current().servers))
    patient = os.environ.get("GITHUB_EVENT_NAME") == "workflow_dispatch"
    with github_of_job() as github:
        drafted = reporting.report(github, run, site, options.note, folders=folders, patient=patient)
    actions.add_summary(drafted.summary)
