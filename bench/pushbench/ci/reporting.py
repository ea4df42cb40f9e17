"""From a finished workflow run to a comment and a check run. Reads artifacts as data, and runs nothing of them."""

from __future__ import annotations

import re
from collections.abc import Callable

from pushbench.ci.drafting import Draft, draft
from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import PullRequest, Run
from pushbench.ci.result import LARGEST_ARCHIVE, Results, parse_results, unzip
from pushbench.errors import UserError

Note = Callable[[str], None]

WORKFLOW = ".github/workflows/bench.yml"
CHECK = "Pushbench"
RESULTS, PLAN = "results", "plan"
"""artifacts of a run: of the job that measured, and of the one that planned, where nothing was to be measured"""
DISPATCHED = re.compile(r"bench pull request (\d{1,9}) at ([0-9a-f]{40})", re.ASCII)
"""the name that bench.yml gives to runs that a maintainer started for a fork"""


def report(github: GitHub, run_id: int, site: str, note: Note) -> Draft:
    """Tell the pull request, if the run was of one, and the commit. Raises UserError."""
    run = expected_run(github, run_id)
    results, problem = fetch_results(github, run)
    drafted = draft(run, github.jobs(run.id), results, problem, site)
    sha, pull = _subject(github, run)
    url = github.check_run(
        sha,
        name=CHECK,
        conclusion=drafted.conclusion,
        title=drafted.title,
        summary=drafted.summary,
        annotations=drafted.annotations,
        details_url=run.html_url,
        external_id=CHECK,
    )
    note(f"check run: {drafted.conclusion}: {url}")
    if pull:
        note(f"comment: {github.upsert_comment(pull.number, comment_mark(drafted), drafted.comment)}")
    elif run.event in ("pull_request", "workflow_dispatch"):
        note("no comment: the commit is the head of no open pull request now")
    return drafted


def comment_mark(drafted: Draft) -> str:
    return drafted.comment.partition("\n")[0]


def expected_run(github: GitHub, run_id: int) -> Run:
    """Raises UserError for a run of another workflow: its artifacts could be anybody's."""
    run = github.run(run_id)
    if run.workflow_file != WORKFLOW:
        raise UserError(f"the run {run_id} is of {run.workflow_file!r}, not of {WORKFLOW}")
    return run


def fetch_results(github: GitHub, run: Run) -> tuple[Results | None, str]:
    """What the run left, or why that cannot be used; neither where it left nothing."""
    artifacts = {each.name: each for each in github.artifacts(run.id) if not each.expired}
    found = artifacts.get(RESULTS) or artifacts.get(PLAN)
    if found is None:
        return None, ""
    try:
        return parse_results(unzip(github.download(found, LARGEST_ARCHIVE)), f"artifact {found.name}"), ""
    except UserError as error:
        return None, str(error)


def _subject(github: GitHub, run: Run) -> tuple[str, PullRequest | None]:
    """The commit that the run is about, and the open pull request whose head it is; never by what an artifact says."""
    if run.event == "workflow_dispatch":
        named = DISPATCHED.fullmatch(run.display_title)
        if not named:
            return run.head_sha, None
        pull = github.pull_request(int(named[1]))
        current = pull.state == "open" and pull.head.sha == named[2]
        return named[2], pull if current else None
    if run.event == "pull_request":
        found = github.pull_requests_of(run)
        return run.head_sha, found[0] if found else None
    return run.head_sha, None
