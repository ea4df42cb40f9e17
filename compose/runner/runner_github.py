"""The calls to GitHub that need the machine's credential.

    runner_github.py register SETTINGS CREDENTIAL FOLDER   writes FOLDER/jitconfig (good for one job) and FOLDER/runner
    runner_github.py admit SETTINGS CREDENTIAL FOLDER      exit status 0 if the run that it was given may be here
    runner_github.py retire SETTINGS CREDENTIAL FOLDER     exit status 0 if GitHub has removed it

CREDENTIAL is a file with a token or a GitHub App's private key, so that it is in no argument and no environment; it is
in no message either. Standard library only. Endpoints: https://docs.github.com/rest/actions/self-hosted-runners,
.../workflow-runs and .../workflow-jobs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import runner_api
from runner_api import Github, GithubFailed, NoSuchAnswer
from runner_app import installation_token, is_app_key
from runner_policy import FLEET, BadSettings, Refused, Settings, check_run, read_settings

LABEL = "pushbench"
# A just-in-time runner has the labels that the request names and no others: the runner's own configuration adds
# `self-hosted` and similar labels, and the just-in-time one replaces it.
# https://docs.github.com/rest/actions/self-hosted-runners#create-configuration-for-a-just-in-time-runner-for-a-repository
# https://github.com/actions/runner/blob/main/src/Runner.Listener/Configuration/ConfigurationManager.cs (CreateNewAgent)
LABELS = ("self-hosted", LABEL)
PATIENCE_SECONDS = 90.0  # for one command; the loop starts it again
# The lists of runs and jobs lag behind: a run appears as queued, or not at all, while its job is here already. Less
# than the unit's TimeoutStartSec, which is less than the time that the hook waits.
ADMISSION_SECONDS = 300.0
MOST_PAUSE_SECONDS = 15.0
# The statuses of runs that are not over:
# https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository
ALIVE = ("in_progress", "queued", "waiting", "pending", "requested")
NEWEST_PAGES = 2  # of the list without a filter, which lags less
OVER = "completed"
NOTICE_DAYS, URGENT_DAYS = 30, 7
RIGHTS = "Administration: write and Actions: read"


def register(github: Github, settings: Settings, folder: Path, pause: Callable[[float, str], None]) -> int:
    """Registers this machine for one job; returns the runner's number. Raises GithubFailed."""
    # GitHub gives a name to one runner at a time, which keeps a second machine out.
    wanted = {"name": settings.name, "runner_group_id": settings.group, "labels": [*LABELS], "work_folder": "_work"}
    while True:
        refuse_others(github, settings)
        try:
            answer = github.call("POST", f"{_actions(settings)}/runners/generate-jitconfig", wanted)
            break
        except NoSuchAnswer as error:
            if error.status != 409:
                raise GithubFailed(_advice(error, settings)) from None
        pause(runner_api.PAUSE_SECONDS, f"a runner called {settings.name} was there again")
    number = int(answer["runner"]["id"])
    given = {str(label["name"]).lower() for label in answer["runner"]["labels"]}
    if missing := [label for label in LABELS if label not in given]:
        raise GithubFailed(
            f"GitHub registered the runner without the label {' and '.join(missing)}, so that no job would reach it; "
            "compare with `runs-on` of the workflow, and report it to Pushbench"
        )
    write_private(folder / "runner", str(number))
    write_private(folder / "jitconfig", answer["encoded_jit_config"])
    return number


def refuse_others(github: Github, settings: Settings) -> None:
    """Removes what an earlier start of this machine left. Raises GithubFailed if another machine has our label, unless
    both are of a fleet."""
    try:
        for runner in list(github.pages(f"{_actions(settings)}/runners", "runners")):
            ours = runner["name"] == settings.name
            both = FLEET.fullmatch(settings.name) and FLEET.fullmatch(str(runner["name"])) and not ours
            labelled = not both and LABEL in {label["name"] for label in runner["labels"]}
            if runner["status"] == "online" and (ours or labelled):
                hint = (
                    "two machines must not share the label, unless each has a --fleet of its own; this one goes on "
                    "when the other is gone"
                )
                raise GithubFailed(f"the runner {runner['name']!r} is online with the label {LABEL}: {hint}")
            if ours:
                busy = f"the runner {settings.name} still counts as busy with its last job"
                while not forget(github, settings, int(runner["id"])):
                    github.pause(runner_api.PAUSE_SECONDS, busy)
    except NoSuchAnswer as error:
        raise GithubFailed(_advice(error, settings)) from None


def forget(github: Github, settings: Settings, runner: int) -> bool:
    """Whether GitHub has removed the runner and gives it no job. It answers 422 while the runner has one."""
    try:
        github.call("DELETE", f"{_actions(settings)}/runners/{runner}")
    except NoSuchAnswer as error:
        if error.status == 422:
            return False
        if error.status != 404:
            raise
    return True


def admit(github: Github, settings: Settings, runner: int) -> str:
    """Waits until GitHub reports which run the runner was given; returns the run's address.

    The statuses of runs and jobs lag, so the runner's number decides; only completed ones are left out.
    Raises Refused if the run must not be here, GithubFailed if that cannot be established.
    """
    wait = runner_api.PAUSE_SECONDS
    while True:
        try:
            for run in _runs(github, settings):
                jobs = github.pages(f"{_actions(settings)}/runs/{int(run['id'])}/jobs?filter=latest", "jobs")
                if any(job["runner_id"] == runner and job["status"] != OVER for job in jobs):
                    check_run(settings, run)
                    return str(run["html_url"])
        except NoSuchAnswer as error:
            raise GithubFailed(_advice(error, settings)) from None
        github.pause(wait, f"no run that is not over says that it is on runner {runner}")
        wait = min(wait * 1.5, MOST_PAUSE_SECONDS)  # each look is a request for every run that waits


def _runs(github: Github, settings: Settings) -> Iterator[Any]:
    """Yields each run of the repository that may have a job here, once."""
    seen: set[int] = set()
    lists = [(f"?status={ALIVE[0]}", runner_api.PAGES), ("", NEWEST_PAGES)]
    lists += [(f"?status={status}", runner_api.PAGES) for status in ALIVE[1:]]
    for query, pages in lists:
        for run in github.pages(f"{_actions(settings)}/runs{query}", "workflow_runs", pages):
            number = int(run["id"])
            if number not in seen and run["status"] != OVER:
                seen.add(number)
                yield run


def expiry(expires: datetime | None, now: datetime) -> str | None:
    """A warning if the token expires within 30 days, another within 7."""
    if expires is None or (days := (expires - now).days) >= NOTICE_DAYS:
        return None
    told = f"the token expires in {max(days, 0)} days, on {expires:%Y-%m-%d}"
    again = "make a new one and give it to provision.sh with --token-file"
    if days < URGENT_DAYS:
        return f"URGENT: {told}; then this machine takes no job any more: {again} now"
    return f"notice: {told}: {again} before"


def _actions(settings: Settings) -> str:
    return f"/repos/{settings.repository}/actions"


def _advice(error: NoSuchAnswer, settings: Settings) -> str:
    if error.status == 401:
        return (
            f"GitHub does not accept the token ({error}): it expired or was revoked; make a new one for "
            f"{settings.repository} with {RIGHTS}, and run provision.sh again with --token-file"
        )
    if error.status in (403, 404):
        hint = (
            f"is its access limited to another repository, does it have {RIGHTS}, is {settings.group} a runner group?"
        )
        return f"the token may not do that for {settings.repository} ({error}): {hint}"
    return f"{error}; GitHub's answer is not one that this version knows"


def write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
        file.write(text)


def main(verb: str, settings_file: Path, credential: Path, folder: Path) -> int:
    try:
        if verb == "register":
            (folder / "jitconfig").unlink(missing_ok=True)
        settings = read_settings(settings_file)
        patience = ADMISSION_SECONDS if verb == "admit" else PATIENCE_SECONDS
        secret = credential.read_text().strip()
        token = installation_token(settings, credential) if is_app_key(secret) else secret
        print(act(verb, Github(settings.api, token, patience), settings, folder))
    except (BadSettings, GithubFailed, Refused) as error:
        print(error, file=sys.stderr)
        return 1
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        print(f"GitHub's answer has another form than expected ({type(error).__name__}: {error})", file=sys.stderr)
        return 1
    return 0


def act(verb: str, github: Github, settings: Settings, folder: Path) -> str:
    """Executes the verb; returns the line for the journal. Raises GithubFailed and Refused."""
    if verb == "register":
        number = register(github, settings, folder, github.pause)
        if warning := expiry(github.expires, datetime.now(UTC)):
            print(warning, file=sys.stderr)
        return f"registered for one job as runner {number} with the labels {', '.join(LABELS)}"
    number = int((folder / "runner").read_text())
    if verb == "admit":
        return f"admitted {admit(github, settings, number)}"
    try:
        if forget(github, settings, number):
            return f"runner {number} is retired: it had no job"
    except NoSuchAnswer as error:
        raise GithubFailed(_advice(error, settings)) from None
    raise GithubFailed(f"runner {number} has been given a job; it is retired after it")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(Path, sys.argv[2:])))
