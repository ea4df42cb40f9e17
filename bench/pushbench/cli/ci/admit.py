"""`pushbench ci admit`: whether a server of another repository may be built where its workflow says."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pushbench.cli.ci.job import variable
from pushbench.cli.examples import examples

_EXAMPLE = examples(
    "./pushbench ci admit --folder bench/my-server --runs-on ubuntu-24.04",
    "(in a job of GitHub Actions)",
)


def register(group: typer.Typer) -> None:
    group.command("admit", epilog=_EXAMPLE)(admit)


def admit(
    *,
    folder: Annotated[str, typer.Option("--folder", help="Of the server, in the repository.", metavar="PATH")],
    runs_on: Annotated[str, typer.Option("--runs-on", help="The label of the machine.", metavar="LABEL")],
) -> None:
    """Refuse pull requests that may not run on this machine.

    Those of forks and of Dependabot may not run on machines that GitHub does not host. Names the artifact.

    Reads GITHUB_REPOSITORY and GITHUB_EVENT_PATH. Its output is artifact.
    """
    from pushbench.ci import actions
    from pushbench.ci.admitting import artifact_name, require_admitted
    from pushbench.ci.event import read_payload

    require_admitted(variable("GITHUB_REPOSITORY"), read_payload(os.environ), runs_on)
    actions.set_outputs({"artifact": artifact_name(folder)})
