"""`pushbench ci adopt`: take a server of another repository into this checkout."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from pushbench.cli.ci.job import tell
from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption

_EXAMPLE = examples(
    "./pushbench ci adopt --repository ../mine --folder server --base main",
)


def register(group: typer.Typer) -> None:
    group.command("adopt", epilog=_EXAMPLE)(adopt)


def adopt(
    *,
    repository: Annotated[Path, typer.Option("--repository", help="A checkout of it.", metavar="FOLDER")],
    folder: Annotated[str, typer.Option("--folder", help="Of the server, in the repository.", metavar="PATH")],
    profile: Annotated[str, typer.Option("--profile", help="Where nothing is compared.", metavar="PROFILE")] = "quick",
    base: Annotated[str, typer.Option("--base", help="Compare with this commit of it.", metavar="REF")] = "",
    as_json: JsonOption = False,
) -> None:
    """Take another repository's server into this checkout.

    Adds it as commits, and says how it will be measured.

    With --base it completes the history of that repository; a private one needs GITHUB_TOKEN for that.
    """
    from pushbench.ci.adopting import Adoption, adopt
    from pushbench.ci.steps import Settings
    from pushbench.foundation.project import Project

    wanted = Adoption(repository, folder, profile, base)
    token = os.environ.get("GITHUB_TOKEN", "")
    tell(adopt(Project.current(), wanted, Settings.read(os.environ), token), as_json=as_json)
