"""`pushbench ci doctor`: whether a repository on GitHub is set up as docs/github.md says."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption, note, print_json
from pushbench.foundation.errors import UserError

if TYPE_CHECKING:
    from pushbench.foundation.project import Project

_EXAMPLES = examples(
    "GITHUB_TOKEN=$(gh auth token) ./pushbench ci doctor",
    "./pushbench ci doctor --repository me/pushbench",
    "./pushbench ci doctor --json | jq '.findings[] | select(.state != \"ok\")'",
)


def register(group: typer.Typer) -> None:
    group.command("doctor", epilog=_EXAMPLES)(doctor)


def doctor(
    *,
    repository: Annotated[
        str,
        typer.Option(
            "--repository",
            envvar="GITHUB_REPOSITORY",
            help="The installation.",
            metavar="OWNER/NAME",
            show_default="where the checkout is from",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Check the set-up on GitHub, step by step.

    Goes through docs/github.md, and says how to set what is missing.

    GITHUB_TOKEN is a maintainer's: a fine-grained token for the repository that reads Administration, Actions, Checks,
    Contents, Issues, Pages, Secrets and Variables, or `gh auth token`. What it may not see is unknown, never ok.

    Exit code: 0 all is ok, 1 something is missing, 2 usage error or wrong token, 3 something is unknown.
    """
    from pushbench.catalog.suites import read_suites
    from pushbench.ci.doctor import diagnosis, gathering, showing
    from pushbench.ci.github import API
    from pushbench.cli.conclusion import color, width
    from pushbench.foundation.project import Project

    project = Project.current()
    token = os.environ.get("GITHUB_TOKEN", "")
    if not token:
        raise UserError("GITHUB_TOKEN is not set", hint="GITHUB_TOKEN=$(gh auth token) pushbench ci doctor")
    name = repository or _origin(project)
    profiles = frozenset(profile for suite in read_suites(project.scenarios) for profile in suite.spec.profiles)
    note(f"asking GitHub about {name[:200]!r}, some 50 questions ...")
    try:
        facts = gathering.gather(name, token, profiles=profiles, api=os.environ.get("GITHUB_API_URL") or API, note=note)
        found = diagnosis.diagnose(facts)
    except gathering.NoRepository:
        found = diagnosis.not_there(name)
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        print(showing.render(found, width=width(), color=color()), end="")
    raise typer.Exit(found.exit_code)


def _origin(project: Project) -> str:
    """The repository that the checkout is from. Raises UserError."""
    from pushbench.foundation.git import git

    url = git(project.root, "remote", "get-url", "origin").text
    found = re.search(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", url, re.ASCII)
    if not found:
        raise UserError("the checkout is not from GitHub", hint="name the repository: --repository OWNER/NAME")
    return found[1]
