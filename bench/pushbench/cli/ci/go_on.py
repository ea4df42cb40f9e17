"""`pushbench ci continue`: start the run that continues one that gave way."""

from __future__ import annotations

import os

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import github_of_job, planned_by, run_of_job
from pushbench.cli.examples import examples

_EXAMPLE = examples(
    "./pushbench ci continue",
    "(in the last job of a run whose job bench has the outcome gave-way)",
)


def register(group: typer.Typer) -> None:
    group.command("continue", epilog=_EXAMPLE)(go_on)


def go_on() -> None:
    """Start bench.yml again, to go on with this run.

    Starts it on the default branch, for the same commit.

    Reads PLAN, GITHUB_RUN_ID, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_SHA, GITHUB_API_URL and
    GITHUB_TOKEN, which needs the permission actions: write.
    """
    from pushbench.ci import going_on
    from pushbench.ci.event import read_event

    inputs = read_event(os.environ).inputs
    with github_of_job() as github:
        started = going_on.start(github, run_of_job(), planned_by(), inputs)
    options.note(f"{started.html_url} goes on with this run")
