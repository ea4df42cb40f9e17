"""`pushbench ci night`: start the night's run."""

from __future__ import annotations

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import github_of_job
from pushbench.cli.examples import examples

_EXAMPLE = examples(
    "GITHUB_REPOSITORY=acme/pushbench GITHUB_TOKEN=... ./pushbench ci night",
)


def register(group: typer.Typer) -> None:
    group.command("night", epilog=_EXAMPLE)(night)


def night() -> None:
    """Start bench.yml for a night.

    It runs on the default branch, and measures all servers, and one against itself.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs the permission actions: write.
    """
    from pushbench.ci.github_changes import home
    from pushbench.ci.github_dispatch import dispatch
    from pushbench.ci.trust import BENCH

    with github_of_job() as github:
        started = dispatch(github, BENCH, home(github).default_branch, {"night": "true"})
    options.note(f"started {started.html_url}")
