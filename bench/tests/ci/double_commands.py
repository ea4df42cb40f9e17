"""GitHub's API for commands: permissions, reactions, and dispatched runs of bench.yml.

Documented at https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user,
https://docs.github.com/en/rest/reactions/reactions#create-reaction-for-an-issue-comment and
https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.ci.github_double import Answer, Double, route

WORKFLOW = Path(__file__).parents[3] / ".github" / "workflows" / "bench.yml"
REACTIONS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
MOST_INPUTS = 25


class Commanded(Double):
    """A repository with users, whose bench.yml can be dispatched."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.people = {"octocat": "admin", "maintainer": "write", "triager": "read"}
        """values of `permission`: maintain is write, and triage is read; a stranger has read for a public repository"""
        self.reactions: list[tuple[int, str]] = []

    @property
    def commanded(self) -> list[dict[str, str]]:
        """The inputs of the runs of bench.yml that were started."""
        return [inputs for workflow, inputs in self.dispatched if workflow == "bench.yml"]


def of(double: Double) -> Commanded:
    assert isinstance(double, Commanded)
    return double


@route(r"GET /collaborators/([^/]+)/permission", "", "Commanded")
def _permission(double: Double, found: re.Match[str], *_: object) -> Answer:
    permission = of(double).people.get(found[1])
    if permission is None:
        return 404, {"message": f"{found[1]} is not a user"}
    return 200, {"permission": permission, "role_name": permission, "user": {"login": found[1]}}


@route(r"POST /issues/comments/([0-9]+)/reactions", "pull-requests: write", "Commanded")
def _react(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    if body.get("content") not in REACTIONS:
        return 422, {"message": "Validation Failed"}
    made = (int(found[1]), body["content"])
    there = made in of(double).reactions
    if not there:
        of(double).reactions.append(made)
    return 200 if there else 201, {"id": 1, "content": body["content"]}
