"""A GitHub in memory, as far as `report` and `publish` ask it: for tests of what they do, not of how it answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from pushbench.ci.github import GitHub
from tests.ci.events import HEAD, REPOSITORY

RUN = 4711
OWNER = {"login": "acme"}
REPO = {"id": 1, "full_name": REPOSITORY, "owner": OWNER}
FORK = {"id": 2, "full_name": "stranger/pushbench", "owner": {"login": "stranger"}}
BOT = {"login": "github-actions[bot]"}
Answer = tuple[int, Any]


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
    }


@dataclass
class Double:
    run: dict[str, Any] = field(default_factory=run)
    jobs: list[dict[str, Any]] = field(default_factory=lambda: [job("plan"), job("bench"), job("gate")])
    artifacts: dict[str, bytes] = field(default_factory=dict)
    pulls: list[dict[str, Any]] = field(default_factory=lambda: [pull()])
    comments: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def github(self, note: Callable[[str], None] = lambda _: None) -> Iterator[GitHub]:
        transport = httpx.MockTransport(self._respond)
        with GitHub(REPOSITORY, "ghs_token", note=note, transport=transport, sleep=lambda _: None) as github:
            yield github

    @contextmanager
    def served(self) -> Iterator[str]:
        """On a port of loopback; gives its URL."""
        double = self

        class Handler(BaseHTTPRequestHandler):
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

            do_GET = do_POST = do_PATCH = _do  # noqa: N815 - names that http.server asks for

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _respond(self, request: httpx.Request) -> httpx.Response:
        status, content = self.answer(request.method, str(request.url.raw_path, "ascii"), request.content)
        if status == 302:
            return httpx.Response(status, headers={"Location": f"https://blobs.example.org{content}"})
        if isinstance(content, bytes):
            return httpx.Response(status, content=iter([content]))  # read once, as from a socket
        return httpx.Response(status, json=content)

    def answer(self, method: str, target: str, content: bytes) -> Answer:
        parts = urlsplit(target)
        body = json.loads(content) if content else {}
        path = parts.path.removeprefix(f"/repos/{REPOSITORY}")
        for pattern, reply in self._routes().items():
            verb, _, shape = pattern.partition(" ")
            found = re.fullmatch(shape, path)
            if verb == method and found:
                return reply(found, parse_qs(parts.query), body)
        return 404, {"message": f"the double does not know {method} {path}"}

    def _routes(self) -> dict[str, Callable[[re.Match[str], dict[str, list[str]], Any], Answer]]:
        names = list(self.artifacts)
        return {
            rf"GET /actions/runs/{RUN}": lambda *_: (200, self.run),
            rf"GET /actions/runs/{RUN}/jobs": lambda *_: (200, {"jobs": self.jobs}),
            rf"GET /actions/runs/{RUN}/artifacts": lambda *_: (
                200,
                {
                    "artifacts": [
                        {"id": number, "name": name, "size_in_bytes": len(self.artifacts[name]), "expired": False}
                        for number, name in enumerate(names)
                    ]
                },
            ),
            r"GET /actions/artifacts/(\d+)/zip": lambda found, *_: (302, f"/blobs/{found[1]}"),
            r"GET /blobs/(\d+)": lambda found, *_: (200, self.artifacts[names[int(found[1])]]),
            r"GET /pulls": lambda *_: (200, self.pulls),
            r"GET /pulls/(\d+)": self._pull,
            r"GET /issues/\d+/comments": lambda *_: (200, self.comments),
            r"POST /issues/(\d+)/comments": lambda found, _, body: (201, self._add_comment(int(found[1]), body)),
            r"PATCH /issues/comments/(\d+)": lambda found, _, body: (200, self._merge(self.comments, found, body)),
            r"GET /commits/[0-9a-f]+/check-runs": lambda *_: (200, {"check_runs": self.checks}),
            r"POST /check-runs": lambda _, __, body: (201, self._add_check(body)),
            r"PATCH /check-runs/(\d+)": lambda found, _, body: (200, self._merge(self.checks, found, body)),
            r"GET /check-runs/\d+/annotations": lambda *_: (200, []),
        }

    def _pull(self, found: re.Match[str], *_: object) -> Answer:
        wanted = [each for each in self.pulls if each["number"] == int(found[1])]
        return (200, wanted[0]) if wanted else (404, {"message": "Not Found"})

    def _add_comment(self, number: int, body: Any) -> Any:
        url = f"https://github.com/{REPOSITORY}/pull/{number}#{len(self.comments)}"
        self.comments.append({"id": len(self.comments), "html_url": url, "user": BOT, "number": number, **body})
        return self.comments[-1]

    def _add_check(self, body: Any) -> Any:
        output = {**body["output"], "annotations_count": 0}
        own = {"id": len(self.checks), "html_url": "https://github.com/c", "app": {"slug": "github-actions"}}
        self.checks.append({"external_id": "", **body, **own, "output": output})
        return self.checks[-1]

    def _merge(self, kept: list[dict[str, Any]], found: re.Match[str], body: Any) -> Any:
        [one] = [each for each in kept if each["id"] == int(found[1])]
        output = {**one.get("output", {}), **body.get("output", {})}
        one.update(body, **({"output": output} if output else {}))
        return one
