"""One turn of the watch: schedules, checks that were left open or never created, and the benchmark machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pushbench.ci import alerts, github_issues, watching
from pushbench.ci.alerts import Note, Words
from pushbench.ci.causes import MACHINE, Cause
from pushbench.ci.github import GitHub
from pushbench.ci.github_changes import home
from pushbench.ci.github_connection import GitHubError
from pushbench.ci.github_dispatch import dispatch
from pushbench.ci.github_issues import IssuesOff
from pushbench.ci.github_workflows import (
    DatedRun,
    Runner,
    enable,
    jobs,
    runners,
    runs_since,
    workflows,
)
from pushbench.ci.reporting import CHECK
from pushbench.ci.sweeping import unchecked
from pushbench.ci.trust import BENCH
from pushbench.ci.watching import Queue
from pushbench.foundation.errors import UserError

SECOND_LOOK_SECONDS = 300.0
"""before an issue is opened: a just-in-time runner is unregistered for some time between two jobs"""
MOST_ENDED = 5
"""completed runs whose jobs are requested: the newest shows when the machine last had a job"""
MOST_COMMITS = 100
"""whose checks are requested, the newest"""


@dataclass(frozen=True)
class Watch:
    github: GitHub
    machines: GitHub | None
    """with a token that may list the machines"""
    note: Note
    tell: Note
    """gets the texts for the webhook"""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], None] = time.sleep

    def turn(self) -> None:
        """Do every part, even if another one fails. Raises UserError."""
        problems = []
        for part in (self._schedules, self._sweep, self._forks, self._alert):
            try:
                part()
            except UserError as error:
                problems.append(str(error))
        if problems:
            raise UserError("; ".join(problems))

    def _schedules(self) -> None:
        keep_alive(self.github, self.note)

    def _sweep(self) -> None:
        runs = self._runs()
        now = self.now()
        commits = list(dict.fromkeys(watching.subject(run) for run in watching.finished(runs, now)))[:MOST_COMMITS]
        found = {sha: self.github.check_runs(sha, CHECK) for sha in commits}
        for number in watching.to_report(runs, found, self._queue(runs), now):
            dispatch(
                self.github, watching.REPORT, home(self.github).default_branch, {"run": str(number)}, repeatable=True
            )
            self.note(f"report started for the run {number}, whose check was left open")

    def _forks(self) -> None:
        """Report for forks. A fork without bench.yml causes no reported run, on an idle repository maybe for days."""
        if found := unchecked(self.github):
            dispatch(self.github, watching.REPORT, home(self.github).default_branch, {}, repeatable=True)
            self.note(
                f"report started for pull requests without a check: {', '.join(str(each.number) for each in found)}"
            )

    def _alert(self) -> None:
        try:
            issues = github_issues.open_alerts(self.github)
        except IssuesOff as error:
            self.note(str(error))
            return
        open_issue = next((issue for issue in issues if MACHINE in issue.causes), None)
        queue, machines, gone = self._look()
        if gone and open_issue is None:
            self.note(f"the machine seems to be gone: looking again in {SECOND_LOOK_SECONDS:.0f} s")
            self.sleep(SECOND_LOOK_SECONDS)
            queue, machines, gone = self._look()
        opened = open_issue.created_at if open_issue else None
        now = self.now()
        back = opened is not None and watching.is_back(queue, machines, now, opened)
        gone_lines = watching.absence(queue, machines, now, opened) if gone else []
        details = watching.causes(gone_lines, workflows(self.github))
        changes = alerts.decide(issues, set(details), lambda cause: _mended(cause, back=back))
        words = Words(details, closing="Solved: Pushbench checked again and found no problem.")
        alerts.carry_out(self.github, changes, words, self.note, self.tell)

    def _look(self) -> tuple[Queue, list[Runner] | None, bool]:
        queue, machines = self._queue(self._runs()), self._machines()
        return queue, machines, watching.is_gone(queue, machines, self.now())

    def _runs(self) -> list[DatedRun]:
        return runs_since(self.github, BENCH, self.now() - watching.LISTED)

    def _queue(self, runs: list[DatedRun]) -> Queue:
        ended = sorted((run for run in runs if run.status == "completed"), key=lambda run: run.updated)
        asked = [*(run for run in runs if run.status != "completed"), *ended[-MOST_ENDED:]]
        return watching.read_queue([(run, jobs(self.github, run)) for run in asked], self.github.repository)

    def _machines(self) -> list[Runner] | None:
        """The machines; None without a token, or if GitHub refuses it: the queue shows most of it, but later."""
        if self.machines is None:
            return None
        try:
            return runners(self.machines)
        except GitHubError as error:
            self.note(
                f"the machines cannot be listed with PUSHBENCH_RUNNERS_TOKEN, so only the queue is watched: {error}"
            )
            return None


def keep_alive(github: GitHub, note: Note) -> None:
    """Enable what GitHub disabled in an idle repository. Failures become notes. Raises GitHubError."""
    for each in watching.to_enable(workflows(github)):
        try:
            enable(github, each)
        except GitHubError as error:
            note(f"{each.file} cannot be enabled: {error}")
            continue
        if each.state != "active":
            note(f"{each.file} was disabled after 60 idle days; enabled it again")


def _mended(cause: Cause, *, back: bool) -> bool:
    return cause.kind == "workflow" or (cause.kind == "machine" and back)
