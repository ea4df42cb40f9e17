"""What the runner asks GitHub, against an API that answers as told."""

from __future__ import annotations

import contextlib
import io
import json
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import runner_github

TOKEN = "github_pat_very_secret_indeed"
PREFIX = "/repos/me/pushbench/actions"
RUNNERS = f"GET {PREFIX}/runners"
GENERATE = f"POST {PREFIX}/runners/generate-jitconfig"
RUNS = f"GET {PREFIX}/runs"
JIT = (201, {"runner": {"id": 42}, "encoded_jit_config": "Zm9yIG9uZSBqb2I="})
OURS = {"full_name": "me/pushbench"}

Answer = tuple[int, Any] | tuple[int, Any, dict[str, str]]


class Api(ThreadingHTTPServer):
    """Answers each request with the next of what it was told for it; the last one stays."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[Answer]] = {RUNNERS: [(200, {"runners": []})], GENERATE: [JIT]}
        self.requests: list[tuple[str, Any, str | None]] = []

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
        left = self.server.answers.get(f"{self.command} {path}", [(404, {"message": "Not Found"})])
        status, document, headers = (*(left.pop(0) if len(left) > 1 else left[0]), {})[:3]
        if isinstance(document, list) and "page=" in query:  # pages
            number = int(query.rpartition("page=")[2])
            document = document[number - 1] if number <= len(document) else {}
        text = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the base class's names

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_github, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(runner_github, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(runner_github, "PAGE", 3)


def ask(api: Api, verb: str, folder: Path) -> Done:
    """What the program says; never the token."""
    settings = {"repository": "me/pushbench", "branch": "main", "workflow": ".github/workflows/bench.yml"}
    settings |= {"server": "https://github.com", "api": f"http://127.0.0.1:{api.server_port}"}
    (folder / "settings").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    (folder / "token").write_text(f"{TOKEN}\n")
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = runner_github.main(verb, folder / "settings", folder / "token", folder)
    assert TOKEN not in out.getvalue() + error.getvalue()
    return Done(code, out.getvalue(), error.getvalue())


def runner(name: str, status: str, *labels: str) -> dict[str, Any]:
    return {"id": 7, "name": name, "status": status, "labels": [{"name": label} for label in labels]}


def test_a_machine_is_registered_for_one_job_with_the_one_label(api: Api, tmp_path: Path) -> None:
    done = ask(api, "register", tmp_path)
    assert (done.returncode, done.stdout) == (0, "registered for one job\n"), done.stderr
    wanted = {"name": "pushbench", "runner_group_id": 1, "labels": ["pushbench"], "work_folder": "_work"}
    assert api.requests[-1] == (GENERATE, wanted, f"Bearer {TOKEN}")
    for name, text in {"jitconfig": "Zm9yIG9uZSBqb2I=", "runner": "42"}.items():
        assert (tmp_path / name).read_text() == text
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_what_an_earlier_start_left_is_forgotten_and_nothing_else(api: Api, tmp_path: Path) -> None:
    others = [runner("pushbench", "offline", "pushbench"), {**runner("other", "online", "gpu"), "id": 8}]
    api.answers |= {RUNNERS: [(200, {"runners": others})], f"DELETE {PREFIX}/runners/7": [(204, None)]}
    assert ask(api, "register", tmp_path).returncode == 0
    assert [each for each in api.asked if each.startswith("DELETE")] == [f"DELETE {PREFIX}/runners/7"]


@pytest.mark.parametrize("name", ["pushbench", "somebody-elses"])
def test_a_second_machine_with_the_label_is_not_registered(api: Api, tmp_path: Path, name: str) -> None:
    api.answers[RUNNERS] = [(200, {"runners": [runner(name, "online", "pushbench")]})]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert f"the runner '{name}' is online with the label pushbench" in done.stderr
    assert GENERATE not in api.asked


def test_a_name_that_is_taken_meanwhile_is_looked_at_again(api: Api, tmp_path: Path) -> None:
    api.answers[GENERATE] = [(409, {"message": "Already exists"}), JIT]
    assert ask(api, "register", tmp_path).returncode == 0
    assert api.asked.count(GENERATE) == 2


@pytest.mark.parametrize(
    "answer", [(502, None), (429, None, {"Retry-After": "0"}), (403, None, {"X-RateLimit-Remaining": "0"})]
)
def test_what_passes_is_asked_again(api: Api, tmp_path: Path, answer: Answer) -> None:
    api.answers[GENERATE] = [answer, JIT]
    assert ask(api, "register", tmp_path).returncode == 0


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_may_not_is_named_as_the_reason(api: Api, tmp_path: Path, status: int) -> None:
    api.answers[GENERATE] = [(status, {"message": "Bad credentials"})]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "does the token live, for this repository, with Administration: write and Actions: read?\n"
    )


def test_a_redirect_does_not_get_the_token(api: Api, tmp_path: Path) -> None:
    elsewhere = f"http://127.0.0.1:{api.server_port}/elsewhere"
    api.answers[GENERATE] = [(307, None, {"Location": elsewhere}), (302, None, {"Location": elsewhere})]
    assert ask(api, "register", tmp_path).returncode == 1
    assert not any("elsewhere" in each for each in api.asked)


def test_without_github_it_gives_up_in_time_and_leaves_no_configuration(api: Api, tmp_path: Path) -> None:
    (tmp_path / "jitconfig").write_text("of yesterday")
    api.answers[GENERATE] = [(503, None)]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert "GitHub gave no usable answer in time" in done.stderr
    assert not (tmp_path / "jitconfig").exists()


@pytest.mark.parametrize(
    "document", [[], {"runner": {}}, {"runner": {"id": 1}}, {"runner": {"id": 1}, "encoded_jit_config": 5}]
)
def test_an_answer_of_another_form_is_an_error_of_one_line(api: Api, tmp_path: Path, document: Any) -> None:
    api.answers[GENERATE] = [(201, document)]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


# ---- which run the runner was given


def run(number: int, **change: Any) -> dict[str, Any]:
    of_ours = {"path": ".github/workflows/bench.yml", "event": "push", "head_branch": "main"}
    where = {
        "repository": OURS,
        "head_repository": OURS,
        "html_url": f"https://github.com/me/pushbench/actions/runs/{number}",
    }
    return {"id": number, **of_ours, **where, **change}


def jobs(number: int, runner_id: int | None, status: str = "in_progress") -> dict[str, list[Answer]]:
    listed = [{"runner_id": None, "status": "queued"}, {"runner_id": runner_id, "status": status}]
    return {f"GET {PREFIX}/runs/{number}/jobs": [(200, {"jobs": listed})]}


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "runner").write_text("42")
    return tmp_path


def test_a_run_of_ours_is_admitted(api: Api, given: Path) -> None:
    api.answers |= {
        RUNS: [(200, {"workflow_runs": [run(1, event="pull_request_target"), run(2)]})],
        **jobs(1, 41),
        **jobs(2, 42),
    }
    done = ask(api, "admit", given)
    assert (done.returncode, done.stdout) == (0, "admitted https://github.com/me/pushbench/actions/runs/2\n"), (
        done.stderr
    )


def test_the_run_may_be_on_a_later_page(api: Api, given: Path) -> None:
    many = [run(number) for number in range(1, 4)]
    nobody = {key: value for number in range(1, 4) for key, value in jobs(number, None).items()}
    api.answers |= {**nobody, RUNS: [(200, [{"workflow_runs": many}, {"workflow_runs": [run(200)]}])], **jobs(200, 42)}
    assert ask(api, "admit", given).returncode == 0


@pytest.mark.parametrize(
    "change",
    [
        {"head_repository": {"full_name": "mallory/pushbench"}, "event": "pull_request"},
        {"path": ".github/workflows/evil.yml"},
        {"head_branch": "main-evil"},
        {"event": "issue_comment"},
    ],
)
def test_a_run_that_is_not_ours_is_not_admitted_whatever_the_job_says(api: Api, given: Path, change: Any) -> None:
    api.answers |= {RUNS: [(200, {"workflow_runs": [run(2, **change)]})], **jobs(2, 42)}
    done = ask(api, "admit", given)
    assert done.returncode == 1
    assert done.stderr.startswith("this machine does not run ")


def test_a_job_that_github_does_not_show_yet_is_waited_for(api: Api, given: Path) -> None:
    api.answers |= {RUNS: [(200, {"workflow_runs": []}), (200, {"workflow_runs": [run(2)]})], **jobs(2, 42)}
    assert ask(api, "admit", given).returncode == 0


def test_a_job_that_github_never_shows_is_not_admitted(api: Api, given: Path) -> None:
    api.answers |= {RUNS: [(200, {"workflow_runs": [run(2)]})], **jobs(2, 42, status="completed")}
    done = ask(api, "admit", given)
    assert done.returncode == 1
    assert "no run in progress says that it is on runner 42" in done.stderr
