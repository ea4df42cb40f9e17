"""`pushbench ci tell`: report and publish a run that a workflow started."""

from __future__ import annotations

import os

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import github_of_job, run_of_job, variable
from pushbench.cli.examples import examples

BOT = "github-actions[bot]"
"""who starts runs with the token of a job"""
_EXAMPLE = examples(
    "./pushbench ci tell",
    "(in the last job of a run that another workflow started)",
)


def register(group: typer.Typer) -> None:
    group.command("tell", epilog=_EXAMPLE)(tell)


def tell() -> None:
    """Start report.yml and publish.yml for this run.

    Starts publish.yml where the run is a night, or goes on with a night or push.

    It is not documented that GitHub does so by itself for runs that a job's token started. Both wait until this run is
    completed, and do nothing twice.

    Reads GITHUB_TRIGGERING_ACTOR, GITHUB_RUN_ID, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_SHA,
    GITHUB_API_URL and GITHUB_TOKEN, which needs the permission actions: write.
    """
    from pushbench.ci.event import read_event
    from pushbench.ci.github_changes import home
    from pushbench.ci.github_dispatch import dispatch

    if variable("GITHUB_TRIGGERING_ACTOR") != BOT:
        options.note("a person started this run: GitHub starts report.yml by itself")
        return
    event, run = read_event(os.environ), run_of_job()
    of_trend = event.night or event.inputs.continue_
    with github_of_job() as github:
        branch = home(github).default_branch
        for workflow in ("report.yml", "publish.yml") if of_trend else ("report.yml",):
            started = dispatch(github, workflow, branch, {"run": str(run)}, repeatable=True)
            options.note(f"{workflow}: {started.html_url}")
