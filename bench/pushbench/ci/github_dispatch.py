"""Workflow runs that the repository starts itself, and waiting until a run is completed.

GITHUB_TOKEN may start runs by workflow_dispatch:
https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/trigger-a-workflow
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from pydantic import TypeAdapter

from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Answer, Run
from pushbench.ci.github_runs import newest_runs

WRITE_ACTIONS = "actions: write"
COMPLETED = "completed"
LONGEST_WAIT_SECONDS = 180.0
POLL_SECONDS = 5.0


class Started(Answer):
    """A dispatched run. GitHub names it if the request has `return_run_details`:
    https://github.blog/changelog/2026-02-19-workflow-dispatch-api-now-returns-run-ids
    """

    workflow_run_id: int
    html_url: str


STARTED = TypeAdapter(Started)


def dispatch(
    github: GitHub, workflow: str, ref: str, inputs: Mapping[str, str], *, title: str = "", repeatable: bool = False
) -> Started:
    """Start a workflow by its file name, such as bench.yml, on the branch `ref`; return the run.

    If no answer arrived, GitHub may still have started the run. The newest runs are then searched first, by their
    `title` if bench.yml gives them one, unless the run is `repeatable`: a second one does no harm.
    """
    began = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"

    def already() -> Started | None:
        filters = {"event": "workflow_dispatch", "branch": ref, "created": f">={began}"}
        runs = [run for run in newest_runs(github, workflow, **filters) if not title or run.display_title == title]
        return Started(workflow_run_id=runs[0].id, html_url=runs[0].html_url) if runs else None

    path = f"/actions/workflows/{workflow}/dispatches"
    body = {"ref": ref, "inputs": dict(inputs), "return_run_details": True}
    return github.ask("POST", path, WRITE_ACTIONS, STARTED, body=body, already=None if repeatable else already)


def wait_completed(github: GitHub, run_id: int, *, sleep: Callable[[float], None] = time.sleep) -> Run:
    """The run once it is completed, or its state after the longest wait."""
    waited = 0.0
    while (run := github.run(run_id)).status != COMPLETED and waited < LONGEST_WAIT_SECONDS:
        sleep(POLL_SECONDS)
        waited += POLL_SECONDS
    return run
