"""The order on the one machine that measures: pull requests and people before nights and pushes.

Actions has no priorities (https://docs.github.com/en/actions/concepts/workflows-and-actions/concurrency). So between
two servers, a run of the trend checks whether a job waits, and ends early for it. `going_on` resumes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Run
from pushbench.ci.github_runs import QueuedJob, jobs_of, unfinished_runs
from pushbench.ci.queueing import LABELS
from pushbench.ci.trust import CONTINUED, NIGHT
from pushbench.foundation.errors import UserError

Note = Callable[[str], None]

LEAST_SECONDS = 60.0
"""between two queries: a token has 1,000 requests per hour"""
LONGEST_SECONDS = 30.0
"""of a query: the machine is idle meanwhile"""
MOST_RUNS = 20
"""whose jobs a query checks"""


def in_background(run: Run) -> bool:
    """Whether the run is in the background: a night, or a continuation of one or of a push."""
    return run.display_title == NIGHT or CONTINUED.fullmatch(run.display_title) is not None


def goes_first(run: Run, *, repository: str, branch: str) -> bool:
    """Whether a night or push gives way to it: a pull request, or a run that a person started on the branch.

    A fork's own runs do not count. The machine rejects their jobs, and no outsider may stop a night.
    """
    if run.head_repository is None or run.head_repository.full_name.lower() != repository.lower():
        return False
    if run.event == "workflow_dispatch":
        return run.head_branch == branch and not in_background(run)
    return run.event == "pull_request"


def waits(jobs: Sequence[QueuedJob]) -> bool:
    """Whether one of the jobs waits for the machine that measures."""
    return any(job.waits and job.labels and {label.lower() for label in job.labels} <= LABELS for job in jobs)


@dataclass
class Queue:
    """The jobs that wait for the machine, according to GitHub. Errors of GitHub count as an empty queue, noted once."""

    github: GitHub
    own_run: int
    branch: str
    """the default branch, whose workflow file this job runs"""
    note: Note
    clock: Callable[[], float] = time.monotonic
    _asked: float | None = None
    _in_trouble: bool = False

    def __call__(self) -> str | None:
        """The waiting job, as a part of a sentence; also None if the last query is less than a minute ago."""
        now = self.clock()
        if self._asked is not None and now - self._asked < LEAST_SECONDS:
            return None
        self._asked = now
        try:
            return self._waiting(now + LONGEST_SECONDS)
        except UserError as error:
            if not self._in_trouble:
                self._in_trouble = True
                self.note(f"the runs that wait for this machine are not known, so the measurement continues: {error}")
            return None

    def _waiting(self, deadline: float) -> str | None:
        runs = [
            run
            for run in unfinished_runs(self.github)
            if run.id != self.own_run and goes_first(run, repository=self.github.repository, branch=self.branch)
        ]
        for run in sorted(runs, key=lambda run: run.id)[:MOST_RUNS]:
            if self.clock() > deadline:
                raise UserError(f"GitHub takes more than {LONGEST_SECONDS:.0f} s to answer")
            if waits(jobs_of(self.github, run.id)):
                kind = "a pull request's" if run.event == "pull_request" else "a person's"
                return f"{kind} run {run.id}"
        return None


def impatient(_seconds: float) -> NoReturn:
    """Instead of waiting until a limit or a fault of GitHub has passed."""
    raise UserError("GitHub does not answer now")
