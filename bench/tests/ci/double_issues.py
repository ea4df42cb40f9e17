"""Routes of the double: issues and labels (https://docs.github.com/en/rest/issues)."""

from __future__ import annotations

import re
from typing import Any

from tests.ci.events import REPOSITORY
from tests.ci.github_double import BOT, Answer, Double, route

CREATED = "2026-11-20T02:00:00Z"
MOST_BODY = 65_536


def issue(number: int, body: str, *labels: str, **changed: Any) -> dict[str, Any]:
    values = {
        "number": number,
        "title": "x",
        "body": body,
        "state": "open",
        "html_url": f"https://github.com/{REPOSITORY}/issues/{number}",
        "created_at": CREATED,
        "user": BOT,
        "labels": [{"name": name} for name in labels],
    }
    return values | changed


def open_issues(double: Double) -> list[dict[str, Any]]:
    return [each for each in double.issues if each["state"] == "open"]


@route(r"GET /issues", "issues: read")
def _list(double: Double, _: object, query: dict[str, list[str]], __: object) -> Answer:
    """Pull requests are issues, too, and are listed even if issues are off. By default open ones, the newest first."""
    [state] = query.get("state", ["open"])
    wanted = set(query["labels"][0].split(",")) if "labels" in query else set()
    found = [
        each
        for each in double.issues
        if each["state"] == state and wanted <= {label["name"] for label in each["labels"]}
        if not double.issues_off or "pull_request" in each
    ]
    oldest_first = query.get("direction") == ["asc"]
    return 200, sorted(found, key=lambda each: each["number"], reverse=not oldest_first)


@route(r"POST /issues", "issues: write")
def _create(double: Double, _: object, __: object, body: Any) -> Answer:
    """Labels that the repository does not have are dropped: apps do not create them (octokit/rest.js, issue 479)."""
    if double.issues_off:
        return 410, {"message": "Issues are disabled for this repo"}
    if not body.get("title") or len(body["title"]) > 256 or len(body.get("body", "")) > MOST_BODY:
        return 422, {"message": "Validation Failed"}
    number = max([each["number"] for each in double.issues], default=0) + 1
    labels = [name for name in body.get("labels", []) if name in double.labels]
    double.issues.append(issue(number, body.get("body", ""), *labels, title=body["title"]))
    return 201, double.issues[-1]


@route(r"PATCH /issues/(\d+)", "issues: write")
def _change(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    [one] = [each for each in double.issues if each["number"] == int(found[1])]
    changed = dict(body)
    if "labels" in changed:
        changed["labels"] = [{"name": name} for name in body["labels"] if name in double.labels]
    if len(changed.get("body", "")) > MOST_BODY:
        return 422, {"message": "Validation Failed"}
    one.update(changed)
    return 200, one


@route(r"POST /labels", "issues: write")
def _label(double: Double, _: object, __: object, body: Any) -> Answer:
    if body["name"].casefold() in {name.casefold() for name in double.labels}:
        return 422, {"message": "Validation Failed", "errors": [{"code": "already_exists", "field": "name"}]}
    double.labels.add(body["name"])
    return 201, {"name": body["name"]}
