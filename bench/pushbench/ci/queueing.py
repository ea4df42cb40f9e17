"""The place of a run in the queue for the one machine, and the minutes to go by earlier runs. Pure.

GitHub does not say which of the jobs of a repository a runner takes next; it takes about the oldest.
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
"""of the machine that measures, as `runs-on` of the job bench names them; it takes jobs that ask for some of them"""
MEASURED = ("success", "failure")
"""conclusions of runs that took as long as a run takes"""
SHORTEST_SECONDS = 120.0
"""runs that ended sooner measured nothing"""
MOST_RUNS = 10
"""of one kind whose duration counts"""


@dataclass(frozen=True)
class Place:
    before: int
    """runs that wait or run ahead of it"""
    minutes: int | None
    """until it ends, about; None where no run of its kind has ended lately"""

    def __str__(self) -> str:
        ahead = f"{self.before} run{'' if self.before == 1 else 's'} before it" if self.before else "next in the queue"
        return ahead + (f", about {self.minutes} minutes to go" if self.minutes is not None else "")


def waiting(runs: Iterable[Run], home: Home) -> list[Run]:
    """Those that want the machine, the oldest first. Runs of other repositories' heads never get it."""
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
    """Seconds that the run has still to go once it has the machine."""
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
