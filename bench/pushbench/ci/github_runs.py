"""Lists of workflow runs, and the labels that their jobs wait for."""

from __future__ import annotations

from pydantic import TypeAdapter

from pushbench.ci.github import READ_ACTIONS, GitHub
from pushbench.ci.github_answers import Answer, Run
from pushbench.ci.trust import BENCH

UNFINISHED = ("queued", "pending", "in_progress")
"""GitHub gives a run the status of its least advanced job (https://github.com/cli/cli/issues/13972), so a run with a
waiting job is `queued`; `in_progress` is requested as well because this is not documented"""
MOST = 100
"""in one request, so that a long queue costs no more than a short one"""


class QueuedJob(Answer):
    """A job in any state. `labels` are those of `runs-on`."""

    status: str
    labels: list[str]

    @property
    def waits(self) -> bool:
        """Whether it could start at once if a machine were free. Jobs that need others are not listed before these end;
        `waiting` means waiting for an approval.
        """
        return self.status in ("queued", "pending")


class _Jobs(Answer):
    jobs: list[QueuedJob]


class _Runs(Answer):
    workflow_runs: list[Run]


RUNS, JOBS = TypeAdapter(_Runs), TypeAdapter(_Jobs)


def newest_runs(github: GitHub, workflow: str = BENCH, **filters: str) -> list[Run]:
    """The newest 100, the newest first. Filters are `event`, `branch`, `status` and `created`:
    https://docs.github.com/en/rest/actions/workflow-runs#list-workflow-runs-for-a-workflow"""
    query: dict[str, str | int] = {**filters, "per_page": MOST}
    return github.ask("GET", f"/actions/workflows/{workflow}/runs", READ_ACTIONS, RUNS, query=query).workflow_runs


def unfinished_runs(github: GitHub) -> list[Run]:
    """The unfinished runs of bench.yml, the newest 100 in each state."""
    return list({run.id: run for status in UNFINISHED for run in newest_runs(github, status=status)}.values())


def jobs_of(github: GitHub, run_id: int) -> list[QueuedJob]:
    """The jobs of the newest attempt; bench.yml has fewer than 100 jobs."""
    query: dict[str, str | int] = {"filter": "latest", "per_page": MOST}
    return github.ask("GET", f"/actions/runs/{run_id:d}/jobs", READ_ACTIONS, JOBS, query=query).jobs
