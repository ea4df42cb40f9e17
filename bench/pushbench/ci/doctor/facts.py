"""The facts about a repository, including those hidden from the token. This module neither queries nor decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pushbench.ci.doctor import answers

T = TypeVar("T")

ADMINISTRATION, ACTIONS, CONTENTS = "Administration: read", "Actions: read", "Contents: read"
VARIABLES, SECRETS, PAGES, ISSUES = "Variables: read", "Secrets: read", "Pages: read", "Issues: read"
CHECKS, METADATA = "Checks: read", "Metadata: read"
ORGANIZATION_RUNNERS = "the organisation's permission Self-hosted runners: read"
PACKAGES = "the scope read:packages, which no fine-grained token can have"
"""https://docs.github.com/en/rest/packages/packages"""


@dataclass(frozen=True)
class Hidden:
    """GitHub did not answer the query."""

    why: str
    """such as `needs Administration: read`"""


@dataclass(frozen=True)
class Absent:
    """GitHub answered that there is none."""


class NotShown(Exception):
    """A check needs a hidden fact; the message gives the reason."""


def shown(fact: T | Hidden) -> T:
    """The fact. Raises NotShown."""
    if isinstance(fact, Hidden):
        raise NotShown(fact.why)
    return fact


@dataclass(frozen=True)
class Measured:
    """A run of `bench.yml` and its jobs."""

    run: answers.Run
    jobs: Sequence[answers.Job]

    def on_machine(self, label: str) -> answers.Job | None:
        """The job that requests the machine, if any."""
        return next((job for job in self.jobs if label in job.labels), None)


@dataclass(frozen=True)
class RunnerGroup:
    group: answers.Group
    runners: Sequence[answers.Runner]


@dataclass(frozen=True)
class PagesEnvironment:
    policy: answers.BranchPolicy | None
    branches: Sequence[str]
    """patterns, if the policy has its own"""


@dataclass(frozen=True)
class Facts:
    """`name` is the repository as the user named it, checked to be owner/name."""

    name: str
    now: datetime
    profiles: frozenset[str]
    """profiles of the suites in the checkout"""
    repository: answers.Repository
    files: Mapping[str, str] | Hidden
    """workflows, local actions and CODEOWNERS of the default branch, by path"""
    permissions: answers.ActionsPermissions | Hidden
    selected: answers.SelectedActions | Hidden | None
    """None if no list is in force"""
    token: answers.WorkflowToken | Hidden
    approval: answers.Approval | answers.PrivateForks | Hidden
    workflows: Sequence[answers.Workflow] | Hidden
    runners: Sequence[answers.Runner] | Hidden
    """of the repository only"""
    groups: Sequence[RunnerGroup] | Hidden
    """of the organisation, as far as the repository may use them"""
    releases: Sequence[answers.Release] | Hidden
    """of the runner"""
    variables: Sequence[answers.Variable] | Hidden
    secrets: Sequence[str] | Hidden
    labels: Sequence[str] | Hidden
    pages: answers.Pages | Absent | Hidden
    environment: PagesEnvironment | Absent | Hidden
    branch: answers.Branch | Hidden
    """the default branch"""
    required: frozenset[str] | Hidden
    """names of checks that the default branch requires"""
    passed: bool | Hidden
    """whether the check is required, or passed within a week for one of the newest runs"""
    owners_errors: Sequence[answers.OwnersError] | Hidden
    packages: Sequence[answers.Package] | Hidden
    """of the owner, with names that begin with the repository's"""
    measured: Sequence[Measured] | Hidden
    """the newest first"""
    reports: Sequence[answers.Run] | Hidden
    history: answers.Branch | Absent | Hidden

    @property
    def settings(self) -> str:
        """The address of the repository's settings."""
        return f"https://github.com/{self.name}/settings"
