"""Workflows of a repository, their newest runs with their places in the queue, and the machines."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, TypeAdapter

from pushbench.ci.github import READ_ACTIONS, GitHub
from pushbench.ci.github_answers import Answer, Label, Run, Text
from pushbench.ci.github_dispatch import WRITE_ACTIONS

READ_ADMINISTRATION = "administration: read"
MOST_RUNS = 300
"""of one list, the newest; GitHub returns at most 1,000 (https://docs.github.com/en/rest/actions/workflow-runs)"""
DONE: TypeAdapter[object] = TypeAdapter(object)


class Workflow(Answer):
    id: int
    path: str
    state: str
    """active, deleted, disabled_fork, disabled_inactivity, disabled_manually; GitHub may add others"""

    @property
    def file(self) -> str:
        return self.path.rpartition("/")[2]


class Workflows(Answer):
    workflows: list[Workflow]


class DatedRun(Run):
    created: datetime = Field(alias="created_at")
    updated: datetime = Field(alias="updated_at")


class Runs(Answer):
    workflow_runs: list[DatedRun]


class QueuedJob(Answer):
    """A job with its state in the queue."""

    name: str
    status: Text
    """queued, in_progress, completed, waiting, requested or pending"""
    labels: list[str] = []
    """requested by its `runs-on`"""
    created_at: datetime
    completed_at: datetime | None = None
    runner_id: int | None = None
    """null or 0 if no machine has taken it"""


class QueuedJobs(Answer):
    jobs: list[QueuedJob]


class Runner(Answer):
    name: str
    status: Text
    """online or offline"""
    labels: list[Label]


class Runners(Answer):
    runners: list[Runner]


WORKFLOWS, RUNS, JOBS = TypeAdapter(Workflows), TypeAdapter(Runs), TypeAdapter(QueuedJobs)
RUNNERS = TypeAdapter(Runners)


def workflows(github: GitHub) -> list[Workflow]:
    pages = github.pages("/actions/workflows", READ_ACTIONS, WORKFLOWS)
    return [each for page in pages for each in page.workflows]


def enable(github: GitHub, workflow: Workflow) -> None:
    """https://docs.github.com/en/rest/actions/workflows#enable-a-workflow; also 204 for an active workflow."""
    github.ask("PUT", f"/actions/workflows/{workflow.id:d}/enable", WRITE_ACTIONS, DONE)


def runs_since(github: GitHub, file: str, since: datetime) -> list[DatedRun]:
    """The runs of one workflow, newest first."""
    found: list[DatedRun] = []
    query = {"created": f">={since:%Y-%m-%dT%H:%M:%SZ}"}
    for page in github.pages(f"/actions/workflows/{file}/runs", READ_ACTIONS, RUNS, query):
        found += page.workflow_runs
        if len(found) >= MOST_RUNS:
            break
    return found[:MOST_RUNS]


def jobs(github: GitHub, run: Run) -> list[QueuedJob]:
    """The jobs of the newest attempt."""
    pages = github.pages(f"/actions/runs/{run.id:d}/jobs", READ_ACTIONS, JOBS, {"filter": "latest"})
    return [job for page in pages for job in page.jobs]


def runners(github: GitHub) -> list[Runner]:
    """The repository's machines. A job's token cannot list them: the permission is *Administration: read*
    (https://docs.github.com/en/rest/actions/self-hosted-runners), which no `permissions:` grants.
    """
    pages = github.pages("/actions/runners", READ_ADMINISTRATION, RUNNERS)
    return [each for page in pages for each in page.runners]
