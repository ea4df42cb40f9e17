"""Whether a server from another repository may be built on the machine that its workflow names. Pure.

A fork's pull request builds untrusted code. A GitHub-hosted machine is discarded afterwards. On any other machine the
code may persist: https://docs.github.com/en/actions/reference/security/secure-use#hardening-for-self-hosted-runners
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from pushbench.ci.event import DEPENDABOT
from pushbench.foundation.errors import UserError

HOSTED = re.compile(r"ubuntu-(latest|[0-9]{2}\.[0-9]{2})(-arm)?")
"""Labels of GitHub's own machines that have Docker
(https://docs.github.com/en/actions/reference/runners/github-hosted-runners). The larger runners of an organisation have
names of its choice, which look like those of any other machine. A self-hosted runner with one of these labels is
indistinguishable, so never give it one.
"""


def require_admitted(repository: str, payload: Mapping[str, Any], runs_on: str) -> None:
    """Raise UserError if `own-server` would check out untrusted code and `runs_on` is not GitHub-hosted.

    That job checks out the head of the event's pull request, so every event with one counts.
    """
    if HOSTED.fullmatch(runs_on):
        return
    pull = payload.get("pull_request")
    if pull is None:
        return
    author, head = _at(pull, "user", "login"), _at(pull, "head", "repo", "full_name")
    if head == repository and author not in (DEPENDABOT, None):
        return
    whose = "Dependabot's" if author == DEPENDABOT else "a fork's"
    raise UserError(
        f"not measured: {whose} pull request is not built on {runs_on[:100]!r}, which is not a GitHub-hosted machine",
        hint="leave out runs-on for pull requests, or measure it by a push to a branch of this repository",
    )


def artifact_name(folder: str) -> str:
    """The name of the results, unique to a folder, because one run may measure several servers.

    Artifact names contain no slash, quote, colon or similar characters
    (https://github.com/actions/toolkit/blob/main/packages/artifact/src/internal/upload/path-and-artifact-name-validation.ts).
    """
    path = PurePosixPath(folder)
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    readable = re.sub(r"[^A-Za-z0-9-]", "", path.name)[:60]
    return f"pushbench-results-{readable or 'server'}-{digest}"


def _at(found: Any, *path: str) -> Any:
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found
