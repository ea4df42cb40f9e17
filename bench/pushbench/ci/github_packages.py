"""Packages of the container registry, through GitHub's API.

https://docs.github.com/en/rest/packages/packages. A job's token may delete versions of a package that gives the
repository the role admin. A package that one of the repository's workflows created does:
https://docs.github.com/en/packages/learn-github-packages/deleting-and-restoring-a-package
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from urllib.parse import quote

from pydantic import TypeAdapter

from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Answer
from pushbench.ci.github_connection import GitHubError

READ_PACKAGES, WRITE_PACKAGES = "packages: read", "packages: write"


class Owner(Answer):
    login: str
    type: Literal["User", "Organization"]


class Repository(Answer):
    owner: Owner


class Container(Answer):
    tags: list[str] = []


class Metadata(Answer):
    container: Container = Container()


class Version(Answer):
    """One image of a package, or a part of an index."""

    id: int
    name: str
    """its digest"""
    created_at: datetime
    updated_at: datetime
    metadata: Metadata = Metadata()

    @property
    def tags(self) -> frozenset[str]:
        return frozenset(self.metadata.container.tags)


REPOSITORY, VERSIONS, NOTHING = TypeAdapter(Repository), TypeAdapter(list[Version]), TypeAdapter(None)


def packages_of(github: GitHub) -> str:
    """The path for the containers of the repository's owner: users and organisations have different ones."""
    owner = github.ask("GET", "", "metadata: read", REPOSITORY).owner
    kind = "orgs" if owner.type == "Organization" else "users"
    return f"/{kind}/{quote(owner.login, safe='')}/packages/container"


def versions(github: GitHub, packages: str, name: str) -> list[Version]:
    """The versions of the package `name`, newest first; none if it does not exist. Raises GitHubError."""
    path = f"{packages}/{quote(name, safe='')}/versions"
    try:
        found = [each for page in github.pages(path, READ_PACKAGES, VERSIONS, {"state": "active"}) for each in page]
    except GitHubError as error:
        if error.status == 404:
            return []
        raise
    return sorted(found, key=lambda each: each.updated_at, reverse=True)


def delete_version(github: GitHub, packages: str, name: str, version: int) -> None:
    """Delete a version, restorable for 30 days. Raises GitHubError, as for public ones of over 5,000 downloads."""
    github.ask("DELETE", f"{packages}/{quote(name, safe='')}/versions/{version:d}", WRITE_PACKAGES, NOTHING)
