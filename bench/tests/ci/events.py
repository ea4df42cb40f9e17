"""Events as GitHub passes them to a job, reduced to the parts that are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushbench.ci.event import Event, read_event

HEAD, BASE, OLD = "a" * 40, "b" * 40, "c" * 40
REPOSITORY = "acme/pushbench"
HOSTILE = 'x"; ::error::$(reboot) `id` ${{ github.token }} <script>alert(1)</script> @team\n::set-output name=a::b'


def pull_request(*, fork: bool = False, labels: tuple[str, ...] = (), **changed: Any) -> dict[str, Any]:
    repository = "stranger/pushbench" if fork else REPOSITORY
    found = {
        "number": 7,
        "title": HOSTILE,
        "user": {"login": "stranger" if fork else "octocat"},
        "head": {"sha": HEAD, "ref": HOSTILE, "repo": {"full_name": repository, "fork": fork}},
        "base": {"sha": BASE, "ref": "main", "repo": {"full_name": REPOSITORY}},
        "labels": [{"name": label} for label in labels],
    }
    return {"action": "synchronize", "number": 7, "pull_request": {**found, **changed}}


def push(**changed: Any) -> dict[str, Any]:
    return {"ref": "refs/heads/main", "before": OLD, "after": HEAD, "head_commit": {"message": HOSTILE}, **changed}


def environment(folder: Path, name: str, payload: object) -> Mapping[str, str]:
    """The variables of a job."""
    file = folder / "event.json"
    file.write_text(payload if isinstance(payload, str) else json.dumps(payload))
    return {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": "d" * 40,
    }


def read(folder: Path, name: str, payload: object) -> Event:
    return read_event(environment(folder, name, payload))


def payload(body: str = "/pushbench", login: str = "octocat", **changed: Any) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 7, "title": HOSTILE, "pull_request": {"url": "https://api.github.com/x"}},
        "comment": {"id": 99, "body": body, "user": {"login": login, "type": "User"}, "author_association": "OWNER"},
        "repository": {"default_branch": "main"},
        **changed,
    }
