"""Routes of the double: runs of bench.yml with their jobs, the repository itself, and workflow_dispatch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.ci.events import REPOSITORY
from tests.ci.github_double import Answer, Double, job, route, run

WORKFLOWS = Path(__file__).parents[3] / ".github" / "workflows"
MOST_INPUTS = 25
"""https://github.blog/changelog/2025-12-04-actions-workflow-dispatch-workflows-now-support-25-inputs"""
OWN_LABELS = ["self-hosted", "pushbench"]
FIRST_DISPATCHED = 9000


def queued(name: str = "bench", status: str = "queued", labels: list[str] | None = None) -> dict[str, Any]:
    """A job as the API lists it before it has ended."""
    return {**job(name), "status": status, "conclusion": None, "labels": OWN_LABELS if labels is None else labels}


def other(number: int, *jobs: dict[str, Any], **changed: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Another run of bench.yml and its jobs; those that say nothing else are completed on a hosted machine."""
    ended = {"status": "completed", "labels": ["ubuntu-24.04"]}
    listed = [{**ended, **each} for each in jobs or (queued(),)]
    return run(id=number, conclusion=None, **{"status": "queued", **changed}), listed


@route("GET ", "")
def _repository(double: Double, *_: object) -> Answer:
    return 200, {"full_name": REPOSITORY, "default_branch": double.default_branch}


@route(r"GET /actions/workflows/([\w.-]+)/runs", "actions: read")
def _runs(double: Double, found: re.Match[str], query: dict[str, list[str]], _: object) -> Answer:
    """`status` and `event` filter, the newest are first."""
    runs = [each for each, _ in double.others if each["path"] == f".github/workflows/{found[1]}"]
    for name in ("status", "event"):
        runs = [each for each in runs if each[name] in query.get(name, [each[name]])]
    runs.sort(key=lambda each: -each["id"])
    return 200, {"total_count": len(runs), "workflow_runs": runs[: int(query.get("per_page", ["30"])[0])]}


@route(r"GET /actions/runs/(\d+)", "actions: read")
def _run(double: Double, found: re.Match[str], *_: object) -> Answer:
    known = [each for each, _ in double.others if each["id"] == int(found[1])]
    return (200, known[0]) if known else (404, {"message": "Not Found"})


@route(r"GET /actions/runs/(\d+)/jobs", "actions: read")
def _jobs(double: Double, found: re.Match[str], *_: object) -> Answer:
    known = [jobs for each, jobs in double.others if each["id"] == int(found[1])]
    return (200, {"jobs": known[0]}) if known else (404, {"message": "Not Found"})


@route(r"POST /actions/workflows/([\w.-]+)/dispatches", "actions: write")
def _dispatch(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
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
