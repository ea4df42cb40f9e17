"""A GitHub with further runs of bench.yml, whose jobs may wait for the machine, and with workflow_dispatch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ruamel.yaml import YAML

from tests.ci.events import REPOSITORY
from tests.ci.github_double import Answer, Double, job, run

WORKFLOWS = Path(__file__).parents[3] / ".github" / "workflows"
MOST_INPUTS = 25
"""https://github.blog/changelog/2025-12-04-actions-workflow-dispatch-workflows-now-support-25-inputs"""
OWN_LABELS = ["self-hosted", "pushbench"]
FIRST_DISPATCHED = 9000
Reply = Callable[["Queue", re.Match[str], dict[str, list[str]], Any], Answer]
OWN: list[tuple[str, str, str, Reply]] = []
"""method, path below the repository, permission, answer; the double's own routes are looked up after these"""


@dataclass
class Queue(Double):
    others: list[tuple[dict[str, Any], list[dict[str, Any]]]] = field(default_factory=list)
    """further runs, each with its jobs"""
    dispatched: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """workflow files that were started, with their inputs"""
    default_branch: str = "main"

    def answer(self, method: str, target: str, content: bytes) -> Answer:
        parts = urlsplit(target)
        path = parts.path.removeprefix(f"/repos/{REPOSITORY}")
        for verb, shape, permission, reply in OWN:
            found = re.fullmatch(shape, path)
            if verb == method and found and not self._is_main(found):
                if permission and not self._granted(permission):
                    return 403, {"message": "Resource not accessible by integration"}
                return reply(self, found, parse_qs(parts.query), json.loads(content) if content else {})
        return super().answer(method, target, content)

    def _is_main(self, found: re.Match[str]) -> bool:
        """Whether the path is of the one run that every double has."""
        return found[0].startswith(f"/actions/runs/{self.run['id']}")


def route(request: str, permission: str) -> Callable[[Reply], Reply]:
    verb, _, shape = request.partition(" ")

    def register(reply: Reply) -> Reply:
        OWN.append((verb, shape, permission, reply))
        return reply

    return register


def queued(name: str = "bench", status: str = "queued", labels: list[str] | None = None) -> dict[str, Any]:
    """A job as the API lists it before it has ended."""
    return {**job(name), "status": status, "conclusion": None, "labels": OWN_LABELS if labels is None else labels}


def other(number: int, *jobs: dict[str, Any], **changed: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Another run of bench.yml and its jobs; those that say nothing else are completed on a hosted machine."""
    ended = {"status": "completed", "labels": ["ubuntu-24.04"]}
    listed = [{**ended, **each} for each in jobs or (queued(),)]
    return run(id=number, conclusion=None, **{"status": "queued", **changed}), listed


@route("GET ", "")
def _repository(double: Queue, *_: object) -> Answer:
    return 200, {"full_name": REPOSITORY, "default_branch": double.default_branch}


@route(r"GET /actions/workflows/([\w.-]+)/runs", "actions: read")
def _runs(double: Queue, found: re.Match[str], query: dict[str, list[str]], _: object) -> Answer:
    """`status` and `event` filter, the newest are first."""
    runs = [each for each, _ in double.others if each["path"] == f".github/workflows/{found[1]}"]
    for name in ("status", "event"):
        runs = [each for each in runs if each[name] in query.get(name, [each[name]])]
    runs.sort(key=lambda each: -each["id"])
    return 200, {"total_count": len(runs), "workflow_runs": runs[: int(query.get("per_page", ["30"])[0])]}


@route(r"GET /actions/runs/(\d+)", "actions: read")
def _run(double: Queue, found: re.Match[str], *_: object) -> Answer:
    known = [each for each, _ in double.others if each["id"] == int(found[1])]
    return (200, known[0]) if known else (404, {"message": "Not Found"})


@route(r"GET /actions/runs/(\d+)/jobs", "actions: read")
def _jobs(double: Queue, found: re.Match[str], *_: object) -> Answer:
    known = [jobs for each, jobs in double.others if each["id"] == int(found[1])]
    return (200, {"jobs": known[0]}) if known else (404, {"message": "Not Found"})


@route(r"POST /actions/workflows/([\w.-]+)/dispatches", "actions: write")
def _dispatch(double: Queue, found: re.Match[str], _: object, body: Any) -> Answer:
    """Refuses what GitHub refuses: https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event"""
    file = WORKFLOWS / found[1]
    if not file.is_file():
        return 404, {"message": "Not Found"}
    triggers = YAML(typ="safe").load(file)["on"]
    if "workflow_dispatch" not in triggers:
        return 422, {"message": "Workflow does not have 'workflow_dispatch' trigger"}
    if body.get("ref") != double.default_branch:
        return 422, {"message": f"No ref found for: {body.get('ref')}"}
    declared = (triggers["workflow_dispatch"] or {}).get("inputs", {})
    given = body.get("inputs", {})
    if unexpected := sorted(given.keys() - declared.keys()):
        return 422, {"message": f"Unexpected inputs provided: {unexpected}"}
    for name, each in declared.items():
        if each.get("required") and not given.get(name):
            return 422, {"message": f"Required input '{name}' not provided"}
    if len(given) > MOST_INPUTS or any(not isinstance(value, str) for value in given.values()):
        return 422, {"message": "Invalid inputs"}
    double.dispatched.append((found[1], dict(given)))
    number = FIRST_DISPATCHED + len(double.dispatched)
    if not body.get("return_run_details"):
        return 204, b""
    return 200, {"workflow_run_id": number, "html_url": f"https://github.com/{REPOSITORY}/actions/runs/{number}"}
