"""The event of a job, read from the inputs of Actions and validated here, because they are untrusted.

Texts that any user can choose, such as titles and branch names, are not kept: no decision depends on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pushbench.foundation.errors import UserError
from pushbench.foundation.model import departure

Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Repository = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$")]
Ref = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._/][A-Za-z0-9._/-]{0,254}$")]
Names = Annotated[str, StringConstraints(pattern=r"^([a-z0-9*][a-z0-9:*,/ -]{0,999})?$")]
Word = Annotated[str, StringConstraints(pattern=r"^([a-z0-9][a-z0-9-]{0,49})?$")]
Count = Annotated[str, StringConstraints(pattern=r"^[0-9]{0,3}$")]
Flag = Literal["", "true", "false"]
Number = Annotated[str, StringConstraints(pattern=r"^[0-9]{0,9}$")]
RunId = Annotated[str, StringConstraints(pattern=r"^[0-9]{0,20}$")]
NO_SHA = "0" * 40
"""the previous commit of a push that creates a branch"""
LARGEST_EVENT = 32 << 20
DEPENDABOT = "dependabot[bot]"

EventName = Literal["push", "pull_request", "merge_group", "workflow_dispatch"]


class _Part(BaseModel):
    """A part of GitHub's documents, which have many other fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PullRequest(_Part):
    number: int = Field(ge=1)
    head: Sha
    base: Sha
    head_repository: Repository | None = Field(description="repository of the head; null if the fork is gone")
    author: str = Field(max_length=100)
    labels: list[str]


class Inputs(_Part):
    """The inputs of `workflow_dispatch`, all optional; GitHub passes them as texts."""

    servers: Names = ""
    suite: Word = ""
    profile: Word = ""
    rounds: Count = ""
    base: Ref | Literal[""] = ""
    pull_request: Number = ""
    head: Sha | Literal[""] = ""
    accept: Flag = ""
    """the acceptances in the pull request's thresholds.yml take effect: the person who started the run has read them"""
    night: Flag = ""
    """whether it is the nightly run, which night.yml starts"""
    continue_: RunId = Field("", alias="continue")
    """the run that gave way and is continued by this one"""
    first: RunId = ""
    """the first run in the chain of continuations; `head` is the commit that all of them measure"""

    def besides(self, *known: str) -> list[str]:
        """The names of further inputs that are set."""
        return [name for name, value in self if name not in known and value not in ("", "false")]


class Event(_Part):
    name: EventName
    repository: Repository
    sha: Sha
    """the checked-out commit"""
    before: Sha | None = None
    """of a push: the previous commit of the branch"""
    ref: Ref | None = None
    """of a push: `refs/heads/` and the branch"""
    default_branch: Ref | None = None
    pull_request: PullRequest | None = None
    inputs: Inputs = Inputs()

    @property
    def other_branch(self) -> bool:
        """Whether it is a push to a branch other than the default one, so not a point of the trend."""
        return None not in (self.ref, self.default_branch) and self.ref != f"refs/heads/{self.default_branch}"

    @property
    def night(self) -> bool:
        return self.inputs.night == "true"

    @property
    def untrusted(self) -> bool:
        """Whether the measured code may be from an author without push access. GitHub treats Dependabot like a fork:
        its token can only read, so no image could be pushed.
        """
        if self.pull_request:
            return self.pull_request.head_repository != self.repository or self.pull_request.author == DEPENDABOT
        return bool(self.inputs.pull_request)


def read_event(environment: Mapping[str, str]) -> Event:
    """The event of this job, from the variables that Actions sets. Raises UserError for an invalid one."""
    payload = read_payload(environment)
    try:
        return Event.model_validate(_facts(environment, payload))
    except ValidationError as error:
        raise not_understood(environment, error) from None


def read_payload(environment: Mapping[str, str]) -> dict[str, Any]:
    """The webhook's document, unchecked. Raises UserError unless it is a JSON object of a plausible size."""
    path = Path(environment.get("GITHUB_EVENT_PATH", ""))
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_EVENT + 1)
        payload = json.loads(content) if len(content) <= LARGEST_EVENT else None
    except OSError as error:
        raise UserError(
            f"GITHUB_EVENT_PATH cannot be read: {error.strerror}",
            where=str(path),
            hint="outside GitHub Actions, `./pushbench compare --base main` does the same as a pull request",
        ) from None
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise UserError("the event is not a JSON object of a plausible size", where=str(path))
    return payload


def not_understood(environment: Mapping[str, str], error: ValidationError) -> UserError:
    """The error for an event that does not have the shape documented by GitHub."""
    where = environment.get("GITHUB_EVENT_PATH", "")
    return UserError(f"the event has an unexpected form: {departure(error)}", where=where)


def _facts(environment: Mapping[str, str], payload: Mapping[str, Any]) -> dict[str, Any]:
    name = environment.get("GITHUB_EVENT_NAME", "")
    facts: dict[str, Any] = {
        "name": name,
        "repository": environment.get("GITHUB_REPOSITORY", ""),
        "sha": environment.get("GITHUB_SHA", ""),
    }
    match name:
        case "push":
            before = payload.get("before")
            facts["before"] = None if before == NO_SHA else before
            facts["ref"] = payload.get("ref")
            repository = payload.get("repository")
            facts["default_branch"] = repository.get("default_branch") if isinstance(repository, dict) else None
        case "pull_request":
            facts["pull_request"] = found = _pull_request(payload.get("pull_request"))
            facts["sha"] = found.get("head")  # the commit that the author pushed, not GitHub's merge commit
        case "workflow_dispatch":
            inputs = payload.get("inputs") or {}
            facts["inputs"] = (
                {key: value or "" for key, value in inputs.items()} if isinstance(inputs, dict) else inputs
            )
    return facts


def _pull_request(found: Any) -> dict[str, Any]:
    def at(*path: str) -> Any:
        value = found
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    labels = at("labels")
    return {
        "number": at("number"),
        "head": at("head", "sha"),
        "base": at("base", "sha"),
        "head_repository": at("head", "repo", "full_name"),
        "author": at("user", "login"),
        "labels": [label.get("name", "") for label in labels if isinstance(label, dict)]
        if isinstance(labels, list)
        else [],
    }
