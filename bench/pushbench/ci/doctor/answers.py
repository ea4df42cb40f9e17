"""The parts of GitHub's answers that the doctor reads. Shapes: https://docs.github.com/en/rest."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from pushbench.ci.github_answers import Account, Answer, App, Text


class Owner(Account):
    type: str
    """`User` or `Organization`"""


class Repository(Answer):
    """https://docs.github.com/en/rest/repos/repos#get-a-repository"""

    full_name: str
    private: bool
    fork: bool
    archived: bool
    default_branch: str
    has_issues: bool
    has_pages: bool
    owner: Owner


class Entry(Answer):
    """https://docs.github.com/en/rest/repos/contents"""

    path: str
    type: str
    size: int
    encoding: Text = ""
    content: Text = ""


class ActionsPermissions(Answer):
    """https://docs.github.com/en/rest/actions/permissions"""

    enabled: bool
    allowed_actions: Literal["all", "local_only", "selected"] = "all"
    """missing if Actions are disabled"""
    sha_pinning_required: bool = False


class SelectedActions(Answer):
    github_owned_allowed: bool = False
    verified_allowed: bool = False
    patterns_allowed: list[str] = []


class WorkflowToken(Answer):
    default_workflow_permissions: Literal["read", "write"]


class Approval(Answer):
    approval_policy: str


class PrivateForks(Answer):
    """https://docs.github.com/en/rest/actions/permissions, fork-pr-workflows-private-repos"""

    run_workflows_from_fork_pull_requests: bool
    send_write_tokens_to_workflows: bool
    send_secrets_and_variables: bool


class Workflow(Answer):
    """https://docs.github.com/en/rest/actions/workflows"""

    path: str
    state: str
    """active, disabled_manually, disabled_inactivity, disabled_fork, deleted"""


class Workflows(Answer):
    workflows: list[Workflow]


class Named(Answer):
    name: str


class Runner(Answer):
    """https://docs.github.com/en/rest/actions/self-hosted-runners"""

    name: str
    status: str
    """online or offline"""
    labels: list[Named]
    version: str | None = None

    @property
    def label_names(self) -> frozenset[str]:
        return frozenset(label.name.lower() for label in self.labels)


class Runners(Answer):
    runners: list[Runner]


class Group(Answer):
    """https://docs.github.com/en/rest/actions/self-hosted-runner-groups"""

    id: int
    name: str
    visibility: str
    """all, selected or private"""
    restricted_to_workflows: bool = False
    selected_workflows: list[str] = []


class Groups(Answer):
    runner_groups: list[Group]


class Release(Answer):
    """https://docs.github.com/en/rest/releases/releases"""

    tag_name: str
    published_at: datetime | None
    prerelease: bool
    draft: bool


class Variable(Answer):
    """https://docs.github.com/en/rest/actions/variables"""

    name: str
    value: str


class Variables(Answer):
    variables: list[Variable]


class Secrets(Answer):
    """https://docs.github.com/en/rest/actions/secrets"""

    secrets: list[Named]


class Pages(Answer):
    """https://docs.github.com/en/rest/pages/pages"""

    html_url: Text = ""
    build_type: str | None = None
    """legacy or workflow"""


class BranchPolicy(Answer):
    """https://docs.github.com/en/rest/deployments/environments"""

    protected_branches: bool
    custom_branch_policies: bool


class Environment(Answer):
    name: str
    deployment_branch_policy: BranchPolicy | None = None
    """None if every branch may deploy"""


class Environments(Answer):
    environments: list[Environment]


class AllowedBranches(Answer):
    """https://docs.github.com/en/rest/deployments/branch-policies"""

    branch_policies: list[Named]


class RequiredCheck(Answer):
    context: str


class RuleParameters(Answer):
    required_status_checks: list[RequiredCheck] = []


class Rule(Answer):
    """https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch"""

    type: str
    parameters: RuleParameters = RuleParameters()


class RequiredChecks(Answer):
    contexts: list[str] = []
    checks: list[RequiredCheck] = []


class Protection(Answer):
    """https://docs.github.com/en/rest/branches/branch-protection#get-branch-protection"""

    required_status_checks: RequiredChecks | None = None


class Branch(Answer):
    """https://docs.github.com/en/rest/branches/branches#get-a-branch"""

    name: str
    protected: bool


class OwnersError(Answer):
    """https://docs.github.com/en/rest/repos/repos#list-codeowners-errors"""

    line: int
    kind: str
    source: Text = ""
    path: str


class OwnersErrors(Answer):
    errors: list[OwnersError]


class LinkedRepository(Answer):
    full_name: str


class Package(Answer):
    """https://docs.github.com/en/rest/packages/packages"""

    name: str
    visibility: str
    html_url: Text = ""
    repository: LinkedRepository | None = None


class Run(Answer):
    """https://docs.github.com/en/rest/actions/workflow-runs"""

    id: int
    status: Text
    conclusion: str | None
    head_sha: str


class Runs(Answer):
    workflow_runs: list[Run]


class Job(Answer):
    """https://docs.github.com/en/rest/actions/workflow-jobs"""

    name: str
    status: str
    labels: list[str] = []
    runner_name: Text = ""
    """empty if no runner took it"""
    completed_at: datetime | None = None


class Jobs(Answer):
    jobs: list[Job]


class Check(Answer):
    """https://docs.github.com/en/rest/checks/runs"""

    name: str
    conclusion: str | None
    completed_at: datetime | None = None
    app: App | None = None


class Checks(Answer):
    check_runs: list[Check] = Field(default=[])
