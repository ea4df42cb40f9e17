"""Runs of a workflow that are not completed, and what their jobs wait for."""

from __future__ import annotations

from pydantic import TypeAdapter

from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Answer, Run

READ_ACTIONS = "actions: read"
UNFINISHED = ("queued", "pending", "in_progress")
"""GitHub gives a run the status of its least advanced job (https://github.com/cli/cli/issues/13972), so a run of which
a job waits is `queued`; `in_progress` is asked for as well because no document promises that"""
MOST = 100


class QueuedJob(Answer):
    """A job in any state. `labels` are those of `runs-on`."""

    status: str
    labels: list[str]

    @property
    def waits(self) -> bool:
        """Whether it could start at once if a machine were free. Jobs that need others are not listed before these end;
        `waiting` is for an approval."""
        return self.status in ("queued", "pending")


class _Jobs(Answer):
    jobs: list[QueuedJob]


class _Runs(Answer):
    workflow_runs: list[Run]


RUNS, JOBS = TypeAdapter(_Runs), TypeAdapter(_Jobs)


def unfinished_runs(github: GitHub, workflow: str) -> list[Run]:
    """The newest 100 in each state."""
    found: dict[int, Run] = {}
    for status in UNFINISHED:
        query: dict[str, str | int] = {"status": status, "per_page": MOST, "exclude_pull_requests": "true"}
        answer = github.ask("GET", f"/actions/workflows/{workflow}/runs", READ_ACTIONS, RUNS, query=query)
        found |= {run.id: run for run in answer.workflow_runs}
    return list(found.values())


def jobs_of(github: GitHub, run_id: int) -> list[QueuedJob]:
    """Of the newest attempt; bench.yml has fewer than 100 jobs."""
    query: dict[str, str | int] = {"filter": "latest", "per_page": MOST}
    return github.ask("GET", f"/actions/runs/{run_id:d}/jobs", READ_ACTIONS, JOBS, query=query).jobs
