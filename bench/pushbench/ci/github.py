"""The part of GitHub that Pushbench needs: runs and their artifacts, pull requests, one comment, one check run.

Every method raises GitHubError, whose message includes the remedy. Requests stay within GitHub's limits. Waiting for
limits and faults is in `github_connection`, the shapes of answers in `github_answers`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import httpx
from pydantic import TypeAdapter

from pushbench.ci.github_answers import (
    Annotation,
    Artifact,
    Artifacts,
    CheckRun,
    CheckRuns,
    Comment,
    Conclusion,
    Job,
    Jobs,
    PullRequest,
    Run,
)
from pushbench.ci.github_connection import Call, Connection
from pushbench.foundation.errors import UserError

T = TypeVar("T")

API = "https://api.github.com"
ACTIONS = "github-actions"
"""the app behind the token of a job"""
READ_ACTIONS, READ_PULLS = "actions: read", "pull-requests: read"
READ_CHECKS, WRITE_PULLS, WRITE_CHECKS = "checks: read", "pull-requests: write", "checks: write"

MOST_COMMENT = 65_536
"""characters; GitHub's maximum"""
MOST_SUMMARY = 65_535
"""bytes, though the documentation says characters (github/docs, issue 35252)"""
MOST_TITLE = 255
MOST_MESSAGE = 4_000
"""bytes of an annotation, which is shown between lines of code; GitHub's maximum is 64 KB"""
BATCH = 50
"""annotations in a request, GitHub's maximum; further requests add to them"""
MOST_ANNOTATIONS = 500
CUT = "\n\n(cut: too long for GitHub)"

RUN, JOBS, ARTIFACTS = TypeAdapter(Run), TypeAdapter(Jobs), TypeAdapter(Artifacts)
PULL = TypeAdapter(PullRequest)
COMMENT, COMMENTS = TypeAdapter(Comment), TypeAdapter(list[Comment])
CHECK, CHECKS, ANNOTATIONS = TypeAdapter(CheckRun), TypeAdapter(CheckRuns), TypeAdapter(list[Annotation])


class GitHub:
    """One repository, accessed with one token. `app` is the token's app; only what that app wrote is ever changed."""

    def __init__(
        self,
        repository: str,
        token: str,
        *,
        note: Callable[[str], None],
        api: str = API,
        app: str = ACTIONS,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`note` gets a message about long waits. Raises UserError for a repository that is not owner/name."""
        if not re.fullmatch(r"(?!\.{1,2}/)[\w.-]{1,100}/(?!\.{1,2}$)[\w.-]{1,100}", repository, re.ASCII):
            raise UserError(f"expected a repository as owner/name, found {repository[:200]!r}")
        self._app, self._note = app, note
        self.repository = repository
        self.app = app
        self._path = f"/repos/{repository}"
        self._connection = Connection(token, api, transport, sleep, note)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(
        self,
        method: str,
        path: str,
        permission: str,
        shape: TypeAdapter[T],
        *,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
        already: Callable[[], T | None] | None = None,
    ) -> T:
        """The answer to a request below the repository, such as `/issues`. For modules `github_*`.

        Paths below `/orgs/` and `/users/` refer to accounts.
        """
        return self._connection.ask(Call(method, self._full(path), permission, query, body), shape, already)

    def pages(
        self, path: str, permission: str, shape: TypeAdapter[T], query: Mapping[str, str | int] | None = None
    ) -> Iterator[T]:
        """The pages of a list below the repository, each requested when it is needed."""
        return self._connection.pages(Call("GET", self._full(path), permission, query), shape)

    def _full(self, path: str) -> str:
        return path if path.startswith(("/orgs/", "/users/")) else self._path + path

    def run(self, run_id: int) -> Run:
        return self._connection.ask(Call("GET", f"{self._path}/actions/runs/{run_id:d}", READ_ACTIONS), RUN)

    def jobs(self, run_id: int) -> list[Job]:
        """The jobs of the newest attempt."""
        call = Call("GET", f"{self._path}/actions/runs/{run_id:d}/jobs", READ_ACTIONS, {"filter": "latest"})
        return [job for page in self._connection.pages(call, JOBS) for job in page.jobs]

    def artifacts(self, run_id: int) -> list[Artifact]:
        """The newest artifact of each name; GitHub lists those of all attempts."""
        call = Call("GET", f"{self._path}/actions/runs/{run_id:d}/artifacts", READ_ACTIONS)
        found = [artifact for page in self._connection.pages(call, ARTIFACTS) for artifact in page.artifacts]
        newest = {artifact.name: artifact for artifact in sorted(found, key=lambda each: each.id)}
        return list(newest.values())

    def download(self, artifact: Artifact, most_bytes: int) -> bytes:
        """Its zip, whose content is untrusted. Raises GitHubError, also if it is larger than `most_bytes`."""
        call = Call("GET", f"{self._path}/actions/artifacts/{artifact.id:d}/zip", READ_ACTIONS)
        return self._connection.download(call, most_bytes)

    def pull_request(self, number: int) -> PullRequest:
        return self._connection.ask(Call("GET", f"{self._path}/pulls/{number:d}", READ_PULLS), PULL)

    def upsert_comment(self, number: int, mark: str, body: str) -> str:
        """The URL of the comment that begins with `mark`, as `body` must. Updates our comment, or creates one.

        Comments of other authors are left alone, whatever their beginning.
        """
        if not body.startswith(mark):
            raise ValueError("a comment that does not begin with the mark would not be found again")
        sent = {"body": _encodable(body)[:MOST_COMMENT]}
        path = f"{self._path}/issues/{number:d}/comments"

        def ours() -> Comment | None:
            for page in self._connection.pages(Call("GET", path, WRITE_PULLS), COMMENTS):
                for comment in page:
                    if comment.user and comment.user.login == f"{self._app}[bot]" and comment.body.startswith(mark):
                        return comment
            return None

        if found := ours():
            call = Call("PATCH", f"{self._path}/issues/comments/{found.id:d}", WRITE_PULLS, body=sent)
            return self._connection.ask(call, COMMENT).html_url
        return self._connection.ask(Call("POST", path, WRITE_PULLS, body=sent), COMMENT, already=ours).html_url

    def check_run(
        self,
        sha: str,
        *,
        name: str,
        conclusion: Conclusion | None,
        title: str,
        summary: str,
        annotations: Sequence[Annotation] = (),
        details_url: str = "",
        external_id: str = "",
        own: Callable[[str], object] | None = None,
    ) -> str:
        """The URL of the check run of that name on the commit: completed with `conclusion`, in progress with None.

        Updates our check run, or creates one. `own` recognises ours by the external id; without it, the external id has
        to be equal. Existing annotations are kept, since GitHub can only add to them. GitHub ignores `details_url` if
        the token is a job's.
        """
        if not re.fullmatch(r"[0-9a-f]{40}", sha):
            raise UserError(f"expected the full SHA of a commit, found {sha[:200]!r}")
        if len(annotations) > MOST_ANNOTATIONS:
            self._note(f"GitHub: only the first {MOST_ANNOTATIONS} of {len(annotations)} annotations are sent")
        output = {"title": _cut(title, MOST_TITLE), "summary": _cut(summary, MOST_SUMMARY, CUT)}
        status = "completed" if conclusion else "in_progress"
        state = {"status": status, "conclusion": conclusion, "details_url": details_url or None}
        wanted = list(dict.fromkeys(_bounded(each) for each in annotations[:MOST_ANNOTATIONS]))

        def is_own(other: str) -> object:
            return own(other) if own else other == external_id

        def ours() -> CheckRun | None:
            found = [each for each in self.check_runs(sha, name) if is_own(each.external_id)]
            newest = max(found, key=lambda each: each.id, default=None)  # several jobs may have created one each
            # A completed check run cannot return to another status: github.com/Mergifyio/mergify/pull/1989
            return None if newest and newest.status == "completed" and not conclusion else newest

        check = ours()
        state["external_id"] = external_id or None
        if check is None:
            identity = {"head_sha": sha, "name": name}
            first, further = wanted[:BATCH], wanted[BATCH:]
            body = _given({**identity, **state, "output": {**output, "annotations": _sent(first)}})
            check = self._connection.ask(
                Call("POST", f"{self._path}/check-runs", WRITE_CHECKS, body=body), CHECK, already=ours
            )
        else:
            there = self._annotations(check) if check.output.annotations_count else frozenset()
            missing = [each for each in wanted if each not in there]
            first, further = missing[:BATCH], missing[BATCH:]
            self._update_check(check, state, output, first)
        for start in range(0, len(further), BATCH):
            self._update_check(check, {}, output, further[start : start + BATCH])
        return check.html_url

    def check_runs(self, sha: str, name: str) -> list[CheckRun]:
        """All check runs of the token's app with that name: ours, and jobs with the same name."""
        query = {"check_name": name, "filter": "all"}
        call = Call("GET", f"{self._path}/commits/{sha}/check-runs", READ_CHECKS, query)
        return [
            check
            for page in self._connection.pages(call, CHECKS)
            for check in page.check_runs
            if check.app and check.app.slug == self._app and check.name == name
        ]

    def _update_check(
        self, check: CheckRun, state: Mapping[str, Any], output: Mapping[str, str], added: Sequence[Annotation]
    ) -> None:
        body = _given({**state, "output": {**output, "annotations": _sent(added)}})
        call = Call("PATCH", f"{self._path}/check-runs/{check.id:d}", WRITE_CHECKS, body=body)

        def done() -> CheckRun | None:
            return check if self._annotations(check).issuperset(added) else None

        self._connection.ask(call, CHECK, already=done if added else None)

    def _annotations(self, check: CheckRun) -> frozenset[Annotation]:
        call = Call("GET", f"{self._path}/check-runs/{check.id:d}/annotations", WRITE_CHECKS)
        return frozenset(each for page in self._connection.pages(call, ANNOTATIONS) for each in page)


def _bounded(annotation: Annotation) -> Annotation:
    bounded = {
        "path": _encodable(annotation.path),
        "title": _cut(annotation.title, MOST_TITLE),
        "message": _cut(annotation.message, MOST_MESSAGE),
    }
    return annotation.model_copy(update=bounded)


def _sent(annotations: Sequence[Annotation]) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.model_dump().items() if value != ""} for each in annotations]


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without those that are None."""
    return {key: value for key, value in fields.items() if value is not None}


def _encodable(text: str) -> str:
    """The text without lone surrogates, which JSON may contain but which cannot be sent."""
    return text.encode(errors="replace").decode()


def _cut(text: str, most_bytes: int, ending: str = "...") -> str:
    """`text`, or as much of it as fits together with the ending, in UTF-8."""
    raw = text.encode(errors="replace")
    if len(raw) <= most_bytes:
        return raw.decode()
    return raw[: most_bytes - len(ending)].decode(errors="ignore") + ending
