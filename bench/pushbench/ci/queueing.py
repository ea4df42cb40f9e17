"""The place of a run in the queue for the one machine, and the remaining minutes, from earlier runs. Pure.

GitHub does not document which of a repository's jobs a runner takes next; it is roughly the oldest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from statistics import median

from pushbench.ci.github_answers import Run
from pushbench.ci.trust import DISPATCHED, Home, of_foreign_head

LABELS = frozenset({"self-hosted", "pushbench"})
"""of the machine that measures, as in `runs-on` of the job bench; it takes jobs that request any subset of them"""
MEASURED = ("success", "failure")
"""conclusions of runs with a representative duration"""
SHORTEST_SECONDS = 120.0
"""shorter runs measured nothing"""
MOST_RUNS = 10
"""of one kind that count for its duration"""


@dataclass(frozen=True)
class Place:
    before: int
    """earlier runs that wait or run"""
    minutes: int | None
    """until it ends, approximately; None if no run of its kind has ended recently"""

    def __str__(self) -> str:
        ahead = f"{self.before} run{'' if self.before == 1 else 's'} before it" if self.before else "next in the queue"
        return ahead + (f", about {self.minutes} minutes to go" if self.minutes is not None else "")


def waiting(runs: Iterable[Run], home: Home) -> list[Run]:
    """The runs that need the machine, oldest first. Runs with a head in another repository never get it."""
    wanted = [
        run
        for run in runs
        if run.status != "completed" and run.event != "merge_group" and not of_foreign_head(run, home)
    ]
    return sorted(wanted, key=lambda run: (run.created_at, run.id))


def place(run: Run, runs: Sequence[Run], home: Home, now: datetime) -> Place:
    """The place of `run` among the newest runs of the workflow."""
    ahead = [each for each in waiting(runs, home) if (each.created_at, each.id) < (run.created_at, run.id)]
    left = [_left(each, runs, now) for each in (*ahead, run)]
    known = [each for each in left if each is not None]
    return Place(len(ahead), ceil(sum(known) / 60) if len(known) == len(left) else None)


def _left(run: Run, runs: Sequence[Run], now: datetime) -> float | None:
    """The remaining seconds of the run once it has the machine."""
    took = [seconds for each in runs if _kind(each) == _kind(run) and (seconds := _took(each)) is not None]
    if not took:
        return None
    began = _time(run.run_started_at) if run.status == "in_progress" else None
    spent = (now - began).total_seconds() if began else 0.0
    return max(60.0, median(took[:MOST_RUNS]) - spent)


def _kind(run: Run) -> str:
    named = DISPATCHED.fullmatch(run.display_title) if run.event == "workflow_dispatch" else None
    return "pull_request" if named else run.event


def _took(run: Run) -> float | None:
    began, ended = _time(run.run_started_at), _time(run.updated_at)
    if run.status != "completed" or run.conclusion not in MEASURED or began is None or ended is None:
        return None
    seconds = (ended - began).total_seconds()
    return seconds if seconds >= SHORTEST_SECONDS else None


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None
