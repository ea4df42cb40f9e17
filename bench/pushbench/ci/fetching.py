"""The commits that a shallow checkout lacks: only those that a job needs, with their complete history.

`fetch-depth: 0` fetches every branch and tag, including gh-pages with its records, some gigabytes a year
(getRefSpecForAllHistory in https://github.com/actions/checkout/blob/main/src/ref-helper.ts). History is needed: images
have the time of the last commit of their folder, and a comparison begins where two branches parted. File contents are
fetched too, because a partial clone fetches them only at checkout, and then without the token.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pushbench.ci.branch import credentials
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import Answer, git


def fetch(root: Path, refs: Sequence[str], token: str) -> str:
    """Fetch `refs` (refs of the origin or full commit hashes) and complete the history of the checkout.

    Returns the full hash of the first ref's commit, or of the checked-out one. `token` is for private repositories.
    Raises UserError.
    """
    head = _text(root, "rev-parse", "HEAD")
    deeper = ["--unshallow"] if _text(root, "rev-parse", "--is-shallow-repository") == "true" else []
    if not refs and not deeper:
        return head
    url = git(root, "remote", "get-url", "origin").text
    wanted = [*refs, head] if deeper else refs
    environment = {"GIT_TERMINAL_PROMPT": "0", **credentials(url, token)}
    command = ["fetch", "--no-tags", "--quiet", *deeper, "--", "origin", *wanted]
    found = git(root, *command, environment=environment)
    if not found.ok:
        raise UserError(f"{' '.join(refs) or head}: git cannot fetch it: {found.error}", where=str(root))
    return _text(root, "rev-parse", "FETCH_HEAD")


def has(root: Path, sha: str) -> bool:
    return git(root, "cat-file", "-e", f"{sha}^{{commit}}").ok


def _text(root: Path, *arguments: str) -> str:
    answer: Answer = git(root, *arguments)
    if not answer.ok:
        raise UserError(f"git {arguments[0]} failed: {answer.error}", where=str(root))
    return answer.text
