"""Alerts for a finished run of main: issues for its causes, and the webhook. Reads artifacts as data only."""

from __future__ import annotations

from pushbench.ci import alerting, alerts, github_issues
from pushbench.ci.alerts import Note, Words
from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Run
from pushbench.ci.github_changes import home
from pushbench.ci.github_connection import GitHubError
from pushbench.ci.github_dispatch import COMPLETED
from pushbench.ci.reporting import fetch_results
from pushbench.ci.trend import NoPoint, origin
from pushbench.ci.trust import WORKFLOW
from pushbench.foundation.errors import UserError


def alert(github: GitHub, run_id: int, note: Note, tell: Note) -> None:
    """Open, update and close issues; `tell` gets the texts for the webhook. Raises UserError."""
    run = github.run(run_id)
    if run.workflow_file != WORKFLOW or run.event not in ("push", "workflow_dispatch"):
        note("no alert: the run is neither a push nor a night")
        return
    if run.status != COMPLETED:
        note("no alert yet: the run has not ended")
        return
    try:
        night = _event(github, run) == "schedule"
    except NoPoint as error:
        note(f"no alert: {error}")
        return
    try:
        told = alerting.read_run(run, github.jobs(run.id), *fetch_results(github, run))
        issues = github_issues.open_alerts(github)
    except GitHubError:
        raise
    except UserError as error:  # results from another version of Pushbench, or no issues
        note(f"no alert: {error}")
        return
    changes = alerts.decide(issues, set(told.causes), lambda cause: night and told.mended(cause))
    words = Words(told.causes, alerting.before(run, night=night), alerting.AFTER, alerting.closing(run))
    alerts.carry_out(github, changes, words, note, tell)
    if not told.causes:
        note("nothing to report: the run is green")


def _event(github: GitHub, run: Run) -> str:
    """`push` or `schedule`, also for a continuation of such a run. Raises NoPoint for other runs."""
    own = home(github)
    begun = origin(run, own)
    if begun.event:
        return begun.event
    return origin(github.run(begun.first), own).event
