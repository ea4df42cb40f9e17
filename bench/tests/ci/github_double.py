"""A GitHub in memory with the API that `report` and `publish` use: for tests of their actions, not of the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from pushbench.ci.github import GitHub
from pushbench.foundation.yamlfile import read_yaml
from tests.ci.events import HEAD, REPOSITORY
from tests.serving import LOOPBACK, QuietHandler, serving

RUN = 4711
OWNER = {"login": "acme"}
REPO = {"id": 1, "full_name": REPOSITORY, "owner": OWNER}
FORK = {"id": 2, "full_name": "stranger/pushbench", "owner": {"login": "stranger"}}
BOT = {"login": "github-actions[bot]"}
WORKFLOWS = Path(__file__).parents[3] / ".github" / "workflows"
MOST_INPUTS = 25
"""https://github.blog/changelog/2025-12-04-actions-workflow-dispatch-workflows-now-support-25-inputs"""
FIRST_DISPATCHED = 9000
Answer = tuple[int, Any]
NOT_FOUND: Answer = (404, {"message": "Not Found"})
Reply = Callable[["Double", re.Match[str], dict[str, list[str]], Any], Answer]
ROUTES: list[tuple[str, str, str, str, Reply]] = []
"""method, path below the repository, the permission that GitHub requires, class of doubles that have it, answer"""


def route(request: str, permission: str, of: str = "Double") -> Callable[[Reply], Reply]:
    """Register the answer to a request such as `GET /pulls/(\\d+)`; a subclass may register another answer."""
    verb, _, shape = request.partition(" ")

    def register(reply: Reply) -> Reply:
        ROUTES.append((verb, shape, permission, of, reply))
        return reply

    return register


def run(**changed: Any) -> dict[str, Any]:
    values = {
        "id": RUN,
        "run_attempt": 1,
        "event": "pull_request",
        "status": "completed",
        "conclusion": "success",
        "head_sha": HEAD,
        "head_branch": "faster",
        "head_repository": REPO,
        "display_title": "x",
        "path": ".github/workflows/bench.yml",
        "html_url": f"https://github.com/{REPOSITORY}/actions/runs/{RUN}",
        "actor": {"login": "octocat"},
        "created_at": "2026-11-21T12:00:00Z",
        "run_started_at": "2026-11-21T12:00:00Z",
        "updated_at": "2026-11-21T12:30:00Z",
    }
    return values | changed


def job(name: str, conclusion: str = "success", failed: str = "") -> dict[str, Any]:
    steps = [{"name": failed, "conclusion": "failure"}] if failed else []
    return {"id": len(name), "name": name, "conclusion": conclusion, "html_url": "", "steps": steps}


def pull(number: int = 7, sha: str = HEAD, repository: dict[str, Any] = REPO, state: str = "open") -> dict[str, Any]:
    return {
        "number": number,
        "state": state,
        "html_url": f"https://github.com/{REPOSITORY}/pull/{number}",
        "head": {"ref": "faster", "sha": sha, "repo": repository},
        "base": {"ref": "main", "sha": "b" * 40, "repo": REPO},
        "labels": [],
        "user": {"login": "octocat"},
        "changed_files": 0,
    }


@dataclass
class Double:
    run: dict[str, Any] = field(default_factory=run)
    jobs: list[dict[str, Any]] = field(default_factory=lambda: [job("plan"), job("bench")])
    artifacts: dict[str, bytes] = field(default_factory=dict)
    pulls: list[dict[str, Any]] = field(default_factory=lambda: [pull()])
    comments: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    others: list[tuple[dict[str, Any], list[dict[str, Any]]]] = field(default_factory=list)
    """further runs, each with its jobs"""
    dispatched: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """workflow files that were started, with their inputs"""
    default_branch: str = "main"
    errors: dict[int, list[str]] = field(default_factory=dict)
    """annotations of jobs, by job id"""
    issues: list[dict[str, Any]] = field(default_factory=list)
    """including pull requests, which have the field pull_request"""
    issues_off: bool = False
    labels: set[str] = field(default_factory=set)
    """of the repository"""
    workflows: list[dict[str, Any]] = field(default_factory=list)
    machines: list[dict[str, Any]] = field(default_factory=list)
    permissions: dict[str, str] | None = None
    """of the token's job, as its workflow grants them; None: every permission, if a test checks something else"""

    @contextmanager
    def github(self, note: Callable[[str], None] = lambda _: None) -> Iterator[GitHub]:
        transport = httpx.MockTransport(self._respond)
        with GitHub(REPOSITORY, "ghs_token", note=note, transport=transport, sleep=lambda _: None) as github:
            yield github

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve the double on a port of loopback; yields its URL."""
        double = self

        class Handler(QuietHandler):
            def _do(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, content = double.answer(self.command, self.path, body)
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"http://{self.headers['Host']}{content}")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _do  # noqa: N815 - names that http.server asks for

        with serving(ThreadingHTTPServer((LOOPBACK, 0), Handler)) as host:
            yield f"http://{host}"

    def _respond(self, request: httpx.Request) -> httpx.Response:
        status, content = self.answer(request.method, str(request.url.raw_path, "ascii"), request.content)
        if status == 302:
            return httpx.Response(status, headers={"Location": f"https://blobs.example.org{content}"})
        if isinstance(content, bytes):
            return httpx.Response(status, content=iter([content]))  # can be read only once, as from a socket
        return httpx.Response(status, json=content)

    def all_runs(self) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """All runs with their jobs."""
        return [(self.run, self.jobs), *self.others]

    def answer(self, method: str, target: str, content: bytes) -> Answer:
        parts = urlsplit(target)
        body = json.loads(content) if content else {}
        path = parts.path.removeprefix(f"/repos/{REPOSITORY}")
        classes = [each.__name__ for each in type(self).__mro__]
        own = sorted((each for each in ROUTES if each[3] in classes), key=lambda each: classes.index(each[3]))
        for verb, shape, permission, _, reply in own:
            found = re.fullmatch(shape, path)
            if verb == method and found:
                if not self._granted(permission):
                    return 403, {"message": "Resource not accessible by integration"}
                return reply(self, found, parse_qs(parts.query), body)
        return 404, {"message": f"the double does not know {method} {path}"}

    def _granted(self, permission: str) -> bool:
        """docs.github.com/actions/reference/workflow-syntax-for-github-actions#permissions: write includes read,
        and an unlisted permission is none."""
        scope, _, access = permission.partition(": ")
        always = scope in ("", "metadata")  # docs.github.com/rest/authentication/permissions: every token may read it
        return self.permissions is None or always or self.permissions.get(scope) in (access, "write")

    def may_comment(self, number: int, access: str) -> bool:
        """docs.github.com/rest/issues/comments: one of two permissions; the one for pull requests excludes issues."""
        is_issue = any(each["number"] == number for each in self.issues if "pull_request" not in each)
        scopes = ("issues",) if is_issue else ("pull-requests", "issues")
        return any(self._granted(f"{scope}: {access}") for scope in scopes)

    def merge(self, kept: list[dict[str, Any]], number: int, body: Any) -> Any:
        [one] = [each for each in kept if each["id"] == number]
        output = {**one.get("output", {}), **body.get("output", {})}
        one.update(body, **({"output": output} if output else {}))
        return one


@route("GET ", "metadata: read")
def _repository(double: Double, *_: object) -> Answer:
    return 200, {**REPO, "default_branch": double.default_branch}


@route(r"GET /actions/workflows/([\w.-]+)/runs", "actions: read")
def _runs(double: Double, found: re.Match[str], query: dict[str, list[str]], _: object) -> Answer:
    """`status` and `event` are filters; the newest runs are first."""
    runs = [each for each, _ in double.others if each["path"] == f".github/workflows/{found[1]}"]
    for name in ("status", "event"):
        runs = [each for each in runs if each[name] in query.get(name, [each[name]])]
    runs.sort(key=lambda each: -int(each["id"]))
    return 200, {"total_count": len(runs), "workflow_runs": runs[: int(query.get("per_page", ["30"])[0])]}


@route(r"GET /actions/runs/(\d+)", "actions: read")
def _run(double: Double, found: re.Match[str], *_: object) -> Answer:
    return next(((200, each) for each, _ in double.all_runs() if each["id"] == int(found[1])), NOT_FOUND)


@route(r"GET /actions/runs/(\d+)/jobs", "actions: read")
def _jobs(double: Double, found: re.Match[str], *_: object) -> Answer:
    return next(((200, {"jobs": jobs}) for each, jobs in double.all_runs() if each["id"] == int(found[1])), NOT_FOUND)


@route(r"POST /actions/workflows/([\w.-]+)/dispatches", "actions: write")
def _dispatch(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    """Refuses what GitHub refuses: https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event"""
    file = WORKFLOWS / found[1]
    if not file.is_file():
        return NOT_FOUND
    triggers = read_yaml(file).data["on"]
    if "workflow_dispatch" not in triggers:
        return 422, {"message": "Workflow does not have 'workflow_dispatch' trigger"}
    if body.get("ref") != double.default_branch:
        return 422, {"message": f"No ref found for: {body.get('ref')}"}
    declared = (triggers["workflow_dispatch"] or {}).get("inputs", {})
    given = body.get("inputs", {})
    if unexpected := sorted(given.keys() - declared.keys()):
        return 422, {"message": f"Unexpected inputs provided: {unexpected}"}
    for name, each in declared.items():
        if each.get("required") and not given.get(name):
            return 422, {"message": f"Required input '{name}' not provided"}
    if len(given) > MOST_INPUTS or any(not isinstance(value, str) for value in given.values()):
        return 422, {"message": "Invalid inputs"}
    double.dispatched.append((found[1], dict(given)))
    number = FIRST_DISPATCHED + len(double.dispatched)
    url = f"https://github.com/{REPOSITORY}/actions/runs/{number}"
    double.others.append((_started(found[1], given, id=number, html_url=url), []))
    if not body.get("return_run_details"):
        return 204, b""
    return 200, {"workflow_run_id": number, "run_url": f"https://api.github.com/{number}", "html_url": url}


def _started(workflow: str, given: dict[str, str], **known: Any) -> dict[str, Any]:
    """A run in its first state; bench.yml names its runs by their inputs."""
    title = f"bench pull request {given['pull_request']} at {given.get('head')}" if given.get("pull_request") else ""
    started = run(event="workflow_dispatch", status="queued", conclusion=None, **known)
    return started | {"path": f".github/workflows/{workflow}", "display_title": title}


@route(rf"GET /actions/runs/{RUN}/artifacts", "actions: read")
def _artifacts(double: Double, *_: object) -> Answer:
    listed = [
        {"id": number, "name": name, "size_in_bytes": len(content), "expired": False}
        for number, (name, content) in enumerate(double.artifacts.items())
    ]
    return 200, {"artifacts": listed}


@route(r"GET /actions/artifacts/(\d+)/zip", "actions: read")
def _artifact(double: Double, found: re.Match[str], *_: object) -> Answer:
    return 302, f"/blobs/{found[1]}"


@route(r"GET /blobs/(\d+)", "")
def _blob(double: Double, found: re.Match[str], *_: object) -> Answer:
    return 200, list(double.artifacts.values())[int(found[1])]


@route(r"GET /pulls", "pull-requests: read")
def _pulls(double: Double, _: object, query: dict[str, list[str]], __: object) -> Answer:
    """docs.github.com/rest/pulls/pulls#list-pull-requests: `head` is `owner:branch`; by default open ones."""
    [state], [head] = query.get("state", ["open"]), query.get("head", [""])
    return 200, [each for each in double.pulls if state in ("all", each["state"]) and head in ("", _head(each))]


def _head(pull: dict[str, Any]) -> str:
    """A deleted fork has no owner."""
    repository = pull["head"]["repo"]
    return f"{repository['owner']['login'] if repository else '?'}:{pull['head']['ref']}"


@route(r"GET /pulls/(\d+)", "pull-requests: read")
def _pull(double: Double, found: re.Match[str], *_: object) -> Answer:
    wanted = [each for each in double.pulls if each["number"] == int(found[1])]
    return (200, wanted[0]) if wanted else (404, {"message": "Not Found"})


@route(r"GET /issues/(\d+)/comments", "")
def _comments(double: Double, found: re.Match[str], *_: object) -> Answer:
    if not double.may_comment(int(found[1]), "read"):
        return 403, {"message": "Resource not accessible by integration"}
    return 200, [each for each in double.comments if each.get("number", int(found[1])) == int(found[1])]


@route(r"POST /issues/(\d+)/comments", "")
def _add_comment(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    if not double.may_comment(int(found[1]), "write"):
        return 403, {"message": "Resource not accessible by integration"}
    url = f"https://github.com/{REPOSITORY}/pull/{found[1]}#{len(double.comments)}"
    own = {"id": len(double.comments), "html_url": url, "user": BOT, "number": int(found[1])}
    double.comments.append({**own, **body})
    return 201, double.comments[-1]


@route(r"PATCH /issues/comments/(\d+)", "pull-requests: write")
def _change_comment(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    return 200, double.merge(double.comments, int(found[1]), body)


@route(r"GET /commits/([0-9a-f]{40})/check-runs", "checks: read")
def _checks(double: Double, found: re.Match[str], query: dict[str, list[str]], _: object) -> Answer:
    names = query.get("check_name")
    of_commit = [each for each in double.checks if each["head_sha"] == found[1]]
    return 200, {"check_runs": [each for each in of_commit if not names or each["name"] in names]}


@route(r"POST /check-runs", "checks: write")
def _add_check(double: Double, _: object, __: object, body: Any) -> Answer:
    output = {**body["output"], "annotations_count": 0}
    own = {"id": len(double.checks), "html_url": "https://github.com/c", "app": {"slug": "github-actions"}}
    double.checks.append({"external_id": "", **body, **own, "output": output})
    return 201, double.checks[-1]


@route(r"PATCH /check-runs/(\d+)", "checks: write")
def _change_check(double: Double, found: re.Match[str], _: object, body: Any) -> Answer:
    [one] = [each for each in double.checks if each["id"] == int(found[1])]
    if one["status"] == "completed" and "conclusion" not in body:
        body = {**body, "status": "completed"}  # github.com/Mergifyio/mergify/pull/1989: it cannot go back
    return 200, double.merge(double.checks, int(found[1]), body)


@route(r"GET /check-runs/(\d+)/annotations", "checks: read")
def _annotations(double: Double, found: re.Match[str], *_: object) -> Answer:
    said = double.errors.get(int(found[1]), [])
    lines = {"path": ".github", "start_line": 1, "end_line": 1, "annotation_level": "failure", "title": ""}
    return 200, [{**lines, "message": message} for message in said]
