"""`pushbench ci alert`: issues and a webhook for what a run of main found."""

from __future__ import annotations

import os

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import RunOption, github_of_job
from pushbench.cli.examples import examples

_EXAMPLE = examples(
    "GITHUB_TOKEN=... ./pushbench ci alert --run 1234567890",
)


def register(group: typer.Typer) -> None:
    group.command("alert", epilog=_EXAMPLE)(alert)


def alert(*, run: RunOption) -> None:
    """Open and close issues for red pushes and nights.

    Opens one for each cause, and closes those that a night finds in order.

    Does nothing for other runs. Reads GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs the permissions
    actions: read and issues: write, and PUSHBENCH_WEBHOOK, an address that is told what is opened and closed.
    """
    from pushbench.ci import webhook
    from pushbench.ci.alert_run import alert as tell_of

    said: list[str] = []
    try:
        with github_of_job() as github:
            tell_of(github, run, options.note, said.append)
    finally:
        webhook.post(os.environ.get("PUSHBENCH_WEBHOOK", ""), said, options.note)
