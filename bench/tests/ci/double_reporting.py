"""The part of GitHub that the check of a run needs: the repository, its runs, changed files, commit statuses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.ci.events import HEAD, REPOSITORY
from tests.ci.github_double import BOT, FORK, Answer, Double, pull, route, run

PASSING = ("success", "neutral", "skipped")
STATES = ("error", "failure", "pending", "success")
MOST_STATUSES = 1_000
JOB = "ca395085-040a-526b-2ce8-bdc85f692774"
"""GitHub gives check runs of jobs an external id like this one"""


@dataclass
class Reported(Double):
    """A GitHub with commit statuses; `files` are the changed files of pull requests."""

    files: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    """of all commits, the oldest first"""

    def has_job(self, name: str, conclusion: str = "success", sha: str = HEAD) -> None:
        """Add a job of a workflow, which is a check run of the same app."""
        made = {"id": len(self.checks), "head_sha": sha, "name": name, "external_id": JOB, "status": "completed"}
        shown = {
            "html_url": f"https://github.com/{REPOSITORY}/runs/{len(self.checks)}",
            "app": {"slug": "github-actions"},
        }
        output = {"output": {"title": "", "summary": "", "annotations_count": 0}}
        self.checks.append({**made, **shown, "conclusion": conclusion, **output})

    def required_passes(self, sha: str = HEAD, name: str = "Pushbench") -> bool:
        """Whether a rule that requires the name lets the commit be merged.

        docs.github.com, troubleshooting-required-status-checks: if a check and a status have the name, both are
        required, and success, skipped and neutral are successful. Of several check runs or statuses, the newest counts.
        """
        checks = [each for each in self.checks if (each["head_sha"], each["name"]) == (sha, name)]
        statuses = [each for each in self.statuses if (each["sha"], each["context"]) == (sha, name)]
        passes = [each.get("conclusion") in PASSING for each in checks[-1:]]
        passes += [each["state"] == "success" for each in statuses[-1:]]
        return bool(passes) and all(passes)

    def of_fork(self, **changed: Any) -> None:
        """Make the run one of a fork's pull request."""
        self.run = run(head_repository=FORK, actor={"login": "stranger"}, **changed)
        self.pulls = [pull(repository=FORK) | {"user": {"login": "stranger"}}]

    def changes(self, *paths: str, **of_one: Any) -> None:
        """Make the pull request change the paths."""
        self.files = [{"filename": path, "status": "modified", **of_one} for path in paths]
        for each in self.pulls:
            each["changed_files"] = len(self.files)


@route(r"GET /pulls/(\d+)/files", "pull-requests: read", "Reported")
def _files(double: Double, *_: object) -> Answer:
    return 200, double.files[:3000] if isinstance(double, Reported) else []


@route(r"GET /commits/([0-9a-f]{40})/statuses", "statuses: read", "Reported")
def _statuses(double: Double, found: re.Match[str], *_: object) -> Answer:
    statuses = double.statuses if isinstance(double, Reported) else []
    return 200, [each for each in reversed(statuses) if each["sha"] == found[1]]


@route(r"POST /statuses/([0-9a-f]{40})", "statuses: write", "Reported")
def _add_status(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    if not isinstance(double, Reported):
        return 201, body
    same = [each for each in double.statuses if (each["sha"], each["context"]) == (found[1], body["context"])]
    if body["state"] not in STATES or len(body["description"]) > 140 or len(same) >= MOST_STATUSES:
        return 422, {"message": "Validation Failed"}
    double.statuses.append({"sha": found[1], "creator": BOT, **body})
    return 201, double.statuses[-1]
