"""The conclusions of `watch` from lists of runs, jobs, machines and workflows, and their sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pushbench.ci.causes import MACHINE, Cause
from pushbench.ci.github_answers import CheckRun
from pushbench.ci.github_workflows import DatedRun, QueuedJob, Runner, Workflow
from pushbench.ci.queueing import LABELS
from pushbench.ci.trust import BENCH, CONTINUED, DISPATCHED, origin_of
from pushbench.reporting.markdown import escape

REPORT = "report.yml"
SCHEDULED = ("night.yml", "watch.yml")
WATCHED = (BENCH, "publish.yml", REPORT, *SCHEDULED)
LABEL = "pushbench"
"""our own one of the two labels in bench.yml; a job that requests more labels is for another machine"""

LONGEST_WAIT = timedelta(minutes=30)
"""of a job while the machine is idle: between two jobs it cleans up and registers again, for some minutes"""
LONGEST_QUEUE = timedelta(hours=24)
"""after which GitHub cancels a job (https://docs.github.com/en/actions/reference/limits)"""
SWEPT = timedelta(days=2)
LISTED = SWEPT + 2 * LONGEST_QUEUE
"""age of the oldest run that is checked: it may have waited before it ended"""
SETTLED = timedelta(minutes=15)
"""after a run's end: its report is still being written"""
UNREPORTED = timedelta(hours=3)
"""after a run's end: until then, a commit without any check gets another report"""
MOST_SWEPT = 10
MOST_SHOWN = 10
DISABLED_BY_GITHUB = "disabled_inactivity"


@dataclass(frozen=True)
class Waiting:
    run: DatedRun
    since: datetime


@dataclass(frozen=True)
class Queue:
    """The jobs for the benchmark machine."""

    waiting: Sequence[Waiting]
    """the oldest first"""
    busy: bool
    """a job is in progress"""
    last_ended: datetime | None
    """when the newest job ended that a machine had taken"""

    def overdue(self, now: datetime) -> list[Waiting]:
        """The jobs that have waited too long since the machine's last job ended."""
        return [each for each in self.waiting if now - max(each.since, self.last_ended or each.since) > LONGEST_WAIT]


def read_queue(found: Sequence[tuple[DatedRun, Sequence[QueuedJob]]], repository: str) -> Queue:
    """The queue from runs with their jobs. Runs of forks do not count: they may request any machine, and get none."""
    own = [
        (run, jobs)
        for run, jobs in found
        if run.head_repository is not None and run.head_repository.full_name.lower() == repository.lower()
    ]
    mine = [(run, job) for run, jobs in own for job in jobs if LABEL in job.labels and LABELS.issuperset(job.labels)]
    at_work = {run.id for run, jobs in own if any(job.status == "in_progress" for job in jobs)}
    waiting = [Waiting(run, job.created_at) for run, job in mine if job.status == "queued" and run.id not in at_work]
    ended = [job.completed_at for _, job in mine if job.status == "completed" and job.runner_id and job.completed_at]
    return Queue(
        sorted(waiting, key=lambda each: each.since),
        any(job.status == "in_progress" for _, job in mine),
        max(ended, default=None),
    )


def online(machines: Sequence[Runner]) -> list[Runner]:
    return [each for each in machines if each.status == "online" and LABEL in {label.name for label in each.labels}]


def is_gone(queue: Queue, machines: Sequence[Runner] | None, now: datetime) -> bool:
    """`machines` are None if no token may list them. A working machine may be listed as offline for a while
    (https://github.com/actions/runner/issues/3448).
    """
    if queue.busy:
        return False
    return bool(queue.overdue(now)) or (machines is not None and not online(machines))


def is_back(queue: Queue, machines: Sequence[Runner] | None, now: datetime, opened: datetime) -> bool:
    """Whether there is evidence for it; an empty queue is none."""
    if is_gone(queue, machines, now):
        return False
    return queue.busy or bool(online(machines or ())) or (queue.last_ended is not None and queue.last_ended > opened)


def absence(queue: Queue, machines: Sequence[Runner] | None, now: datetime, opened: datetime | None) -> list[str]:
    """The text of the issue: since when, what waits, where to look, how it is closed. `opened` is its time."""
    overdue = queue.overdue(now)
    since = min([each.since for each in overdue] + [opened or now])
    if queue.last_ended and queue.last_ended < (opened or now):
        since = max(since, queue.last_ended)
    lines = [f"The benchmark machine takes no jobs, seen since {_time(since)}.", ""]
    if machines is not None:
        there = online(machines)
        lines.append(
            f"- GitHub lists a machine with the label `{LABEL}` as online, but it takes no job."
            if there
            else f"- GitHub lists no machine with the label `{LABEL}` as online."
        )
    lines += [f"- Waiting since {_time(each.since)}: {_link(each.run)}" for each in queue.waiting[:MOST_SHOWN]]
    if len(queue.waiting) > MOST_SHOWN:
        lines.append(f"- and {len(queue.waiting) - MOST_SHOWN} more")
    if not queue.waiting:
        lines.append("- No job waits at the moment.")
    return [*lines, "", *ON_THE_MACHINE]


ON_THE_MACHINE = (
    "GitHub cancels a job that has waited for 24 hours.",
    "",
    "On the machine:",
    "",
    "```sh",
    "systemctl status pushbench-runner",
    "journalctl -u pushbench-runner -u 'pushbench-github@*' -u pushbench-job --since -1d",
    "```",
    "",
    "Common reasons: the machine or its network is down; the token of `pushbench-github` has expired (401 in the "
    "journal); the runner is too old for GitHub; cleaning failed, after which it takes no further job. "
    "`compose/runner/README.md` has details.",
    "",
    "Pushbench checks every hour. It closes this issue when the machine takes a job or when GitHub lists it as online.",
)


def finished(runs: Sequence[DatedRun], now: datetime) -> list[DatedRun]:
    """The recently ended runs whose report should be done. Runs of forks that wait for an approval are left out."""
    return [
        run
        for run in runs
        if run.status == "completed" and run.conclusion != "action_required"
        if SETTLED < now - run.updated < SWEPT
    ]


def subject(run: DatedRun) -> str:
    """The commit that has the check."""
    if run.event != "workflow_dispatch":
        return run.head_sha
    named = DISPATCHED.fullmatch(run.display_title) or CONTINUED.fullmatch(run.display_title)
    return named[2] if named else run.head_sha


def origin(check: CheckRun) -> int | None:
    """The run of the check; None if report.yml did not write it."""
    found = origin_of(check.external_id)
    return found.run if found else None


def to_report(
    runs: Sequence[DatedRun], checks: Mapping[str, Sequence[CheckRun]], queue: Queue, now: datetime
) -> list[int]:
    """The runs whose check has to be completed: `checks` are those of each commit. At most `MOST_SWEPT`."""
    going_on = {subject(run) for run in runs if run.status != "completed"}
    found = [each.run.id for each in queue.waiting if now - each.since > LONGEST_QUEUE]
    for sha, of_commit in checks.items():
        ended = [run for run in finished(runs, now) if subject(run) == sha]
        if not ended or sha in going_on:
            continue
        newest = max(ended, key=lambda run: run.id)
        check = max((each for each in of_commit if origin(each)), key=lambda each: each.id, default=None)
        if check is None and now - newest.updated < UNREPORTED:
            found.append(newest.id)
        elif check is not None and check.status != "completed":
            found.append(next((run.id for run in ended if run.id == origin(check)), newest.id))
    return list(dict.fromkeys(found))[:MOST_SWEPT]


def to_enable(workflows: Sequence[Workflow]) -> list[Workflow]:
    """The workflows that GitHub disabled, and each with a schedule. Others rely on it that enabling an active workflow
    restarts its 60 days (https://github.com/liskin/gh-workflow-keepalive), but it is not documented.
    """
    return [
        each
        for each in workflows
        if (each.file in WATCHED and each.state == DISABLED_BY_GITHUB)
        or (each.file in SCHEDULED and each.state == "active")
    ]


def switched_off(workflows: Sequence[Workflow]) -> dict[Cause, list[str]]:
    """The issue's text for each workflow that a user, or the creation of a fork, has disabled."""
    return {
        Cause.of("workflow", each.file, each.state): list(_off(each))
        for each in workflows
        if each.file in WATCHED and each.state.startswith("disabled_")
    }


def causes(gone: Sequence[str], workflows: Sequence[Workflow]) -> dict[Cause, Sequence[str]]:
    """`gone` is the text about the machine, empty if the machine is there."""
    return {**({MACHINE: gone} if gone else {}), **switched_off(workflows)}


def _off(workflow: Workflow) -> Iterator[str]:
    yield f"- GitHub lists `{workflow.file}` as {escape(workflow.state)}."
    if workflow.state == DISABLED_BY_GITHUB:
        yield "- Pushbench tried to enable it and could not."
    yield f"- Enable it: `gh workflow enable {workflow.file}`, or Actions, its name, *Enable workflow*."
    yield "- Pushbench closes this issue within an hour after that."


def _link(run: DatedRun) -> str:
    return f"[run {run.id} ({escape(run.event)})]({run.html_url})"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
