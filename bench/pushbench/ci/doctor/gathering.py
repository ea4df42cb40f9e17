"""Queries GitHub for the facts, with a maintainer's token. It only reads, and decides nothing.

A refusal hides one fact and never stops the others. GitHub answers 404 for what a token may not see
(https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api), so a 404 means `Absent` only if its
message or another answer confirms that there is none.
"""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter

from pushbench.ci.doctor import answers, facts
from pushbench.ci.doctor.facts import Absent, Facts, Hidden, Measured, PagesEnvironment, RunnerGroup
from pushbench.ci.doctor.workflow_files import CODEOWNERS, FOLDER, local_actions
from pushbench.ci.github import ACTIONS
from pushbench.ci.github_connection import Call, Connection, GitHubError
from pushbench.foundation.errors import UserError

S = TypeVar("S")
T = TypeVar("T")

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}$)[\w.-]{1,100}", re.ASCII)
MOST_FILE_BYTES = 256 * 1024
MOST_FILES = 40
RUNS = 10
"""newest runs that are searched for one that reached the machine"""
FRESH = timedelta(days=7)
"""how long after its success a check can be selected
(https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks)"""
CHECK = "Pushbench"
PLAIN_REFUSALS = ("Resource not accessible", "Must have admin rights", "Not Found", "You need at least")


_ADAPTERS: dict[object, TypeAdapter[Any]] = {}
"""creating one takes as long as a request to a server nearby"""


def _adapter(shape: type[T]) -> TypeAdapter[T]:
    if shape not in _ADAPTERS:
        _ADAPTERS[shape] = TypeAdapter(shape)
    return _ADAPTERS[shape]


class NoRepository(Exception):
    """GitHub shows the token no repository with that name."""


class Asking:
    """GET requests whose refusals are facts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def one(
        self, path: str, permission: str, shape: type[T], query: Mapping[str, str | int] | None = None
    ) -> T | Hidden:
        try:
            return self._connection.ask(Call("GET", path, permission, query), _adapter(shape))
        except GitHubError as error:
            return _hidden(error, permission)

    def unless_absent(self, path: str, permission: str, shape: type[T], absent: str) -> T | Absent | Hidden:
        """`absent` is in GitHub's message if there is none, as opposed to `Not Found`, which may hide it."""
        try:
            return self._connection.ask(Call("GET", path, permission), _adapter(shape))
        except GitHubError as error:
            return Absent() if error.status == 404 and absent in error.what else _hidden(error, permission)

    def entries(
        self,
        path: str,
        permission: str,
        shape: type[S],
        pick: Callable[[S], list[T]],
        query: Mapping[str, str | int] | None = None,
    ) -> list[T] | Hidden:
        """The results of `pick` for all pages of a list."""
        try:
            pages = list(self._connection.pages(Call("GET", path, permission, query), _adapter(shape)))
        except GitHubError as error:
            return _hidden(error, permission)
        return [entry for page in pages for entry in pick(page)]


def gather(
    name: str,
    token: str,
    *,
    profiles: frozenset[str],
    api: str,
    note: Callable[[str], None],
    now: datetime | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Facts:
    """The facts. Raises NoRepository, or UserError for an invalid name, token or address."""
    if not NAME.fullmatch(name):
        raise UserError(f"expected a repository as owner/name, found {name[:200]!r}")
    connection = Connection(token, api, transport, time.sleep, note)
    try:
        repository = _repository(connection, name)
        return _gather(Asking(connection), name, repository, profiles, now or datetime.now(UTC))
    finally:
        connection.close()


def _repository(connection: Connection, name: str) -> answers.Repository:
    try:
        return connection.ask(Call("GET", f"/repos/{name}", facts.METADATA), _adapter(answers.Repository))
    except GitHubError as error:
        if error.status == 404:
            raise NoRepository(name) from None
        if error.status == 401:
            hint = "it has expired or was revoked; docs/github.md says how to make one"
            raise UserError("GitHub does not accept the token in GITHUB_TOKEN", hint=hint) from None
        raise


def _hidden(error: GitHubError, permission: str) -> Hidden:
    if error.status not in (403, 404):
        return Hidden(error.what)
    plain = any(each in error.what for each in PLAIN_REFUSALS)
    return Hidden(f"needs {permission}" + ("" if plain else f" ({error.what})"))


def _gather(
    asking: Asking, name: str, repository: answers.Repository, profiles: frozenset[str], now: datetime
) -> Facts:
    path = f"/repos/{name}"
    branch = quote(repository.default_branch, safe="")
    permissions = asking.one(f"{path}/actions/permissions", facts.ADMINISTRATION, answers.ActionsPermissions)
    workflows = asking.entries(
        f"{path}/actions/workflows", facts.ACTIONS, answers.Workflows, lambda page: page.workflows
    )
    runs = _runs(asking, path, "bench.yml", workflows)
    required = _required(asking, path, branch)
    return Facts(
        name=name,
        now=now,
        profiles=profiles,
        repository=repository,
        files=_files(asking, path),
        permissions=permissions,
        selected=_selected(asking, path, permissions),
        token=asking.one(f"{path}/actions/permissions/workflow", facts.ADMINISTRATION, answers.WorkflowToken),
        approval=_approval(asking, path, repository),
        workflows=workflows,
        runners=asking.entries(
            f"{path}/actions/runners", facts.ADMINISTRATION, answers.Runners, lambda page: page.runners
        ),
        groups=_groups(asking, name, repository),
        releases=asking.one("/repos/actions/runner/releases", facts.METADATA, list[answers.Release], {"per_page": 50}),
        variables=_variables(asking, path, repository),
        secrets=asking.entries(f"{path}/actions/secrets", facts.SECRETS, answers.Secrets, _secret_names),
        labels=_labels(asking, path),
        pages=_pages(asking, path, repository),
        environment=_environment(asking, path),
        branch=asking.one(f"{path}/branches/{branch}", facts.CONTENTS, answers.Branch),
        required=required,
        passed=_passed(asking, path, runs, required, now),
        owners_errors=_owners_errors(asking, path),
        packages=_packages(asking, name, repository),
        measured=_measured(asking, path, runs),
        reports=_runs(asking, path, "report.yml", workflows),
        history=asking.unless_absent(f"{path}/branches/gh-pages", facts.CONTENTS, answers.Branch, "Branch not found"),
    )


def _secret_names(page: answers.Secrets) -> list[str]:
    return [secret.name for secret in page.secrets]


def _files(asking: Asking, path: str) -> Mapping[str, str] | Hidden:
    """https://docs.github.com/en/rest/repos/contents#get-repository-content, of the default branch"""
    listed = asking.one(f"{path}/contents/{FOLDER}", facts.CONTENTS, list[answers.Entry])
    if isinstance(listed, Hidden):
        return listed
    workflows = [entry for entry in listed if entry.type == "file" and entry.path.endswith((".yml", ".yaml"))]
    found: dict[str, str] = {}
    for entry in workflows[:MOST_FILES]:
        text = _file(asking, path, entry.path)
        if isinstance(text, Hidden):
            return text
        found[entry.path] = text
    for extra in [*local_actions(found), CODEOWNERS]:
        text = _file(asking, path, extra)
        if isinstance(text, str):
            found[extra] = text
    return found


def _file(asking: Asking, path: str, file: str) -> str | Hidden:
    entry = asking.one(f"{path}/contents/{quote(file)}", facts.CONTENTS, answers.Entry)
    if isinstance(entry, Hidden):
        return entry
    if entry.encoding != "base64" or entry.size > MOST_FILE_BYTES:
        return Hidden(f"{file} is larger than {MOST_FILE_BYTES:,} bytes")
    try:
        return base64.b64decode(entry.content).decode(errors="replace")
    except binascii.Error:
        return Hidden(f"{file} is not what GitHub documents: no base64")


def _selected(
    asking: Asking, path: str, permissions: answers.ActionsPermissions | Hidden
) -> answers.SelectedActions | Hidden | None:
    if isinstance(permissions, Hidden) or permissions.allowed_actions != "selected":
        return permissions if isinstance(permissions, Hidden) else None
    return asking.one(f"{path}/actions/permissions/selected-actions", facts.ADMINISTRATION, answers.SelectedActions)


def _approval(
    asking: Asking, path: str, repository: answers.Repository
) -> answers.Approval | answers.PrivateForks | Hidden:
    below = f"{path}/actions/permissions"
    if repository.private:
        return asking.one(f"{below}/fork-pr-workflows-private-repos", facts.ADMINISTRATION, answers.PrivateForks)
    return asking.one(f"{below}/fork-pr-contributor-approval", facts.ADMINISTRATION, answers.Approval)


def _groups(asking: Asking, name: str, repository: answers.Repository) -> list[RunnerGroup] | Hidden:
    if repository.owner.type != "Organization":
        return []
    owner, _, short = name.partition("/")
    path = f"/orgs/{owner}/actions/runner-groups"
    query = {"visible_to_repository": short}
    groups = asking.entries(path, facts.ORGANIZATION_RUNNERS, answers.Groups, lambda page: page.runner_groups, query)
    if isinstance(groups, Hidden):
        return groups
    found = []
    for group in groups:
        runners = asking.entries(
            f"{path}/{group.id:d}/runners", facts.ORGANIZATION_RUNNERS, answers.Runners, lambda page: page.runners
        )
        if isinstance(runners, Hidden):
            return runners
        found.append(RunnerGroup(group, runners))
    return found


def _variables(asking: Asking, path: str, repository: answers.Repository) -> list[answers.Variable] | Hidden:
    """The variables; those of the repository override those of its organisation, as in Actions."""
    found: dict[str, answers.Variable] = {}
    organisation = repository.owner.type == "Organization"
    for kind in (*(["organization-variables"] if organisation else []), "variables"):
        listed = asking.entries(
            f"{path}/actions/{kind}", facts.VARIABLES, answers.Variables, lambda page: page.variables
        )
        if isinstance(listed, Hidden):
            return listed
        found.update({variable.name: variable for variable in listed})
    return list(found.values())


def _labels(asking: Asking, path: str) -> list[str] | Hidden:
    return asking.entries(
        f"{path}/labels", facts.ISSUES, list[answers.Named], lambda page: [label.name for label in page]
    )


def _pages(asking: Asking, path: str, repository: answers.Repository) -> answers.Pages | Absent | Hidden:
    """The site. A 404 may mean a hidden site or none, but the repository's own answer tells which."""
    return asking.one(f"{path}/pages", facts.PAGES, answers.Pages) if repository.has_pages else Absent()


def _environment(asking: Asking, path: str) -> PagesEnvironment | Absent | Hidden:
    environments = asking.entries(
        f"{path}/environments", facts.ACTIONS, answers.Environments, lambda page: page.environments
    )
    if isinstance(environments, Hidden):
        return environments
    found = next((each for each in environments if each.name == "github-pages"), None)
    if found is None:
        return Absent()
    policy = found.deployment_branch_policy
    if policy is None or not policy.custom_branch_policies:
        return PagesEnvironment(policy, [])
    below = f"{path}/environments/github-pages/deployment-branch-policies"
    branches = asking.entries(
        below, facts.ACTIONS, answers.AllowedBranches, lambda page: [branch.name for branch in page.branch_policies]
    )
    return branches if isinstance(branches, Hidden) else PagesEnvironment(policy, branches)


def _required(asking: Asking, path: str, branch: str) -> frozenset[str] | Hidden:
    """The checks required by rulesets, which are public, and by classic protection, which only administrators see."""
    rules = asking.entries(f"{path}/rules/branches/{branch}", facts.METADATA, list[answers.Rule], _checking)
    if isinstance(rules, Hidden):
        return rules
    names = {check.context for rule in rules for check in rule.parameters.required_status_checks}
    protection = asking.unless_absent(
        f"{path}/branches/{branch}/protection", facts.ADMINISTRATION, answers.Protection, "Branch not protected"
    )
    if isinstance(protection, Hidden):
        return frozenset(names) if CHECK in names else protection
    if isinstance(protection, answers.Protection) and protection.required_status_checks is not None:
        classic = protection.required_status_checks
        names.update(classic.contexts, (check.context for check in classic.checks))
    return frozenset(names)


def _checking(page: list[answers.Rule]) -> list[answers.Rule]:
    return [rule for rule in page if rule.type == "required_status_checks"]


def _runs(
    asking: Asking, path: str, name: str, workflows: Sequence[answers.Workflow] | Hidden
) -> list[answers.Run] | Hidden:
    """The newest runs; GitHub answers 404 for the runs of a workflow that does not exist."""
    if not isinstance(workflows, Hidden) and f"{FOLDER}/{name}" not in {each.path for each in workflows}:
        return []
    query = {"per_page": RUNS, "page": 1}
    page = asking.one(f"{path}/actions/workflows/{name}/runs", facts.ACTIONS, answers.Runs, query)
    return page if isinstance(page, Hidden) else page.workflow_runs


def _measured(asking: Asking, path: str, runs: list[answers.Run] | Hidden) -> list[Measured] | Hidden:
    """The runs with their jobs, from the newest to the first that reached the machine."""
    if isinstance(runs, Hidden):
        return runs
    found = []
    for run in runs:
        below = f"{path}/actions/runs/{run.id:d}/jobs"
        jobs = asking.entries(below, facts.ACTIONS, answers.Jobs, lambda page: page.jobs, {"filter": "latest"})
        if isinstance(jobs, Hidden):
            return jobs
        found.append(Measured(run, jobs))
        if any(job.runner_name and "pushbench" in job.labels for job in jobs):
            break
    return found


def _passed(
    asking: Asking,
    path: str,
    runs: list[answers.Run] | Hidden,
    required: frozenset[str] | Hidden,
    now: datetime,
) -> bool | Hidden:
    """Whether the check passed; not queried if the check is already required."""
    if isinstance(runs, Hidden):
        return runs
    if isinstance(required, Hidden):
        return required
    if CHECK in required:
        return True
    for sha in dict.fromkeys(run.head_sha for run in runs):
        if not re.fullmatch(r"[0-9a-f]{40}", sha):
            continue
        query = {"check_name": CHECK, "filter": "latest"}
        page = asking.one(f"{path}/commits/{sha}/check-runs", facts.CHECKS, answers.Checks, query)
        if isinstance(page, Hidden):
            return page
        if any(_fresh(check, now) for check in page.check_runs):
            return True
    return False


def _fresh(check: answers.Check, now: datetime) -> bool:
    own = check.name == CHECK and check.app is not None and check.app.slug == ACTIONS
    passed = check.conclusion == "success" and check.completed_at is not None
    return own and passed and check.completed_at is not None and now - check.completed_at < FRESH


def _owners_errors(asking: Asking, path: str) -> list[answers.OwnersError] | Hidden:
    page = asking.one(f"{path}/codeowners/errors", facts.CONTENTS, answers.OwnersErrors)
    return page if isinstance(page, Hidden) else page.errors


def _packages(asking: Asking, name: str, repository: answers.Repository) -> list[answers.Package] | Hidden:
    owner, _, short = name.partition("/")
    kind = "orgs" if repository.owner.type == "Organization" else "users"
    query = {"package_type": "container"}
    prefix = f"{short.lower()}/"
    return asking.entries(
        f"/{kind}/{owner}/packages",
        facts.PACKAGES,
        list[answers.Package],
        lambda page: [package for package in page if package.name.startswith(prefix)],
        query,
    )
