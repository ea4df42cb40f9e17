"""The changes between the commits of an event. Runs git, and fetches the commits that the checkout lacks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pushbench.ci.event import Event
from pushbench.ci.fetching import fetch, has
from pushbench.ci.plan import Change
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import Answer, git
from pushbench.foundation.trees import content_at, resolve
from pushbench.judging import accepting


def read_change(root: Path, event: Event, token: str = "") -> Change | None:
    """The change; None if the event compares nothing. Raises UserError for commits that git does not find.

    `token` is the job's, for the commits of a private repository.
    """
    if event.pull_request:
        fetch(root, _missing(root, event.pull_request.base, event.pull_request.head), token)
        return _between(root, event.pull_request.base, event.pull_request.head)
    given = event.inputs
    if given.pull_request:
        if not given.head:
            raise UserError("the input pull_request needs the input head", hint="name the commit that you have read")
        newest = fetch(root, [f"refs/pull/{given.pull_request}/head"], token)
        if newest != given.head:
            raise UserError(
                f"pull request {given.pull_request} is at {newest[:12]}, not at {given.head[:12]}",
                hint="it has changed: read the new head and start again with it",
            )
        fetch(root, _missing(root, event.sha), token)
        return _between(root, event.sha, given.head, fetched=given.head)
    if given.base:
        return Change(_known(root, given.base, token), (), frozenset())
    return None


def _between(root: Path, base: str, head: str, fetched: str | None = None) -> Change:
    """The changes from the merge base to the head, without later changes of the base."""
    parted = git(root, "merge-base", base, head).text
    if not parted:
        raise UserError(
            f"{base[:12]} and {head[:12]} have no common commit",
            where=str(root),
            hint="rebase the pull request onto its base branch",
        )
    paths = _require(git(root, "diff", "--name-only", "--no-renames", "-z", parted, head)).output
    folders = _require(git(root, "ls-tree", "-d", "--name-only", "-z", parted, "servers/")).output
    names = frozenset(Path(folder).name for folder in folders.split("\0") if folder)
    changed = [path for path in paths.split("\0") if path]
    found = Change(parted, changed, names, fetched)
    return _with_accepted(root, found, head) if accepting.FILE in changed else found


def _with_accepted(root: Path, change: Change, head: str) -> Change:
    """The change with what its thresholds.yml newly accepts. An unreadable file accepts nothing."""
    try:
        before, after = (
            content_at(root, sha, accepting.FILE, accepting.LARGEST_FILE) or "" for sha in (change.base, head)
        )
    except UserError:
        return change
    return replace(
        change,
        accepts_only=accepting.accepts_only(before, after),
        accepted=accepting.newly_accepted(before, after),
    )


def _missing(root: Path, *commits: str) -> list[str]:
    return [sha for sha in commits if not has(root, sha)]


def _known(root: Path, ref: str, token: str) -> str:
    """The full hash of a commit in the history of the checkout, or of the newest commit of a branch of the origin.

    No other commit is fetched. GitHub also has commits of forks, by SHA and as refs/pull/, and the measuring machine
    would build and run the commit to compare with.
    """
    fetch(root, [], token)
    try:
        return resolve(root, ref)
    except UserError:
        return fetch(root, [f"refs/heads/{ref.removeprefix('refs/heads/')}"], token)


def _require(answer: Answer) -> Answer:
    if not answer.ok:
        raise UserError(f"git failed: {answer.error}")
    return answer
