"""Carrying out the commands of comments: permission, reaction, run, and the one reply.

Shapes: https://docs.github.com/en/rest, below collaborators, reactions, actions/workflows and issues/comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pydantic import TypeAdapter

from pushbench.ci import commanding
from pushbench.ci.commanding import Answer, CommentEvent, Known, Pull
from pushbench.ci.github import COMMENTS, READ_PULLS, WRITE_PULLS, GitHub
from pushbench.ci.github_answers import Answer as Shape
from pushbench.ci.github_changes import READ_METADATA
from pushbench.ci.github_connection import GitHubError
from pushbench.ci.github_dispatch import Started, dispatch
from pushbench.ci.trust import BENCH
from pushbench.foundation.errors import UserError
from pushbench.reporting.markdown import escape

MAY = ("admin", "write")
"""`permission` is one of admin, write, read and none. It maps maintain to write, triage to read, and a custom role to
its base role (https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user).
`author_association` of a comment is not enough: a COLLABORATOR may have been invited with read access only."""


class Permission(Shape):
    permission: str


class Reaction(Shape):
    content: str


PERMISSION, REACTION = TypeAdapter(Permission), TypeAdapter(Reaction)


def obey(github: GitHub, event: CommentEvent, known: Known, note: Callable[[str], None]) -> None:
    """Carry out the command and reply once. Raises GitHubError, after a reply if one is possible."""
    command = commanding.parse(event.body)
    if command is None:
        note("the first line of the comment is not a command")
        return
    if not may_write(github, event.login):
        react(github, event.comment, "confused")  # without a reply: strangers must not be able to trigger comments
        note(f"{event.login} has no write access: nothing is started")
        return
    react(github, event.comment, "eyes")
    decided: Mapping[str, str] | Answer = command if isinstance(command, Answer) else {}
    if not isinstance(command, Answer):
        decided = commanding.decide(command, pull_request(github, event.number), known)
    if isinstance(decided, Answer):
        reply(github, event, commanding.refused(event.comment, decided))
        note("replied, and nothing is started")
        return
    run = under_way(github, event.number, decided)
    before = run is not None
    if run is None:
        try:
            run = dispatch(github, BENCH, event.default_branch, decided, title=_title(decided))
        except GitHubError as error:
            sentence = f"Nothing is started: {escape(error.what)}. The log of the workflow `command` has details."
            reply(github, event, commanding.refused(event.comment, Answer(sentence, ())))
            raise
    url = run.html_url
    body = commanding.started(event.comment, decided, run.workflow_run_id, url, before=before)
    reply(github, event, body)
    note(f"{'under way already' if before else 'started'}: {url}")


def _title(inputs: Mapping[str, str]) -> str:
    """The name of such a run in bench.yml."""
    return commanding.TITLE.format(number=inputs["pull_request"], head=inputs["head"])


def may_write(github: GitHub, login: str) -> bool:
    """Whether that user may push. GitHub answers 404 for unknown users."""
    try:
        path = f"/collaborators/{login}/permission"
        return github.ask("GET", path, READ_METADATA, PERMISSION).permission in MAY
    except GitHubError as error:
        if error.status == 404:
            return False
        raise


def react(github: GitHub, comment: int, content: str) -> None:
    """Add a reaction; repeating it changes nothing."""
    github.ask("POST", f"/issues/comments/{comment:d}/reactions", WRITE_PULLS, REACTION, body={"content": content})


def pull_request(github: GitHub, number: int) -> Pull:
    """The pull request in its current state."""
    found = github.pull_request(number)
    if not re.fullmatch(r"[0-9a-f]{40}", found.head.sha):
        raise UserError(f"pull request {number} has an invalid head: {found.head.sha[:100]!r}")
    head, base = (side.repo.id if side.repo else None for side in (found.head, found.base))
    own = commanding.trusted(head, base, found.user.login if found.user else None)
    return Pull(found.number, found.state == "open", found.head.sha, own)


def under_way(github: GitHub, number: int, inputs: Mapping[str, str]) -> Started | None:
    """The unfinished run that the same command has started, according to our own replies."""
    wanted = commanding.digest(inputs)
    runs = [
        run
        for page in github.pages(f"/issues/{number:d}/comments", READ_PULLS, COMMENTS)
        for comment in page
        if comment.user and comment.user.login == f"{github.app}[bot]"
        if (run := commanding.run_of(comment.body, wanted)) is not None
    ]
    if not runs:
        return None
    try:
        found = github.run(max(runs))
    except GitHubError as error:
        if error.status == 404:  # the run was deleted
            return None
        raise
    ended = found.status == "completed"
    return None if ended else Started(workflow_run_id=found.id, html_url=found.html_url)


def reply(github: GitHub, event: CommentEvent, body: str) -> str:
    """Write one reply per command: if the job is repeated, it updates its reply."""
    return github.upsert_comment(event.number, commanding.mark(event.comment), body)
