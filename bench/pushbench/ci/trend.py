"""Which runs of bench.yml are points of the trend: pushes to the default branch, nights, and what goes on with them.

Decided by what GitHub says of a run. The name of a dispatched run is made by the default branch's bench.yml.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pushbench.ci.github_answers import Run
from pushbench.errors import UserError

WORKFLOW = ".github/workflows/bench.yml"
TREND = ("push", "schedule")
"""the events of such runs, as plans name them"""
NIGHT = "bench night"
"""the names that bench.yml gives to nights, and to runs that go on with another one"""
CONTINUES = re.compile(r"bench continues ([0-9]{1,20}) at ([0-9a-f]{40})", re.ASCII)


class NoPoint(UserError):
    """A run that is no point of the trend, and why."""


@dataclass(frozen=True)
class Origin:
    """What a run of the trend measures: by what GitHub says, never by what an artifact says."""

    event: str
    """as plans name it; empty for a run that goes on, which may be of either"""
    sha: str
    first: int
    """the run that began"""


def origin(run: Run, *, repository: str, branch: str) -> Origin:
    """What the run measures.

    Raises NoPoint for a run that is no point of the trend, and UserError for one of another workflow: its name and its
    artifacts could be anybody's.
    """
    where = f"the run {run.id}"
    if run.workflow_file != WORKFLOW:
        raise UserError(f"{where} is of {run.workflow_file!r}, not of {WORKFLOW}")
    if run.head_repository is None or run.head_repository.full_name.lower() != repository.lower():
        raise NoPoint(f"{where} is not of {repository}")
    if run.head_branch != branch:
        raise NoPoint(f"{where} is not of the branch {branch}")
    if run.event == "push":
        return Origin("push", run.head_sha, run.id)
    if run.event == "workflow_dispatch" and run.display_title == NIGHT:
        return Origin("schedule", run.head_sha, run.id)
    named = CONTINUES.fullmatch(run.display_title) if run.event == "workflow_dispatch" else None
    if named:
        return Origin("", named[2], int(named[1]))
    raise NoPoint(f"{where} is neither of a push nor a night, nor does it go on with one")
