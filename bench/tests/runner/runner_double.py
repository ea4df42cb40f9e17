"""GitHub's API as the benchmark machine sees it: a server that answers as a test sets, otherwise as documented.

A just-in-time runner has exactly the labels that the request names, and the request must name a runner group:
https://docs.github.com/rest/actions/self-hosted-runners#create-configuration-for-a-just-in-time-runner-for-a-repository
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import runner_api
import runner_github

TOKEN = "github_pat_very_secret_indeed"
PREFIX = "/repos/me/pushbench/actions"
RUNNERS = f"GET {PREFIX}/runners"
GENERATE = f"POST {PREFIX}/runners/generate-jitconfig"
RUNS = f"GET {PREFIX}/runs"
OURS = {"full_name": "me/pushbench"}
SETTINGS = {
    "repository": "me/pushbench",
    "branch": "main",
    "workflow": ".github/workflows/bench.yml",
    "server": "https://github.com",
    "api": "",
    "runner_group": "1",
    "app_id": "",
}

Fixed = tuple[int, Any] | tuple[int, Any, dict[str, str]]
Answer = Fixed | Callable[[Any, Mapping[str, str]], Fixed]
"""A response, or a function that makes one from the request's body and headers."""


def jit(body: Any, _: Mapping[str, str]) -> Fixed:
    """A registration as documented: every field but the folder is required, and no label is added."""
    if not {"name", "runner_group_id", "labels"} <= set(body) or type(body["runner_group_id"]) is not int:
        return 422, {"message": "Invalid input: object is missing required key"}
    labels = [{"id": number, "name": name, "type": "custom"} for number, name in enumerate(body["labels"])]
    runner = {"id": 42, "name": body["name"], "os": "unknown", "status": "offline", "busy": False, "labels": labels}
    return 201, {"runner": runner, "encoded_jit_config": "Zm9yIG9uZSBqb2I="}


class Api(ThreadingHTTPServer):
    """Answers each request with the next of its prepared answers; the last one repeats."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[Answer]] = {
            RUNNERS: [(200, {"runners": []})],
            GENERATE: [jit],
            RUNS: [(200, {"workflow_runs": []})],
        }
        self.requests: list[tuple[str, Any, str | None]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def asked(self) -> list[str]:
        return [request for request, _, _ in self.requests]


class Handler(BaseHTTPRequestHandler):
    server: Api

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path, _, query = self.path.partition("?")
        self.server.requests.append((f"{self.command} {self.path}", body, self.headers.get("Authorization")))
        answers = self.server.answers
        key = f"{self.command} {self.path}" if f"{self.command} {self.path}" in answers else f"{self.command} {path}"
        left = answers.get(key, [(404, {"message": "Not Found"})])
        told = left.pop(0) if len(left) > 1 else left[0]
        if callable(told):
            told = told(body, {**dict(self.headers.items()), "query": query})
        status, document, headers = (*told, {})[:3]
        if isinstance(document, list) and "&page=" in f"&{query}":  # pages
            number = int(query.rpartition("page=")[2])
            document = document[number - 1] if number <= len(document) else {}
        text = document if isinstance(document, bytes) else b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the base class's names

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[Api]:
    with Api() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def write_settings(api: Api, folder: Path, **change: str) -> Path:
    values = {**SETTINGS, "api": api.address, **change}
    (folder / "settings").write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    return folder / "settings"


def ask(api: Api, verb: str, folder: Path, credential: str = TOKEN, **settings: str) -> Done:
    """The output of the program, which never contains the credential."""
    write_settings(api, folder, **settings)
    (folder / "credential").write_text(f"{credential}\n")
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = runner_github.main(verb, folder / "settings", folder / "credential", folder)
    assert credential not in out.getvalue() + error.getvalue()
    return Done(code, out.getvalue(), error.getvalue())


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        yield server


def run(number: int, status: str = "in_progress", **change: Any) -> dict[str, Any]:
    of_ours = {"path": ".github/workflows/bench.yml", "event": "push", "head_branch": "main", "status": status}
    where = {
        "repository": OURS,
        "head_repository": OURS,
        "html_url": f"https://github.com/me/pushbench/actions/runs/{number}",
    }
    return {"id": number, **of_ours, **where, **change}


def jobs(number: int, runner_id: int | None, status: str = "in_progress") -> dict[str, list[Answer]]:
    listed = [{"runner_id": None, "status": "queued"}, {"runner_id": runner_id, "status": status}]
    return {f"GET {PREFIX}/runs/{number}/jobs": [(200, {"jobs": listed})]}


def listed(*runs: dict[str, Any]) -> list[Answer]:
    """The list of runs as GitHub filters it: by the status in the query, if there is one."""

    def answer(_: Any, headers: Any) -> tuple[int, Any]:
        wanted = re.search(r"status=([a-z_]+)", headers["query"])
        page = int(re.search(r"&?page=([0-9]+)", headers["query"].replace("per_page", ""))[1])  # type: ignore[index]
        found = [each for each in runs if not wanted or each["status"] == wanted[1]]
        return 200, {"workflow_runs": found[(page - 1) * runner_api.PAGE : page * runner_api.PAGE]}

    return [answer]
