"""The benchmark machine runs our workflow's jobs, for our own code, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runner_policy import MOST_EVENT_BYTES, Refused, Settings, check_job, check_run, parse_event, read_settings

RUNNER = Path(__file__).parents[3] / "compose" / "runner"
REPOSITORY = "me/pushbench"
WORKFLOW = ".github/workflows/bench.yml"
SHA = "0123456789abcdef0123456789abcdef01234567"
SETTINGS = Settings(REPOSITORY, "main", WORKFLOW, "https://github.com", "https://api.github.com", "1", "")
SETTINGS_FILE = "\n".join(f"{name}={getattr(SETTINGS, name)}" for name in Settings.__dataclass_fields__) + "\n"

Environment = dict[str, str]
Document = dict[str, Any]


@dataclass
class Job:
    """The input of a hook. `change` and `say` return a copy with a difference."""

    environment: Environment
    event: Document

    def change(self, **variables: str | None) -> Job:
        environment = {**self.environment, **{name: value for name, value in variables.items() if value is not None}}
        return Job(
            {name: value for name, value in environment.items() if variables.get(name, "") is not None}, self.event
        )

    def say(self, value: object, *path: str) -> Job:
        event = json.loads(json.dumps(self.event))
        place = event
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return Job(self.environment, event)


def job(name: str, ref: str, event: Document) -> Job:
    return Job(
        {
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": "123456789",
            "GITHUB_SHA": SHA,
            "GITHUB_EVENT_NAME": name,
            "GITHUB_REF": ref,
            "GITHUB_WORKFLOW_REF": f"{REPOSITORY}/{WORKFLOW}@{ref}",
        },
        event,
    )


OURS = {"full_name": REPOSITORY}
MAIN = "refs/heads/main"
PUSH = job("push", MAIN, {"ref": MAIN, "repository": OURS})
DISPATCH = job("workflow_dispatch", MAIN, {"ref": MAIN, "repository": OURS, "inputs": {"sha": SHA}})
NIGHTLY = job("schedule", MAIN, {"schedule": "17 3 * * *"})
BOT = {"login": "github-actions[bot]", "type": "Bot"}
DISPATCH_BY_TOKEN = DISPATCH.change(GITHUB_ACTOR="github-actions[bot]").say(BOT, "sender")
PULL_REQUEST = job(
    "pull_request",
    "refs/pull/7/merge",
    {"number": 7, "repository": OURS, "pull_request": {"head": {"repo": OURS, "sha": SHA}, "base": {"repo": OURS}}},
)
FORK = PULL_REQUEST.say("mallory/pushbench", "pull_request", "head", "repo", "full_name")


def refusal(case: Job) -> str | None:
    try:
        check_job(SETTINGS, case.environment, case.event)
    except Refused as reason:
        return str(reason)
    return None


@pytest.mark.parametrize("case", [PUSH, DISPATCH, DISPATCH_BY_TOKEN, NIGHTLY, PULL_REQUEST])
def test_our_own_workflow_may_run(case: Job) -> None:
    assert refusal(case) is None


WHO_ELSE = {
    "another repository": (PUSH.change(GITHUB_REPOSITORY="me/other"), "'me/other'"),
    "a repository with our name in it": (PUSH.change(GITHUB_REPOSITORY="me/pushbench-evil"), "'me/pushbench-evil'"),
    "other letters": (PUSH.change(GITHUB_REPOSITORY="ME/pushbench"), "'ME/pushbench'"),
    "another server": (PUSH.change(GITHUB_SERVER_URL="https://github.com.evil.example"), "GITHUB_SERVER_URL"),
    "another workflow": (
        PUSH.change(GITHUB_WORKFLOW_REF=f"{REPOSITORY}/.github/workflows/ci.yml@{MAIN}"),
        "use .github/workflows/bench.yml",
    ),
    "the nights, which only dispatch": (
        NIGHTLY.change(GITHUB_WORKFLOW_REF=f"{REPOSITORY}/.github/workflows/night.yml@{MAIN}"),
        "use .github/workflows/bench.yml",
    ),
    "a workflow whose name begins like ours": (
        PUSH.change(GITHUB_WORKFLOW_REF=f"{REPOSITORY}/{WORKFLOW}.evil.yml@{MAIN}"),
        "bench.yml.evil.yml",
    ),
    "a workflow of another repository": (PUSH.change(GITHUB_WORKFLOW_REF=f"x/y/{WORKFLOW}@{MAIN}"), "'x/y/"),
    "no ref of the workflow": (PUSH.change(GITHUB_WORKFLOW_REF=f"{REPOSITORY}/{WORKFLOW}"), "the workflow"),
    "two refs of the workflow": (
        PUSH.change(GITHUB_WORKFLOW_REF=f"{REPOSITORY}/{WORKFLOW}@refs/heads/evil@{MAIN}"),
        "a workflow file of",
    ),
    "another ref of the workflow": (
        PUSH.change(GITHUB_WORKFLOW_REF=f"{REPOSITORY}/{WORKFLOW}@refs/heads/evil"),
        "a workflow file of",
    ),
    "a line break": (
        PUSH.change(GITHUB_WORKFLOW_REF=f"{REPOSITORY}/{WORKFLOW}@{MAIN}\n::set-env"),
        "GITHUB_WORKFLOW_REF",
    ),
    "a final line break": (PUSH.change(GITHUB_REPOSITORY=f"{REPOSITORY}\n"), "GITHUB_REPOSITORY"),
    "a NUL": (PUSH.change(GITHUB_REF=f"{MAIN}\0"), "GITHUB_REF"),
    "a letter that looks like another": (PUSH.change(GITHUB_REF="refs/heads/mаin"), "GITHUB_REF"),  # noqa: RUF001
    "an endless variable": (PUSH.change(GITHUB_REF=MAIN + "x" * 10_000), "GITHUB_REF"),
    "another branch": (job("push", "refs/heads/dev", {"ref": "refs/heads/dev", "repository": OURS}), "run it on main"),
    "a branch that begins like main": (
        job("push", "refs/heads/main-evil", {"ref": "refs/heads/main-evil", "repository": OURS}),
        "'refs/heads/main-evil'",
    ),
    "a tag named main": (
        job("push", "refs/tags/main", {"ref": "refs/tags/main", "repository": OURS}),
        "refs/tags/main",
    ),
    "a dispatch on a branch": (
        job("workflow_dispatch", "refs/heads/dev", {"ref": "refs/heads/dev", "repository": OURS}),
        "workflow_dispatch on",
    ),
    "another event": (job("pull_request_target", MAIN, PULL_REQUEST.event), "the event 'pull_request_target'"),
    "a comment": (job("issue_comment", MAIN, {"repository": OURS}), "the event 'issue_comment'"),
    "an event of two lines": (PUSH.change(GITHUB_EVENT_NAME="push\nschedule"), "GITHUB_EVENT_NAME"),
    "no number of the run": (PUSH.change(GITHUB_RUN_ID="12; rm -rf /"), "GITHUB_RUN_ID"),
    "no commit": (PUSH.change(GITHUB_SHA="main"), "no commit"),
    "an event of another ref": (PUSH.say("refs/heads/dev", "ref"), "the event's ref"),
    "an event of another repository": (PUSH.say("me/other", "repository", "full_name"), "'me/other'"),
    "an event without repository": (PUSH.say(None, "repository"), "repository.full_name is not known"),
    "a fork": (FORK, "a maintainer reads it and starts .github/workflows/bench.yml on main with its exact commit"),
    "Dependabot": (
        PULL_REQUEST.say({"login": "dependabot[bot]"}, "pull_request", "user"),
        "pull requests from 'dependabot[bot]'",
    ),
    "a fork that was deleted": (PULL_REQUEST.say(None, "pull_request", "head", "repo"), "pull_request.head.repo"),
    "a head that is a list": (PULL_REQUEST.say([OURS], "pull_request", "head", "repo"), "pull_request.head.repo"),
    "a pull request elsewhere": (PULL_REQUEST.say("x/y", "pull_request", "base", "repo", "full_name"), "'x/y'"),
    "a pull request of another number": (PULL_REQUEST.say(8, "number"), "a pull request whose ref"),
    "a pull request numbered true": (
        job("pull_request", "refs/pull/True/merge", {**PULL_REQUEST.event, "number": True}),
        "a pull request whose ref",
    ),
    "a pull request's head that is no commit": (PULL_REQUEST.say("main", "pull_request", "head", "sha"), "no commit"),
}


@pytest.mark.parametrize(("case", "why"), WHO_ELSE.values(), ids=WHO_ELSE.keys())
def test_everything_else_is_refused_in_one_sentence(case: Job, why: str) -> None:
    sentence = refusal(case)
    assert sentence is not None
    assert why in sentence
    assert sentence.startswith("this machine does not run ")
    assert sentence.isprintable() and sentence.isascii() and "::" not in sentence and len(sentence) < 400


@pytest.mark.parametrize("name", PUSH.environment)
def test_a_missing_variable_is_refused(name: str) -> None:
    assert f"{name} is missing" in (refusal(PUSH.change(**{name: None})) or "")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"ref": NaN}',
        b'{"ref": "a", "ref": "b"}',
        b'{"ref": "a"} trailing',
        b"[" * 100_000,
        b'{"ref": "' + b"x" * MOST_EVENT_BYTES + b'"}',
    ],
    ids=lambda text: repr(text[:20]),
)
def test_an_event_file_that_is_not_one_plain_object_is_refused(text: bytes) -> None:
    with pytest.raises(Refused, match="event file"):
        parse_event(text)


RUN: Document = {
    "path": WORKFLOW,
    "event": "pull_request",
    "head_branch": "feature",
    "repository": OURS,
    "head_repository": OURS,
}


def test_a_run_is_held_against_the_same_rules_by_what_github_says_of_it() -> None:
    check_run(SETTINGS, RUN)
    check_run(SETTINGS, {**RUN, "event": "push", "head_branch": "main"})
    for other in (
        {"path": ".github/workflows/ci.yml"},
        {"path": f"x{WORKFLOW}"},
        {"event": "pull_request_target"},
        {"event": "push"},
        {"event": "workflow_dispatch", "head_branch": "main-evil"},
        {"repository": {"full_name": "me/other"}},
        {"head_repository": {"full_name": "mallory/pushbench"}},
        {"head_repository": None},
        {"actor": {"login": "dependabot[bot]"}},
    ):
        with pytest.raises(Refused):
            check_run(SETTINGS, {**RUN, **other})
    with pytest.raises(Refused):
        check_run(SETTINGS, None)


# ---- the hook as the runner starts it


@dataclass
class Machine:
    """The files that the hook reads."""

    folder: Path

    @property
    def admitted(self) -> Path:
        return self.folder / "admitted"

    def hook(self, case: Job, *, event: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run the hook below a process named like the runner's worker, which then continues like `if: always()`."""
        (self.folder / "event.json").write_text(json.dumps(case.event))
        program = "import runner_hook as hook, sys; from pathlib import Path; hook.UPLOAD_SECONDS = 0.1"
        program += "; hook.ADMISSION_SECONDS = 0.5; sys.exit(hook.main(Path(sys.argv[1]), Path(sys.argv[2])))"
        worker = self.folder / "Runner.Worker"
        worker.write_text('#!/bin/sh\n"$@"\ncode=$?\necho "the next step runs"\nexit $code\n')
        worker.chmod(0o755)
        return subprocess.run(
            [str(worker), sys.executable, "-c", program, str(self.folder / "settings"), str(self.admitted)],
            env={
                **case.environment,
                "GITHUB_EVENT_PATH": str(event or self.folder / "event.json"),
                "PYTHONPATH": str(RUNNER),
            },
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "settings").write_text(SETTINGS_FILE)
    return Machine(tmp_path)


def test_an_admitted_job_goes_on(machine: Machine) -> None:
    machine.admitted.touch()
    done = machine.hook(PUSH)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the next step runs\n", "")


def test_a_refused_job_runs_no_step_even_one_that_runs_always(machine: Machine) -> None:
    machine.admitted.touch()
    done = machine.hook(FORK)
    assert done.returncode != 0
    assert done.stdout.startswith(
        "::error title=Refused by the benchmark machine::this machine does not run pull requests"
    )
    assert "mallory/pushbench" in done.stdout
    assert "the next step runs" not in done.stdout


def test_a_job_that_github_does_not_know_is_refused(machine: Machine) -> None:
    done = machine.hook(PUSH)
    assert done.returncode != 0
    assert "a job that it could not find at GitHub" in done.stdout
    assert "the next step runs" not in done.stdout


def test_the_event_file_must_be_there_and_be_a_file(machine: Machine, tmp_path: Path) -> None:
    machine.admitted.touch()
    (tmp_path / "link.json").symlink_to(tmp_path / "event.json")
    os.mkfifo(tmp_path / "pipe")
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(10 * 1024**3)
    for event in (tmp_path / "none.json", tmp_path / "link.json", tmp_path / "pipe", tmp_path, huge):
        done = machine.hook(PUSH, event=event)
        assert done.returncode != 0
        assert "this machine does not run a job" in done.stdout
        assert "the next step runs" not in done.stdout


@pytest.mark.parametrize(
    "text", ["", "repository=me/pushbench\n", SETTINGS_FILE + "more=1\n", SETTINGS_FILE + "runner_group=x\n"]
)
def test_settings_that_are_not_whole_refuse_every_job(machine: Machine, text: str) -> None:
    machine.admitted.touch()
    (machine.folder / "settings").write_text(text)
    done = machine.hook(PUSH)
    assert done.returncode != 0
    assert "run provision.sh again" in done.stdout
    assert "the next step runs" not in done.stdout


def test_settings_are_read_as_they_were_written(machine: Machine) -> None:
    assert read_settings(machine.folder / "settings") == SETTINGS
