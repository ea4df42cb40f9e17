"""`pushbench ci watch`: whether the machine, the schedules and the checks are as they should be."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import github_of_job
from pushbench.cli.examples import examples

_EXAMPLE = examples(
    "GITHUB_TOKEN=... ./pushbench ci watch",
)


def register(group: typer.Typer) -> None:
    group.command("watch", epilog=_EXAMPLE)(watch)


def watch(
    *,
    only_schedules: Annotated[
        bool, typer.Option("--only-schedules", help="Only enable what GitHub disabled on an idle repository.")
    ] = False,
) -> None:
    """Look for what stopped: machines, checks and schedules.

    Finds a benchmark machine that is gone, checks that nobody ended, and schedules that GitHub disabled.

    Opens an issue for what it cannot mend, and closes it later. Reads GITHUB_REPOSITORY, GITHUB_API_URL and
    GITHUB_TOKEN, which needs the permissions actions: write, checks: read, issues: write, pull-requests: read and
    statuses: read. With PUSHBENCH_RUNNERS_TOKEN, which may list the machines, a machine is missed before a job waits
    for it. PUSHBENCH_WEBHOOK is an address that is told what is opened and closed.
    """
    from pushbench.ci import webhook
    from pushbench.ci.watch import Watch, keep_alive

    if only_schedules:
        with github_of_job() as github:
            keep_alive(github, options.note)
        return
    said: list[str] = []
    token = os.environ.get("PUSHBENCH_RUNNERS_TOKEN", "")
    try:
        with github_of_job() as github:
            if token:
                with github_of_job(token) as machines:
                    Watch(github, machines, options.note, said.append).turn()
            else:
                Watch(github, None, options.note, said.append).turn()
    finally:
        webhook.post(os.environ.get("PUSHBENCH_WEBHOOK", ""), said, options.note)
