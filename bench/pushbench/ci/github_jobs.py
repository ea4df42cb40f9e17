"""The errors of a failed job, from the annotations of its check run: `pushbench` writes its error as one."""

from __future__ import annotations

from pydantic import TypeAdapter

from pushbench.ci.github import WRITE_CHECKS, GitHub
from pushbench.ci.github_answers import Annotation, Job
from pushbench.ci.github_connection import GitHubError

ANNOTATIONS = TypeAdapter(list[Annotation])
MOST_ERRORS = 3
EXIT = "Process completed with exit code"
"""how the runner's annotation for every failed step begins"""


def errors_of(github: GitHub, job: Job) -> list[str]:
    """The errors that the job's steps annotated; none if GitHub does not show them. The id of a job is that of its
    check run (https://docs.github.com/en/rest/actions/workflow-jobs#get-a-job-for-a-workflow-run, `check_run_url`).
    """
    try:
        page = next(github.pages(f"/check-runs/{job.id:d}/annotations", WRITE_CHECKS, ANNOTATIONS), [])
    except GitHubError as error:
        if error.status != 404:
            raise
        return []
    said = [each.message for each in page if each.annotation_level == "failure" and not each.message.startswith(EXIT)]
    return said[:MOST_ERRORS]
