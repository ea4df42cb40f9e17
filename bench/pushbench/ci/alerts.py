"""Opening, updating and closing issues, depending on the open ones.

An issue has one cause; in a flood, a single issue has all causes above the limit. The webhook gets a message when an
issue is opened or closed, but not for updates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from pushbench.ci import github_issues
from pushbench.ci.causes import Cause, marked
from pushbench.ci.github import GitHub
from pushbench.ci.github_issues import Issue, IssuesOff
from pushbench.reporting.markdown import escape

Note = Callable[[str], None]
Details = Mapping[Cause, Sequence[str]]
"""lines of Markdown for each cause, which are safe to show"""

MOST_OPENED = 5
"""issues for single causes that one run opens: a broken harness must not open a hundred"""
MOST_LISTED = 300
"""causes in one issue; the mark of that many takes at most half a body, and the text about the last ones is cut"""


@dataclass(frozen=True)
class Changes:
    opened: Sequence[frozenset[Cause]] = ()
    updated: Sequence[tuple[Issue, frozenset[Cause]]] = ()
    closed: Sequence[Issue] = ()
    duplicates: Sequence[Issue] = ()
    """of older ones: two runs that end at the same time may both open an issue"""


@dataclass(frozen=True)
class Words:
    """The text of one command's issues, as lines of Markdown."""

    details: Details
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    closing: str = ""


def decide(issues: Sequence[Issue], found: Set[Cause], mended: Callable[[Cause], bool]) -> Changes:
    """The changes for `found`. `mended` returns whether a cause that was not found was checked."""
    updated, closed, duplicates = [], [], []
    told: set[Cause] = set()
    for issue in issues:
        left = frozenset(cause for cause in issue.causes if cause in found or not mended(cause))
        if not left:
            closed.append(issue)
        elif left <= told:
            duplicates.append(issue)
        elif left & found or left != issue.causes:
            updated.append((issue, left))
        told |= left
    new = sorted(found - told)
    single, rest = (new, []) if len(new) <= MOST_OPENED else (new[: MOST_OPENED - 1], new[MOST_OPENED - 1 :])
    opened = [frozenset({cause}) for cause in single]
    if rest:
        opened.append(frozenset(rest[:MOST_LISTED]))
    return Changes(opened, updated, closed, duplicates)


def title(causes: Set[Cause]) -> str:
    if len(causes) == 1:
        return f"Pushbench: {next(iter(causes)).title}"
    return f"Pushbench: {len(causes)} further causes of red runs"


def body(causes: Set[Cause], words: Words) -> str:
    lines = [marked(causes), "", *words.before]
    for cause in sorted(causes):
        details = words.details.get(cause) or ["- The newest run did not check it again."]
        lines += ["", *([f"**{escape(cause.title)}**", ""] if len(causes) > 1 else []), *details]
    return "\n".join([*lines, "", *words.after])


def carry_out(github: GitHub, changes: Changes, words: Words, note: Note, tell: Note) -> None:
    """Apply the changes, and `tell` the webhook. A repository without issues gets a note. Raises GitHubError."""
    try:
        for causes in changes.opened:
            issue = github_issues.open_alert(github, title(causes), body(causes, words))
            note(f"issue opened: {issue.html_url}")
            tell(f"{github.repository}: {title(causes)}: {issue.html_url}")
        for issue, causes in changes.updated:
            github_issues.update_alert(github, issue, title(causes), body(causes, words))
            note(f"issue updated: {issue.html_url}")
        for issue in changes.closed:
            github_issues.close_alert(github, issue, words.closing)
            note(f"issue closed: {issue.html_url}")
            tell(f"{github.repository}: solved: {issue.title}: {issue.html_url}")
        for issue in changes.duplicates:
            github_issues.close_alert(github, issue, "An older issue reports the same cause.")
            note(f"issue closed, a duplicate: {issue.html_url}")
    except IssuesOff as error:
        note(str(error))
