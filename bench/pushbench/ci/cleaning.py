"""Unused images in the registry, and their deletion.

An image's tag is a digest of its sources, and a deleted image is rebuilt when it is needed, so only time and space are
at stake. Images needed by the default branch, open pull requests and the newest records stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from pushbench.building.builds import Note
from pushbench.building.images import CACHE, LATEST
from pushbench.ci import github_packages
from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import PullRequest
from pushbench.ci.github_connection import GitHubError
from pushbench.ci.github_packages import Version

YOUNG = timedelta(days=14)
NEWEST = 20
"""images of each server that stay: one per change of its sources, so they cover far more than 20 records"""
PULLS = TypeAdapter(list[PullRequest])


def outdated(found: Sequence[Version], open_pulls: Iterable[int], now: datetime, newest: int = NEWEST) -> list[Version]:
    """The images that may be deleted: old, not among the newest, and without a tag in use."""
    kept = {LATEST, CACHE, *(f"pr-{number}" for number in open_pulls)}
    by_age = sorted(found, key=_used, reverse=True)
    tagged = [each.id for each in by_age if each.tags][:newest]
    return [each for each in by_age if each.id not in tagged and not each.tags & kept and now - _used(each) > YOUNG]


def clean(
    github: GitHub, names: Sequence[str], now: datetime, note: Note, *, newest: int = NEWEST, dry_run: bool
) -> int:
    """Delete outdated versions in the packages of the images `names`; returns their number. Raises GitHubError.

    A version that GitHub does not delete, such as a public one with many downloads, is reported and left.
    """
    packages = github_packages.packages_of(github)
    repository = github.repository.partition("/")[2].lower()
    pulls = github.pages("/pulls", "pull-requests: read", PULLS, {"state": "open"})
    open_pulls = [pull.number for page in pulls for pull in page]
    deleted = 0
    for name in names:
        package = f"{repository}/{name}"
        found = github_packages.versions(github, packages, package)
        old = outdated(found, open_pulls, now, newest)
        note(f"{package}: {len(old)} of {len(found)} versions are outdated")
        for version in old:
            what = f"{package} {', '.join(sorted(version.tags)) or version.name[:19]} of {version.updated_at:%Y-%m-%d}"
            if dry_run:
                note(f"would delete {what}")
                continue
            try:
                github_packages.delete_version(github, packages, package, version.id)
            except GitHubError as error:
                if error.status not in (400, 404, 422):
                    raise
                note(f"left {what}: {error.what}")
            else:
                deleted += 1
    return deleted


def _used(version: Version) -> datetime:
    return max(version.created_at, version.updated_at)
