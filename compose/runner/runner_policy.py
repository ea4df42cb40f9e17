"""Which jobs may run on the benchmark machine. Decides only: it reads no environment and makes no calls.

Two callers check a job against the same rules: the job-started hook, with the job's environment and event file, and the
admission, with the answer of GitHub's API about the run. Standard library only: it runs on the bare machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ON_DEFAULT_BRANCH = ("push", "schedule", "workflow_dispatch")
PULL_REQUEST = "pull_request"
DEPENDABOT = "dependabot[bot]"  # pushes to our repository, but nobody here wrote or read what it updates
MOST_EVENT_BYTES = 5 * 1024 * 1024  # a pull request's event is some 30 KB; GitHub itself stops at 25 MB
READ_FIRST = "see compose/runner/README.md"


class Refused(Exception):
    """One sentence: what is refused, and why; then what to do."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"this machine does not run {what}; {hint}")


class BadSettings(Exception):
    """One sentence about the settings file."""


ALONE = "pushbench"
FLEET = re.compile(r"pushbench-[a-z0-9][a-z0-9-]{0,39}", re.ASCII)


@dataclass(frozen=True)
class Settings:
    """The options of `provision.sh`."""

    repository: str
    """owner/name, as GitHub spells it"""
    branch: str
    """the default branch"""
    workflow: str
    """the only workflow file, such as .github/workflows/bench.yml"""
    server: str
    api: str
    runner_group: str
    """the number of the runner group; 1 is the default group, the only one of a personal repository"""
    app_id: str
    """the id of the GitHub App whose key is the credential; empty if the credential is a token"""
    name: str = ALONE
    """the name of this machine on GitHub; any other than `ALONE` is of a fleet, whose machines share the label"""

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    @property
    def group(self) -> int:
        return int(self.runner_group)


def read_settings(path: Path) -> Settings:
    """Reads lines of `name=value`. Raises BadSettings."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read ({error}); run provision.sh again") from None
    values = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    try:
        settings = Settings(**values)
        _digits("runner_group", settings.runner_group)
        if settings.name != ALONE and not FLEET.fullmatch(settings.name):
            raise TypeError("name")
        return settings
    except (TypeError, Refused):
        wanted = ", ".join(Settings.__dataclass_fields__)
        raise BadSettings(f"{path} must have exactly {wanted}, each of its form; run provision.sh again") from None


def parse_event(text: bytes) -> Mapping[str, Any]:
    """Parses the event file. Raises Refused unless it is one plain JSON object without duplicate keys."""
    hint = "start the workflow again, and if that is no help look at the runner's log"
    if len(text) > MOST_EVENT_BYTES:
        raise Refused(f"a job whose event file has {len(text)} bytes, more than {MOST_EVENT_BYTES}", hint)
    try:
        event = json.loads(text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused("a job whose event file is not JSON", hint) from None
    if not isinstance(event, dict):
        raise Refused("a job whose event file is not a JSON object", hint)
    return event


def check_job(settings: Settings, environment: Mapping[str, str], event: Mapping[str, Any]) -> None:
    """Raises Refused unless environment and event both say that this is our workflow, for our repository's own code."""
    repository = _own_repository(settings, _variable(environment, "GITHUB_REPOSITORY"))
    _same("GITHUB_SERVER_URL", _variable(environment, "GITHUB_SERVER_URL"), settings.server)
    _digits("GITHUB_RUN_ID", _variable(environment, "GITHUB_RUN_ID"))
    _commit("GITHUB_SHA", _variable(environment, "GITHUB_SHA"))
    name, ref = _variable(environment, "GITHUB_EVENT_NAME"), _variable(environment, "GITHUB_REF")
    file, at, workflow_ref = _variable(environment, "GITHUB_WORKFLOW_REF").partition("@")
    if not at or file != f"{repository}/{settings.workflow}":
        raise Refused(f"the workflow {_shown(file)}", f"use {settings.workflow}, the only one that may benchmark")
    if workflow_ref != ref:
        raise Refused(f"a workflow file of {_shown(workflow_ref)} for {_shown(ref)}", READ_FIRST)
    if name in ON_DEFAULT_BRANCH:
        _on_default_branch(settings, name, ref, event)
    elif name == PULL_REQUEST:
        _own_pull_request(settings, ref, event)
    else:
        raise _refused_event(name)


def check_run(settings: Settings, run: Any) -> None:
    """Raises Refused unless the API's answer about a workflow run says the same."""
    _own_repository(settings, _text(run, "repository", "full_name"))
    path = _text(run, "path").partition("@")[0]
    if path != settings.workflow:
        raise Refused(f"the workflow {_shown(path)}", f"use {settings.workflow}, the only one that may benchmark")
    name, branch = _text(run, "event"), _text(run, "head_branch")
    if name not in (*ON_DEFAULT_BRANCH, PULL_REQUEST):
        raise _refused_event(name)
    _own_head(settings, _text(run, "head_repository", "full_name"))
    if name == PULL_REQUEST:
        _no_bot(settings, _login(run, "actor"))
    if name in ON_DEFAULT_BRANCH and branch != settings.branch:
        raise _refused_branch(settings, name, branch)


def _on_default_branch(settings: Settings, name: str, ref: str, event: Mapping[str, Any]) -> None:
    if ref != settings.ref:
        raise _refused_branch(settings, name, ref)
    # The event of a schedule contains little more than its cron line.
    if name != "schedule":
        _own_repository(settings, _text(event, "repository", "full_name"))
        _same("the event's ref", _text(event, "ref"), settings.ref)


def _own_pull_request(settings: Settings, ref: str, event: Mapping[str, Any]) -> None:
    number = event.get("number")
    if type(number) is not int or ref != f"refs/pull/{number}/merge":
        raise Refused(f"a pull request whose ref is {_shown(ref)}", READ_FIRST)
    _own_repository(settings, _text(event, "repository", "full_name"))
    _own_repository(settings, _text(event, "pull_request", "base", "repo", "full_name"))
    _own_head(settings, _text(event, "pull_request", "head", "repo", "full_name"))
    _no_bot(settings, _login(event, "pull_request", "user"))
    _commit("the pull request's head", _text(event, "pull_request", "head", "sha"))


def _own_repository(settings: Settings, repository: str) -> str:
    if repository != settings.repository:
        raise Refused(f"jobs of {_shown(repository)}", f"it belongs to {settings.repository}: use a runner of your own")
    return repository


def _own_head(settings: Settings, repository: str) -> None:
    if repository != settings.repository:
        raise _refused_author(settings, repository)


def _no_bot(settings: Settings, login: object) -> None:
    if login == DEPENDABOT:
        raise _refused_author(settings, DEPENDABOT)


def _login(document: Any, *path: str) -> object:
    for key in (*path, "login"):
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _refused_author(settings: Settings, who: str) -> Refused:
    hint = f"a maintainer reads it and starts {settings.workflow} on {settings.branch} with its exact commit"
    return Refused(f"pull requests from {_shown(who)}", hint)


def _refused_event(name: str) -> Refused:
    return Refused(f"the event {_shown(name)}", f"use {', '.join(ON_DEFAULT_BRANCH)} or {PULL_REQUEST}")


def _refused_branch(settings: Settings, name: str, where: str) -> Refused:
    return Refused(f"{name} on {_shown(where)}", f"run it on {settings.branch}, or open a pull request")


def _variable(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not re.fullmatch(r"[!-~]{1,400}", value):  # ASCII without spaces, so without line breaks
        raise Refused(f"a job whose {name} is {_shown(value) if value else 'missing'}", READ_FIRST)
    return value


def _text(document: Any, *path: str) -> str:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    if not isinstance(document, str) or not document:
        raise Refused(f"a job whose {'.'.join(path)} is not known", READ_FIRST)
    return document


def _same(what: str, value: str, wanted: str) -> None:
    if value != wanted:
        raise Refused(f"a job whose {what} is {_shown(value)} and not {wanted}", READ_FIRST)


def _digits(what: str, value: str) -> None:
    if not re.fullmatch(r"[0-9]{1,20}", value):
        raise Refused(f"a job whose {what} is {_shown(value)}", READ_FIRST)


def _commit(what: str, value: str) -> None:
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", value):
        raise Refused(f"a job whose {what} is {_shown(value)}, no commit", READ_FIRST)


def _shown(value: str) -> str:
    """Makes a value safe in a log line and in a workflow command: short printable ASCII that neither interprets."""
    cut = value if len(value) <= 80 else f"{value[:80]}..."
    return "'" + re.sub(r"[^ -~]|[%:'`<>@]", "?", cut) + "'"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
