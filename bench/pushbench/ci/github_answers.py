"""The parts of GitHub's answers that Pushbench reads. Unknown fields are ignored; missing and invalid ones are errors.

Shapes: https://docs.github.com/en/rest, below actions, pulls, issues/comments and checks/runs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""GitHub sends null for an empty text"""
Conclusion = Literal["success", "failure", "neutral", "cancelled", "timed_out", "action_required", "skipped"]
"""of a check run; `neutral` passes where the check is required"""
FAILED = ("failure", "timed_out")


class Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


class Account(Answer):
    login: str


class Repository(Answer):
    id: int
    full_name: str
    """`owner/name`"""
    owner: Account


class Run(Answer):
    """A workflow run, in its newest attempt."""

    id: int
    run_attempt: int
    event: str
    status: Text
    conclusion: str | None
    head_sha: str
    head_branch: str | None
    head_repository: Repository | None
    """None if the fork was deleted"""
    display_title: Text = ""
    """the workflow's `run-name`, if it has one; otherwise text that any user may have written"""
    path: str
    """of the workflow; GitHub may append `@` and the ref, which `workflow_file` removes"""
    html_url: str
    actor: Account | None = None
    """the user who caused the event; another user may have started a later attempt"""
    created_at: Text = ""
    """ISO 8601, UTC, like the two below"""
    run_started_at: Text = ""
    """of the newest attempt"""
    updated_at: Text = ""

    @property
    def workflow_file(self) -> str:
        return self.path.partition("@")[0]


class Step(Answer):
    name: str
    conclusion: str | None


class Job(Answer):
    id: int
    name: str
    conclusion: str | None
    html_url: Text
    steps: list[Step] = []

    @property
    def failed_steps(self) -> list[str]:
        return [step.name for step in self.steps if step.conclusion in FAILED]


class Jobs(Answer):
    jobs: list[Job]


class Artifact(Answer):
    id: int
    name: str
    size_bytes: int = Field(alias="size_in_bytes")
    """of its zip"""
    expired: bool


class Artifacts(Answer):
    artifacts: list[Artifact]


class Label(Answer):
    name: str


class Branch(Answer):
    """One side of a pull request."""

    ref: str
    sha: str
    repo: Repository | None
    """None if the fork was deleted"""


class PullRequest(Answer):
    number: int
    state: Literal["open", "closed"]
    html_url: str
    head: Branch
    base: Branch
    labels: list[Label]
    user: Account | None = None
    """the author; None if the account was deleted"""
    changed_files: int | None = None
    """None in lists of pull requests"""

    @property
    def label_names(self) -> frozenset[str]:
        return frozenset(label.name for label in self.labels)


class Comment(Answer):
    id: int
    html_url: str
    body: Text
    user: Account | None
    """None if the account was deleted"""


class Annotation(Answer):
    """An annotation of lines of a file in a check run; also the form for sending."""

    path: str
    """from the repository's root"""
    start_line: int = 1
    end_line: int = 1
    annotation_level: Literal["notice", "warning", "failure"] = "failure"
    title: Text = ""
    message: Text


class App(Answer):
    slug: str


class Output(Answer):
    annotations_count: int


class CheckRun(Answer):
    id: int
    name: str
    external_id: Text
    html_url: Text
    status: Text = "completed"
    conclusion: str | None = None
    app: App | None
    output: Output


class CheckRuns(Answer):
    check_runs: list[CheckRun]


class Refusal(Answer):
    message: Text = ""
    errors: Any = None
    """a list of objects with `field` and `message` or `code`, a list of strings, or a string"""


def refusal(content: bytes) -> str:
    """GitHub's reason for refusing a request: its message, and the affected fields."""
    try:
        told = Refusal.model_validate_json(content)
    except ValidationError:
        return "no reason given"
    errors = told.errors if isinstance(told.errors, list) else [told.errors] if told.errors else []
    details = ", ".join(_detail(each) for each in errors)
    return f"{told.message or 'no reason given'}{f' ({details})' if details else ''}"


def _detail(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    field, why = error.get("field"), error.get("message") or error.get("code") or "invalid"
    return f"{field}: {why}" if field else str(why)
