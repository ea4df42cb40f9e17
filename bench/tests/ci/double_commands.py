"""What GitHub's API does for a command: permissions, reactions, and runs of bench.yml that are dispatched.

Documented at https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user,
https://docs.github.com/en/rest/reactions/reactions#create-reaction-for-an-issue-comment and
https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.ci.events import REPOSITORY
from tests.ci.github_double import RUN, Answer, Double, route
from tests.ci.github_double import run as make_run

WORKFLOW = Path(__file__).parents[3] / ".github" / "workflows" / "bench.yml"
RUN_NAME = "bench pull request {} at {}"
REACTIONS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
MOST_INPUTS = 25


class Commanded(Double):
    """A repository with people, whose bench.yml can be dispatched."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.people = {"octocat": "admin", "maintainer": "write", "triager": "read"}
        """what `permission` is: maintain is write, and triage is read; of a stranger to a public repository read"""
        self.reactions: list[tuple[int, str]] = []
        self.dispatched: list[dict[str, Any]] = []
        self.runs: list[dict[str, Any]] = []
        self.default_branch = "main"


def of(double: Double) -> Commanded:
    assert isinstance(double, Commanded)
    return double


@route(r"GET /collaborators/([^/]+)/permission", "")
def _permission(double: Double, found: re.Match[str], *_: object) -> Answer:
    permission = of(double).people.get(found[1])
    if permission is None:
        return 404, {"message": f"{found[1]} is not a user"}
    return 200, {"permission": permission, "role_name": permission, "user": {"login": found[1]}}


@route(r"POST /issues/comments/([0-9]+)/reactions", "pull-requests: write")
def _react(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    if body.get("content") not in REACTIONS:
        return 422, {"message": "Validation Failed"}
    made = (int(found[1]), body["content"])
    there = made in of(double).reactions
    if not there:
        of(double).reactions.append(made)
    return 200 if there else 201, {"id": 1, "content": body["content"]}


@route(r"POST /actions/workflows/bench\.yml/dispatches", "actions: write")
def _dispatch(double: Double, _: object, __: object, body: Any) -> Answer:
    triggers = YAML(typ="safe").load(WORKFLOW)["on"]
    if body.get("ref") != of(double).default_branch:
        return 422, {"message": f"No ref found for: {body.get('ref')}"}
    declared, inputs = triggers["workflow_dispatch"]["inputs"], body.get("inputs", {})
    if unexpected := sorted(set(inputs) - set(declared)):
        return 422, {"message": f"Unexpected inputs provided: {unexpected}"}
    if len(inputs) > MOST_INPUTS or not all(isinstance(value, str) for value in inputs.values()):
        return 422, {"message": "Invalid inputs"}
    number = RUN + 1 + len(of(double).dispatched)
    of(double).dispatched.append(inputs)
    url = f"https://github.com/{REPOSITORY}/actions/runs/{number}"
    title = RUN_NAME.format(inputs.get("pull_request"), inputs.get("head"))
    made = make_run(id=number, event="workflow_dispatch", status="queued", conclusion=None, html_url=url)
    of(double).runs.append(made | {"display_title": title})
    if not body.get("return_run_details"):
        return 204, b""
    return 200, {"workflow_run_id": number, "run_url": f"https://api.github.com/{number}", "html_url": url}


@route(r"GET /actions/workflows/bench\.yml/runs", "actions: read")
def _runs(double: Double, _: object, query: dict[str, list[str]], __: object) -> Answer:
    wanted = [each for each in of(double).runs if each["event"] in query.get("event", [each["event"]])]
    return 200, {"total_count": len(wanted), "workflow_runs": wanted[::-1]}


@route(rf"GET /actions/runs/(?!{RUN}$)([0-9]+)", "actions: read")
def _run(double: Double, found: re.Match[str], *_: object) -> Answer:
    wanted = [each for each in of(double).runs if each["id"] == int(found[1])]
    return (200, wanted[0]) if wanted else (404, {"message": "Not Found"})
