"""The two calls to GitHub: register a runner for one job, and ask which run that runner was given.

    runner_github.py register SETTINGS TOKEN FOLDER    writes FOLDER/jitconfig (good for one job) and FOLDER/runner
    runner_github.py admit SETTINGS TOKEN FOLDER       exit status 0 when FOLDER/runner was given a run that may be here

TOKEN is a file, so that the token is in no argument and no environment; it is in no message either. Standard library
only. Endpoints: https://docs.github.com/rest/actions/self-hosted-runners, .../workflow-runs and .../workflow-jobs.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from runner_policy import BadSettings, Refused, Settings, check_run, read_settings

NAME = "pushbench"  # GitHub gives a name to one runner at a time: this is what keeps a second machine out
LABEL = "pushbench"
DEFAULT_GROUP = 1  # of a repository that belongs to no group's choice; the API has no default for it
TIMEOUT_SECONDS = 30.0
PATIENCE_SECONDS = 90.0  # of one command: the loop starts it again, the admission's unit has 120 s
PAUSE_SECONDS = 3.0
MOST_ANSWER_BYTES = 8 * 1024 * 1024
PAGES = 10
PAGE = 100


class GithubFailed(Exception):
    """One sentence: what GitHub would not do, and what to do about it."""


class NoSuchAnswer(Exception):
    """An HTTP status that a caller may know how to take."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(f"{what}: HTTP {status}")
        self.status = status


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token along."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Github:
    """The API of one repository."""

    def __init__(self, settings: Settings, token: str, patience: float) -> None:
        self._base = f"{settings.api}/repos/{settings.repository}/actions"
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._deadline = time.monotonic() + patience

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's JSON, None for an empty one. Waits and asks again where that can help.

        Raises NoSuchAnswer for a status from 400 to 499, GithubFailed when there was no answer in time.
        """
        what = f"{method} {path.partition('?')[0]}"
        while True:
            try:
                return self._once(method, path, body)
            except urllib.error.HTTPError as error:
                waits = _waits(error.code, error.headers)
                if waits is None:
                    raise NoSuchAnswer(error.code, what) from None
                self.pause(waits, f"{what}: HTTP {error.code}")
            except (OSError, http.client.HTTPException) as error:
                self.pause(PAUSE_SECONDS, f"{what}: {type(error).__name__}")

    def pages(self, path: str, key: str) -> Iterator[Any]:
        """The entries of a paged list."""
        for page in range(1, PAGES + 1):
            mark = "&" if "?" in path else "?"
            entries = (self.call("GET", f"{path}{mark}per_page={PAGE}&page={page}") or {}).get(key, [])
            yield from entries
            if len(entries) < PAGE:
                return

    def pause(self, seconds: float, why: str) -> None:
        """Raises GithubFailed instead when time is up."""
        if time.monotonic() + seconds > self._deadline:
            raise GithubFailed(f"GitHub gave no usable answer in time ({why}); is its status page green?")
        time.sleep(seconds)

    def _once(self, method: str, path: str, body: Any) -> Any:
        request = urllib.request.Request(self._base + path, method=method)  # noqa: S310 - from the settings
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "pushbench-runner")
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            text = answer.read(MOST_ANSWER_BYTES + 1)
        if len(text) > MOST_ANSWER_BYTES:
            raise GithubFailed(f"GitHub's answer to {method} {path.partition('?')[0]} is too long")
        try:
            return json.loads(text) if text else None
        except ValueError:
            raise http.client.HTTPException("not JSON") from None


def _waits(status: int, headers: Any) -> float | None:
    """Seconds after which the same question may be answered; None when waiting cannot help."""
    limited = status == 429 or (status == 403 and (headers.get("Retry-After") or _used_up(headers)))
    if not limited and status < 500:
        return None
    after = headers.get("Retry-After", "")
    return max(PAUSE_SECONDS, float(after)) if after.isdecimal() else PAUSE_SECONDS


def _used_up(headers: Any) -> bool:
    return bool(headers.get("X-RateLimit-Remaining") == "0")


def register(github: Github, folder: Path, pause: Callable[[float, str], None]) -> None:
    """Register this machine for one job. Raises GithubFailed."""
    wanted = {"name": NAME, "runner_group_id": DEFAULT_GROUP, "labels": [LABEL], "work_folder": "_work"}
    while True:
        refuse_others(github)
        try:
            answer = github.call("POST", "/runners/generate-jitconfig", wanted)
            break
        except NoSuchAnswer as error:
            if error.status != 409:
                raise GithubFailed(_advice(error)) from None
        pause(PAUSE_SECONDS, f"a runner called {NAME} was there again")
    write_private(folder / "runner", str(answer["runner"]["id"]))
    write_private(folder / "jitconfig", answer["encoded_jit_config"])


def refuse_others(github: Github) -> None:
    """Forget what an earlier start of this machine left. Raises GithubFailed when another machine has our label."""
    try:
        for runner in list(github.pages("/runners", "runners")):
            ours = runner["name"] == NAME
            if runner["status"] == "online" and (ours or LABEL in {label["name"] for label in runner["labels"]}):
                hint = "two machines must not share the label; this one goes on when the other is gone"
                raise GithubFailed(f"the runner {runner['name']!r} is online with the label {LABEL}: {hint}")
            if ours:
                github.call("DELETE", f"/runners/{int(runner['id'])}")
    except NoSuchAnswer as error:
        raise GithubFailed(_advice(error)) from None


def admit(github: Github, settings: Settings, runner: int) -> str:
    """Wait until GitHub says which run the runner was given; returns its address.

    Raises Refused when it must not be here, GithubFailed when that cannot be known.
    """
    while True:
        try:
            for run in github.pages("/runs?status=in_progress", "workflow_runs"):
                jobs = github.pages(f"/runs/{int(run['id'])}/jobs?filter=latest", "jobs")
                if any(job["runner_id"] == runner and job["status"] == "in_progress" for job in jobs):
                    check_run(settings, run)
                    return str(run["html_url"])
        except NoSuchAnswer as error:
            raise GithubFailed(_advice(error)) from None
        github.pause(PAUSE_SECONDS, f"no run in progress says that it is on runner {runner}")


def _advice(error: NoSuchAnswer) -> str:
    if error.status in (401, 403, 404):
        return f"{error}; does the token live, for this repository, with Administration: write and Actions: read?"
    return f"{error}; GitHub's answer is not one that this version knows"


def write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
        file.write(text)


def main(verb: str, settings_file: Path, token_file: Path, folder: Path) -> int:
    try:
        settings = read_settings(settings_file)
        github = Github(settings, token_file.read_text().strip(), PATIENCE_SECONDS)
        if verb == "register":
            (folder / "jitconfig").unlink(missing_ok=True)
            register(github, folder, github.pause)
            print("registered for one job")
        else:
            address = admit(github, settings, int((folder / "runner").read_text()))
            print(f"admitted {address}")
    except (BadSettings, GithubFailed, Refused) as error:
        print(error, file=sys.stderr)
        return 1
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        print(f"GitHub's answer has another form than expected ({type(error).__name__}: {error})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(Path, sys.argv[2:])))
