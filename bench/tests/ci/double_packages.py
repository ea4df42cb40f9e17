"""Packages of the double of GitHub: versions of containers, below users and organisations.

https://docs.github.com/en/rest/packages/packages
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from tests.ci.github_double import Answer, Double, route

OF_ACCOUNT = r"/(orgs|users)/([^/]+)/packages/container/([^/]+)/versions"


@dataclass
class Packages(Double):
    """The account `acme` and its containers."""

    kind: str = "Organization"
    versions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """by package name"""
    popular: set[int] = field(default_factory=set)
    """ids of versions that were downloaded more than 5,000 times"""
    admin: bool = True
    """whether the repository has the role admin for the packages"""

    def found(self, asked: re.Match[str]) -> list[dict[str, Any]] | None:
        """The versions of a package; a user is no organisation, and an unescaped slash is no name."""
        kind = {"orgs": "Organization", "users": "User"}[asked[1]]
        known = (kind, asked[2]) == (self.kind, "acme")
        return self.versions.get(unquote(asked[3])) if known else None


def version(number: int, moment: datetime, *tags: str) -> dict[str, Any]:
    text = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = {"package_type": "container", "container": {"tags": list(tags)}}
    return {
        "id": number,
        "name": f"sha256:{number:064x}",
        "created_at": text,
        "updated_at": text,
        "metadata": metadata,
    }


@route("GET ", "metadata: read", "Packages")
def _repository(double: Double, *_: object) -> Answer:
    assert isinstance(double, Packages)
    return 200, {"id": 1, "owner": {"login": "acme", "type": double.kind}}


@route(f"GET {OF_ACCOUNT}", "packages: read", "Packages")
def _versions(double: Double, asked: re.Match[str], *_: object) -> Answer:
    assert isinstance(double, Packages)
    found = double.found(asked)
    return (404, {"message": "Package not found."}) if found is None else (200, found)


@route(rf"DELETE {OF_ACCOUNT}/(\d+)", "packages: write", "Packages")
def _delete(double: Double, asked: re.Match[str], *_: object) -> Answer:
    assert isinstance(double, Packages)
    found, number = double.found(asked), int(asked[4])
    wanted = next((each for each in found or [] if each["id"] == number), None)
    if found is None or wanted is None:
        return 404, {"message": "Package not found."}
    if not double.admin:
        return 403, {"message": "Resource not accessible by integration"}
    if number in double.popular:
        return 400, {"message": "Publicly visible package versions with more than 5000 downloads cannot be deleted."}
    if len(found) == 1:
        return 400, {"message": "You cannot delete the last version of a package."}
    found.remove(wanted)
    return 204, b""
