"""`pushbench ci clean-images`: delete unused images in the registry."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import github_of_job
from pushbench.cli.examples import examples
from pushbench.foundation.errors import UserError

_EXAMPLES = examples(
    "./pushbench ci clean-images --dry-run",
    "./pushbench ci clean-images --newest 5",
)


def register(group: typer.Typer) -> None:
    group.command("clean-images", epilog=_EXAMPLES)(clean_images)


def clean_images(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    newest: Annotated[
        int | None, typer.Option("--newest", min=1, help="Images of each server that stay; 20.", metavar="N")
    ] = None,
) -> None:
    """Delete images in the registry that nobody needs any more.

    GitHub can restore them for 30 days.

    The tags latest and cache stay, those of open pull requests, the newest N images of each server, and everything
    that is younger than 14 days. Copies of services' images are left alone, and so are those of servers that are gone.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs packages: write and pull-requests: read.
    """
    from datetime import datetime

    from pushbench.building.images import images_of, registry_prefix
    from pushbench.catalog.servers import read_catalog
    from pushbench.ci import cleaning
    from pushbench.foundation.project import Project

    with github_of_job() as github:
        expected = f"ghcr.io/{github.repository}".lower()
        if registry_prefix() not in ("pushbench", expected):
            raise UserError(f"the images are in {registry_prefix()}", hint="only the registry of GitHub can be cleaned")
        names = [image.name for image in images_of(read_catalog(Project.current().servers))]
        now = datetime.now(UTC)
        deleted = cleaning.clean(github, names, now, options.note, newest=newest or cleaning.NEWEST, dry_run=dry_run)
    options.note("nothing was deleted" if deleted == 0 else f"deleted {deleted} versions")
