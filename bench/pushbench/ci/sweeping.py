"""Gives a waiting status to pull requests of forks whose newest commit has no status of ours.

`report` follows the runs of bench.yml. A fork can delete that file and have a job with the required name elsewhere;
that job's check run would be the only one, and would count.
"""

from __future__ import annotations

from pydantic import TypeAdapter

from pushbench.ci.drafting import Draft
from pushbench.ci.drafting_states import WAITING, commands_of_a_maintainer
from pushbench.ci.github import READ_PULLS, GitHub
from pushbench.ci.github_answers import PullRequest
from pushbench.ci.github_changes import home
from pushbench.ci.github_statuses import Status, set_status, status
from pushbench.ci.reporting import CHECK, Note
from pushbench.ci.trust import Origin, origin_of
from pushbench.reporting.comment import Link, Message, comment

MOST_PULL_REQUESTS = 50
"""the most recently changed; each takes one request, of the thousand per hour that a repository's token has"""
NO_RUN = Origin(0, "doubted")
"""for a check that no run caused, which every run may replace"""
PULLS = TypeAdapter(list[PullRequest])


def sweep(github: GitHub, note: Note) -> list[int]:
    """The numbers of the pull requests whose head got a check. Raises UserError."""
    found = unchecked(github)
    for pull in found:
        _write(github, pull)
        note(f"pull request {pull.number}: no run of bench is known for {pull.head.sha[:12]}; its check waits")
    return [pull.number for pull in found]


def unchecked(github: GitHub) -> list[PullRequest]:
    """The open pull requests of forks whose head has no status of ours. Raises UserError."""
    own = home(github).name
    query = {"state": "open", "sort": "updated", "direction": "desc"}
    pulls = next(github.pages("/pulls", READ_PULLS, PULLS, query), [])[:MOST_PULL_REQUESTS]
    of_forks = [pull for pull in pulls if pull.head.repo is None or pull.head.repo.full_name != own]
    return [pull for pull in of_forks if status(github, pull.head.sha, CHECK) is None]


def _write(github: GitHub, pull: PullRequest) -> None:
    drafted = _draft(pull)
    said = Status(context=CHECK, state=drafted.state, description=drafted.title, target_url=pull.html_url)
    set_status(github, pull.head.sha, said)
    github.check_run(
        pull.head.sha,
        name=CHECK,
        conclusion=drafted.conclusion,
        title=drafted.title,
        summary=drafted.summary,
        external_id=str(NO_RUN),
        own=origin_of,
    )


def _draft(pull: PullRequest) -> Draft:
    said = Message(
        outcome="action_required",
        parts=(),
        sentences=["No run of `bench.yml` is known for this commit, so nothing was measured yet."],
        links=[Link("Pull request", pull.html_url)],
        headline=WAITING,
        advice=[
            "You need not do anything. A maintainer who has read this commit starts the measurement, by a command or "
            "by a comment:"
        ],
        commands=commands_of_a_maintainer(pull.number, pull.head.sha),
    )
    return Draft(WAITING, comment(said), "action_required", waits=True)
