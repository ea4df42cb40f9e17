"""`pushbench ci report`: tell a pull request and a commit what a run found."""

from __future__ import annotations

import os

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import RunOption, github_of_job

_EXAMPLE = "Example: `GITHUB_TOKEN=... pushbench ci report --run 1234567890`."


def register(group: typer.Typer) -> None:
    group.command("report", epilog=_EXAMPLE)(report)


def report(*, run: RunOption) -> None:
    """Comment on the pull request of a finished run and make its check run.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs the permissions actions: read,
    pull-requests: write and checks: write.
    """
    from pushbench.ci import actions, reporting

    site = os.environ.get("PUSHBENCH_SITE", "")
    with github_of_job() as github:
        drafted = reporting.report(github, run, site, options.note)
    actions.add_summary(drafted.summary)
