"""The machine admits the run that the runner was given according to GitHub's API, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import runner_api
import runner_app
import runner_github
import runner_hook
from tests.runner.runner_double import RUNS, Answer, Api, ask, jobs, listed, run
from tests.runner.runner_double import api as api  # noqa: PLC0414 - a fixture

UNIT = Path(__file__).parents[3] / "compose" / "runner" / "systemd" / "pushbench-github@.service"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_api, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(runner_api, "PAGE", 3)
    monkeypatch.setattr(runner_github, "ADMISSION_SECONDS", 0.4)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "runner").write_text("42")
    return tmp_path


def test_a_run_of_ours_is_admitted(api: Api, given: Path) -> None:
    api.answers |= {RUNS: listed(run(1, event="pull_request_target"), run(2)), **jobs(1, 41), **jobs(2, 42)}
    done = ask(api, "admit", given)
    line = "admitted https://github.com/me/pushbench/actions/runs/2\n"
    assert (done.returncode, done.stdout) == (0, line), done.stderr


def test_what_the_workflow_s_own_token_started_on_the_default_branch_is_admitted(api: Api, given: Path) -> None:
    """Nights, continuations and comments dispatch bench.yml. It matters where the run is, not who started it."""
    bot = {"login": "github-actions[bot]", "type": "Bot"}
    dispatched = run(2, event="workflow_dispatch", actor=bot, triggering_actor=bot)
    api.answers |= {RUNS: listed(dispatched), **jobs(2, 42)}
    assert ask(api, "admit", given).returncode == 0


@pytest.mark.parametrize("of_run", ["in_progress", "queued", "waiting", "pending", "requested", "of-tomorrow"])
@pytest.mark.parametrize("of_job", ["in_progress", "queued", "waiting"])
def test_the_runner_s_number_decides_and_not_a_status_that_is_late(
    api: Api, given: Path, of_run: str, of_job: str
) -> None:
    api.answers |= {RUNS: listed(run(2, of_run)), **jobs(2, 42, of_job)}
    assert ask(api, "admit", given).returncode == 0


def test_the_run_may_be_on_a_later_page(api: Api, given: Path) -> None:
    many = [run(number) for number in range(1, 4)]
    nobody = {key: value for number in range(1, 4) for key, value in jobs(number, None).items()}
    api.answers |= {**nobody, RUNS: listed(*many, run(200)), **jobs(200, 42)}
    assert ask(api, "admit", given).returncode == 0


def test_a_run_that_waited_for_long_is_found_below_newer_ones_that_are_over(api: Api, given: Path) -> None:
    over = [run(number, "completed") for number in range(10, 20)]
    api.answers |= {RUNS: listed(*over, run(2, "queued")), **jobs(2, 42)}
    assert ask(api, "admit", given).returncode == 0
    assert not any("/runs/1" in each for each in api.asked)  # no request for the jobs of completed runs


@pytest.mark.parametrize(
    "change",
    [
        {"head_repository": {"full_name": "mallory/pushbench"}, "event": "pull_request"},
        {"path": ".github/workflows/evil.yml"},
        {"path": ".github/workflows/night.yml", "event": "schedule"},
        {"head_branch": "main-evil"},
        {"head_branch": "feature", "event": "workflow_dispatch"},
        {"event": "issue_comment"},
    ],
)
@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_a_run_that_is_not_ours_is_not_admitted_whatever_the_job_says(
    api: Api, given: Path, change: Any, status: str
) -> None:
    api.answers |= {RUNS: listed(run(2, status, **change)), **jobs(2, 42)}
    done = ask(api, "admit", given)
    assert done.returncode == 1
    assert done.stderr.startswith("this machine does not run ")


def test_a_job_that_github_does_not_show_yet_is_waited_for(api: Api, given: Path) -> None:
    late: list[Answer] = [(200, {"workflow_runs": []})] * 7
    api.answers |= {RUNS: [*late, *listed(run(2))], **jobs(2, 42)}
    assert ask(api, "admit", given).returncode == 0


@pytest.mark.parametrize(
    ("of_run", "of_job", "number"), [("in_progress", "completed", 42), ("completed", "in_progress", 42)]
)
def test_what_is_over_is_not_admitted(api: Api, given: Path, of_run: str, of_job: str, number: int) -> None:
    api.answers |= {RUNS: listed(run(2, of_run)), **jobs(2, number, of_job)}
    done = ask(api, "admit", given)
    assert done.returncode == 1
    assert "no run that is not over says that it is on runner 42" in done.stderr


def test_a_job_of_another_runner_is_never_taken_for_ours(api: Api, given: Path) -> None:
    api.answers |= {RUNS: listed(run(2)), **jobs(2, 43)}
    assert ask(api, "admit", given).returncode == 1


def test_whoever_waits_waits_longer_than_what_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    found = re.search(r"^TimeoutStartSec=([0-9]+)$", UNIT.read_text(), re.MULTILINE)
    assert found
    longest = runner_github.ADMISSION_SECONDS + runner_app.SIGNING_SECONDS + runner_app.PATIENCE_SECONDS
    assert longest + runner_api.TIMEOUT_SECONDS < int(found[1]) < runner_hook.ADMISSION_SECONDS
