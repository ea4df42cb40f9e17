"""The alert issues of a repository: those with our label, opened by our own app, whose body begins with a mark.

They are listed instead of searched for: GitHub's search index includes a new issue only after a while.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import TypeAdapter

from pushbench.ci.causes import Cause, causes_of
from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Account, Answer, Comment, Label, Text
from pushbench.ci.github_connection import GitHubError
from pushbench.foundation.errors import UserError

READ, WRITE = "issues: read", "issues: write"
LABEL = "pushbench"
MOST_TITLE = 256
MOST_BODY = 65_536
"""characters; GitHub's maximum"""
GONE, UNPROCESSABLE = 410, 422


class Issue(Answer):
    number: int
    title: str
    body: Text
    html_url: str
    created_at: datetime
    user: Account | None
    labels: list[Label]
    pull_request: object | None = None
    """GitHub lists pull requests among the issues, with this field (https://docs.github.com/en/rest/issues/issues)"""

    @property
    def causes(self) -> frozenset[Cause]:
        return causes_of(self.body)


ISSUE, ISSUES, LABELED = TypeAdapter(Issue), TypeAdapter(list[Issue]), TypeAdapter(Label)
COMMENT, COMMENTS = TypeAdapter(Comment), TypeAdapter(list[Comment])


class IssuesOff(UserError):
    """The repository has no issues (GitHub answers 410)."""

    def __init__(self) -> None:
        super().__init__(
            "issues are disabled in this repository, so no alert can be opened",
            hint="Settings > General > Features > Issues",
        )


def open_alerts(github: GitHub) -> list[Issue]:
    """The open alerts, oldest first. Raises IssuesOff and GitHubError."""
    query = {"state": "open", "labels": LABEL, "sort": "created", "direction": "asc"}
    try:
        listed = [issue for page in github.pages("/issues", READ, ISSUES, query) for issue in page]
    except GitHubError as error:
        raise _refused(error) from None
    return [issue for issue in listed if _ours(github, issue)]


def open_alert(github: GitHub, title: str, body: str) -> Issue:
    """Open an issue. Raises IssuesOff and GitHubError."""
    wanted = causes_of(body)
    if not wanted:
        raise ValueError("an issue without a mark would not be found again")
    _ensure_label(github)

    def already() -> Issue | None:
        return next((issue for issue in open_alerts(github) if issue.causes == wanted), None)

    sent = {"title": title[:MOST_TITLE], "body": body[:MOST_BODY], "labels": [LABEL]}
    try:
        issue = github.ask("POST", "/issues", WRITE, ISSUE, body=sent, already=already)
    except GitHubError as error:
        raise _refused(error) from None
    if LABEL in {label.name for label in issue.labels}:
        return issue
    # GitHub silently drops labels that the token may not set. Without the label, the issue is never found again.
    return github.ask("PATCH", f"/issues/{issue.number:d}", WRITE, ISSUE, body={"labels": [LABEL]})


def update_alert(github: GitHub, issue: Issue, title: str, body: str) -> None:
    """Update an issue. Raises GitHubError."""
    sent = {"title": title[:MOST_TITLE], "body": body[:MOST_BODY]}
    if (issue.title, issue.body.replace("\r\n", "\n")) != (sent["title"], sent["body"]):
        github.ask("PATCH", f"/issues/{issue.number:d}", WRITE, ISSUE, body=sent)


def close_alert(github: GitHub, issue: Issue, comment: str) -> None:
    """Close, then say why: an issue that stays open would get the comment again each time. Raises GitHubError."""
    path = f"/issues/{issue.number:d}"
    github.ask("PATCH", path, WRITE, ISSUE, body={"state": "closed", "state_reason": "completed"})

    def already() -> Comment | None:
        pages = github.pages(f"{path}/comments", READ, COMMENTS)
        return next((each for page in pages for each in page if each.body == comment), None)

    github.ask("POST", f"{path}/comments", WRITE, COMMENT, body={"body": comment[:MOST_BODY]}, already=already)


def _ours(github: GitHub, issue: Issue) -> bool:
    """Whether our app opened the issue: any user may write a mark."""
    by_us = issue.user is not None and issue.user.login == f"{github.app}[bot]"
    return by_us and issue.pull_request is None and bool(issue.causes)


def _ensure_label(github: GitHub) -> None:
    """Create the label. GitHub used to create unknown labels of new issues, and stopped doing so for apps in January
    2025 (https://github.com/octokit/rest.js/issues/479).
    """
    sent = {"name": LABEL, "color": "b60205", "description": "Opened and closed by Pushbench"}
    try:
        github.ask("POST", "/labels", WRITE, LABELED, body=sent)
    except GitHubError as error:
        if error.status != UNPROCESSABLE:  # it exists: https://docs.github.com/en/rest/issues/labels#create-a-label
            raise _refused(error) from None


def _refused(error: GitHubError) -> UserError:
    return IssuesOff() if error.status == GONE else error
