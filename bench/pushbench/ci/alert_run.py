"""Tell of a finished run of main: issues for its causes, and the webhook. Reads artifacts as data."""

from __future__ import annotations

from pushbench.ci import alerting, alerts, github_issues
from pushbench.ci.alerts import Note, Words
from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Run
from pushbench.ci.github_dispatch import default_branch
from pushbench.ci.github_issues import IssuesOff
from pushbench.ci.reporting import expected_run, fetch_results

MOST_CONTINUED = 20
"""runs of one chain, each of which gave way to a pull request"""


def alert(github: GitHub, run_id: int, note: Note, tell: Note) -> None:
    """Open, update and close issues; `tell` takes the texts for the webhook. Raises UserError."""
    run = expected_run(github, run_id)
    if run.status != "completed":
        note("no alert yet: the run has not ended")
        return
    if not alerting.may_be_of_main(run, github.repository) or run.head_branch != default_branch(github):
        note("no alert: the run is not of the default branch")
        return
    first = _first(github, run)
    night = alerting.is_night(first)
    if not night and first.event != "push":
        note("no alert: the run is neither a push to the default branch nor a night")
        return
    told = alerting.read_run(run, github.jobs(run.id), *fetch_results(github, run))
    try:
        issues = github_issues.open_alerts(github)
    except IssuesOff as error:
        note(str(error))
        return
    changes = alerts.decide(issues, set(told.causes), lambda cause: night and told.mended(cause))
    words = Words(told.causes, alerting.before(run, night=night), alerting.AFTER, alerting.closing(run))
    alerts.carry_out(github, changes, words, note, tell)
    if not told.causes:
        note("nothing to tell: the run is green")


def _first(github: GitHub, run: Run) -> Run:
    """The run that this one goes on with, or itself."""
    for _ in range(MOST_CONTINUED):
        if (number := alerting.continued(run)) is None:
            return run
        run = expected_run(github, number)
    return run
