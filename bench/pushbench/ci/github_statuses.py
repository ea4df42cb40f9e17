"""Commit statuses. A fork's workflow can have a job of any name, which is a check run, but it cannot write a status.

https://docs.github.com/en/rest/commits/statuses
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import TypeAdapter

from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import Answer, Text
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line

State = Literal["pending", "success", "failure", "error"]
WRITE_STATUSES = "statuses: write"
MOST_DESCRIPTION = 140
"""characters; GitHub's maximum"""


class Status(Answer):
    context: str
    state: State
    description: Text = ""
    target_url: Text = ""


STATUS, STATUSES = TypeAdapter(Status), TypeAdapter(list[Status])


def status(github: GitHub, sha: str, context: str) -> Status | None:
    """The newest status of that context, which is the one that counts."""
    for page in github.pages(f"/commits/{_commit(sha)}/statuses", WRITE_STATUSES, STATUSES):
        for each in page:  # GitHub lists the newest first
            if each.context == context:
                return each
    return None


def set_status(github: GitHub, sha: str, wanted: Status) -> bool:
    """Write the status unless it exists: GitHub allows 1,000 of a context per commit. Returns whether it wrote."""
    bounded = wanted.model_copy(update={"description": one_line(wanted.description, MOST_DESCRIPTION)})
    if status(github, sha, wanted.context) == bounded:
        return False
    github.ask("POST", f"/statuses/{_commit(sha)}", WRITE_STATUSES, STATUS, body=bounded.model_dump())
    return True


def _commit(sha: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{40}", sha):
        raise UserError(f"expected the full SHA of a commit, found {sha[:200]!r}")
    return sha
