"""`pushbench ci command`: carry out the command in a comment on a pull request."""

from __future__ import annotations

import os

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import github_of_job
from pushbench.cli.examples import examples

_EXAMPLE = examples(
    "./pushbench ci command",
    "(in a job of the event issue_comment)",
)


def register(group: typer.Typer) -> None:
    group.command("command", epilog=_EXAMPLE)(command)


def command() -> None:
    """Start bench.yml as a comment asks, and reply to it.

    Only people with write access may use commands; see docs/commands.md. Reads GITHUB_EVENT_NAME, GITHUB_EVENT_PATH,
    GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs the permissions actions: write and pull-requests:
    write.
    """
    from pushbench.catalog.servers import here, read_catalog
    from pushbench.catalog.suites import read_suites
    from pushbench.ci.commanding import Known, read_comment
    from pushbench.ci.github_commands import obey
    from pushbench.foundation.project import Project

    event = read_comment(os.environ)
    if event is None:
        options.note("the comment is of a bot, or not on a pull request: ignored")
        return
    project = Project.current()
    profiles = {name for suite in read_suites(project.scenarios) for name in suite.spec.profiles}
    with github_of_job() as github:
        obey(github, event, Known(here(read_catalog(project.servers)), sorted(profiles)), options.note)
