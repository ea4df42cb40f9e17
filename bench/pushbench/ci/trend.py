"""Which runs of bench.yml are points of the trend: pushes to the default branch, nights, and their continuations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pushbench.ci.github_answers import Run
from pushbench.ci.trust import Home, Source, standing
from pushbench.foundation.errors import UserError

TREND = ("push", "schedule")
"""the events of such runs, as in plans"""
EVENTS: Mapping[Source, str] = {"push": "push", "night": "schedule"}


class NoPoint(UserError):
    """A run that is not a point of the trend, with the reason."""


@dataclass(frozen=True)
class Origin:
    """The subject of a run of the trend, from GitHub's description, never from an artifact."""

    event: str
    """as in plans; empty for a continuation, which may be of either"""
    sha: str
    first: int
    """the first run in the chain"""


def origin(run: Run, home: Home) -> Origin:
    """The origin of the run. Raises NoPoint for a run that is not a point of the trend."""
    if run.event not in ("push", "workflow_dispatch"):
        raise _neither(run)
    found = standing(run, home)
    if not found.believed:
        raise NoPoint(f"the run {run.id} {found.doubt}")
    if found.continues is not None:
        return Origin("", found.sha, found.continues)
    if found.source not in EVENTS:
        raise _neither(run)
    return Origin(EVENTS[found.source], found.sha, run.id)


def _neither(run: Run) -> NoPoint:
    return NoPoint(f"the run {run.id} is neither a push nor a night, and does not continue one")
