"""A GitHub in memory with the API that the doctor uses: the settings of one repository, seen with one token.

It answers as https://docs.github.com/en/rest documents: what a fine-grained token may not read is 403, or 404 with
`hides`. On a public repository, every token reads what is public. Packages are shown only to classic tokens.
"""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx

from pushbench.ci.doctor.diagnosis import diagnose
from pushbench.ci.doctor.finding import Diagnosis, Finding
from pushbench.ci.doctor.gathering import gather
from pushbench.ci.doctor.workflow_files import WORKFLOWS

ROOT = Path(__file__).parents[3]
NAME = "acme/pushbench"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SHA = "a" * 40
GRANTS = frozenset(
    {
        "Administration",
        "Actions",
        "Checks",
        "Contents",
        "Issues",
        "Pages",
        "Secrets",
        "Variables",
        "Packages",
        "Self-hosted runners",
    }
)
"""a token that may read everything: no single real one does, see `Packages`"""
Answer = tuple[int, Any]


def checkout_files() -> dict[str, str]:
    """The relevant files of this checkout, and a CODEOWNERS file."""
    return {**_files(), ".github/CODEOWNERS": "* @acme/benchmarks\n"}


@cache
def _files() -> dict[str, str]:
    paths = [*(ROOT / ".github").glob("workflows/*.yml"), *(ROOT / ".github").glob("actions/*/action.yml")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths}


def job(**changed: Any) -> dict[str, Any]:
    values = {
        "name": "bench",
        "status": "completed",
        "labels": ["self-hosted", "pushbench"],
        "runner_name": "pushbench",
        "completed_at": "2026-11-22T11:00:00Z",
    }
    return values | changed


def run(number: int, **changed: Any) -> dict[str, Any]:
    url = f"https://github.com/{NAME}/actions/runs/{number}"
    return {"id": number, "status": "completed", "conclusion": "success", "head_sha": SHA, "html_url": url} | changed


@dataclass
class Installation:
    """A complete installation; each test breaks one part of it."""

    grants: frozenset[str] = GRANTS
    hides: bool = False
    """404 instead of 403, as for classic tokens of accounts that are no administrators"""
    visible: bool = True
    expired: bool = False
    repository: dict[str, Any] = field(
        default_factory=lambda: {
            "full_name": NAME,
            "private": False,
            "fork": False,
            "archived": False,
            "default_branch": "main",
            "has_issues": True,
            "has_pages": True,
            "owner": {"login": "acme", "type": "Organization"},
            "permissions": {"admin": True},
        }
    )
    files: dict[str, str] = field(default_factory=checkout_files)
    permissions: dict[str, Any] = field(
        default_factory=lambda: {"enabled": True, "allowed_actions": "selected", "sha_pinning_required": True}
    )
    selected: dict[str, Any] = field(
        default_factory=lambda: {
            "github_owned_allowed": True,
            "verified_allowed": False,
            "patterns_allowed": ["benchmark-action/github-action-benchmark@*"],
        }
    )
    token: str = "read"
    approval: str = "all_external_contributors"
    private_forks: dict[str, Any] = field(
        default_factory=lambda: {
            "run_workflows_from_fork_pull_requests": True,
            "send_write_tokens_to_workflows": False,
            "send_secrets_and_variables": False,
            "require_approval_for_fork_pr_workflows": True,
        }
    )
    workflows: dict[str, str] = field(default_factory=lambda: dict.fromkeys(WORKFLOWS, "active"))
    runners: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {
                "id": 7,
                "name": "pushbench",
                "os": "linux",
                "status": "online",
                "busy": False,
                "version": "2.338.0",
                "labels": [{"id": 0, "name": "self-hosted", "type": "read-only"}, {"id": 0, "name": "pushbench"}],
            }
        ]
    )
    groups: list[dict[str, Any]] = field(default_factory=list)
    group_runners: list[dict[str, Any]] = field(default_factory=list)
    releases: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"tag_name": "v2.338.0", "published_at": "2026-11-01T00:00:00Z", "draft": False, "prerelease": False}
        ]
    )
    variables: dict[str, str] = field(default_factory=lambda: {"PUSHBENCH_SITE": "https://acme.github.io/pushbench/"})
    shared_variables: dict[str, str] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=lambda: ["PUSHBENCH_WEBHOOK"])
    labels: list[str] = field(default_factory=lambda: ["bug", "bench:full", "pushbench"])
    pages: dict[str, Any] | None = field(
        default_factory=lambda: {"html_url": "https://acme.github.io/pushbench/", "build_type": "workflow"}
    )
    environments: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {
                "name": "github-pages",
                "deployment_branch_policy": {"protected_branches": False, "custom_branch_policies": True},
            }
        ]
    )
    deploying: list[str] = field(default_factory=lambda: ["main"])
    rules: list[str] = field(default_factory=lambda: ["Pushbench"])
    protection: list[str] | None = None
    """None if the branch has none"""
    owners_errors: list[dict[str, Any]] = field(default_factory=list)
    packages: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {
                "name": "pushbench/node-ws",
                "visibility": "public",
                "html_url": f"https://github.com/{NAME}/pkgs/container/x",
                "repository": {"full_name": NAME},
            }
        ]
    )
    runs: list[dict[str, Any]] = field(default_factory=lambda: [run(42)])
    jobs: list[dict[str, Any]] = field(default_factory=lambda: [job(name="plan", labels=["ubuntu-24.04"]), job()])
    reports: list[dict[str, Any]] = field(default_factory=lambda: [run(43)])
    checks: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {
                "name": "Pushbench",
                "conclusion": "success",
                "completed_at": "2026-11-21T00:00:00Z",
                "app": {"slug": "github-actions"},
            }
        ]
    )
    branches: list[str] = field(default_factory=lambda: ["main", "gh-pages"])
    asked: list[str] = field(default_factory=list)

    def diagnosis(self, token: str = "github_pat_x", name: str = NAME) -> Diagnosis:
        def tell(text: str) -> None:
            raise AssertionError(text)

        transport = httpx.MockTransport(self._respond)
        facts = gather(
            name,
            token,
            profiles=frozenset({"full", "quick", "compare"}),
            api="https://api.github.com",
            note=tell,
            now=NOW,
            transport=transport,
        )
        return diagnose(facts)

    def finding(self, check: str) -> Finding:
        return next(each for each in self.diagnosis().findings if each.check == check)

    def _respond(self, request: httpx.Request) -> httpx.Response:
        path = unquote(request.url.path)
        self.asked.append(f"{request.method} {path}")
        status, content = self._answer(request.method, path)
        return httpx.Response(status, json=content)

    def _answer(self, method: str, path: str) -> Answer:
        if self.expired:
            return 401, {"message": "Bad credentials"}
        below = path.removeprefix(f"/repos/{NAME}")
        if method != "GET" or (below != path and not self.visible):
            return 404, {"message": "Not Found"}
        for shape, permission, public, reply in ROUTES:
            found = re.fullmatch(shape, below)
            if found:
                open_to_all = public and not self.repository["private"]
                if permission and permission not in self.grants and not open_to_all:
                    return self._refusal(permission)
                return copy.deepcopy(reply(self, found))
        return 404, {"message": "Not Found"}

    def _refusal(self, permission: str) -> Answer:
        if self.hides:
            return 404, {"message": "Not Found"}
        if permission == "Packages":
            return 403, {"message": "You need at least read:packages scope to list packages."}
        return 403, {"message": "Resource not accessible by personal access token"}


Reply = Callable[[Installation, "re.Match[str]"], Answer]
ROUTES: list[tuple[str, str, bool, Reply]] = []
"""path below the repository, permission, whether every token reads it on a public repository, answer"""


def route(shape: str, permission: str, reply: Callable[[Installation], Any], *, public: bool = False) -> None:
    ROUTES.append((shape, permission, public, lambda installation, _: (200, reply(installation))))


def answering(shape: str, permission: str, reply: Reply, *, public: bool = False) -> None:
    ROUTES.append((shape, permission, public, reply))


def _named(names: list[str]) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


def _content(installation: Installation, found: re.Match[str]) -> Answer:
    path = found[1]
    listed = [each for each in installation.files if each.startswith(f"{path}/")]
    if listed:
        return 200, [{"path": each, "type": "file", "size": len(installation.files[each])} for each in listed]
    if path not in installation.files:
        return 404, {"message": "Not Found"}
    raw = installation.files[path].encode()
    return 200, {
        "path": path,
        "type": "file",
        "size": len(raw),
        "encoding": "base64",
        "content": base64.encodebytes(raw).decode(),
    }


def _permissions(installation: Installation) -> dict[str, Any]:
    """The permissions of Actions; the details are left out if Actions are disabled."""
    return installation.permissions if installation.permissions["enabled"] else {"enabled": False}


def _runs(installation: Installation, found: re.Match[str]) -> Answer:
    """The runs of a workflow that is or was on the default branch."""
    if found[1] not in installation.workflows:
        return 404, {"message": "Not Found"}
    return 200, {"workflow_runs": {"bench.yml": installation.runs, "report.yml": installation.reports}[found[1]]}


def _checks(installation: Installation, found: re.Match[str]) -> Answer:
    return 200, {"check_runs": installation.checks if found[1] == SHA else []}


def _selected(installation: Installation, _: re.Match[str]) -> Answer:
    if installation.permissions["allowed_actions"] != "selected":
        return 409, {"message": "The allowed actions are not a selection"}
    return 200, installation.selected


def _approval(installation: Installation, _: re.Match[str]) -> Answer:
    private = installation.repository["private"]
    return (422, {"message": "Validation Failed"}) if private else (200, {"approval_policy": installation.approval})


def _pages(installation: Installation, _: re.Match[str]) -> Answer:
    return (200, installation.pages) if installation.pages else (404, {"message": "Not Found"})


def _branch(installation: Installation, found: re.Match[str]) -> Answer:
    if found[1] not in installation.branches:
        return 404, {"message": "Branch not found"}
    return 200, {"name": found[1], "protected": installation.protection is not None}


def _protection(installation: Installation, _: re.Match[str]) -> Answer:
    if installation.protection is None:
        return 404, {"message": "Branch not protected"}
    names = installation.protection
    return 200, {"required_status_checks": {"contexts": names, "checks": [{"context": name} for name in names]}}


def _rules(installation: Installation) -> list[dict[str, Any]]:
    checks = [{"context": name} for name in installation.rules]
    rules: list[dict[str, Any]] = [{"type": "deletion"}]
    return rules + (
        [{"type": "required_status_checks", "parameters": {"required_status_checks": checks}}] if checks else []
    )


def _owners(installation: Installation, _: re.Match[str]) -> Answer:
    if ".github/CODEOWNERS" not in installation.files:
        return 404, {"message": "Not Found"}
    return 200, {"errors": installation.owners_errors}


def _workflows(installation: Installation) -> dict[str, Any]:
    return {
        "workflows": [
            {"path": f".github/workflows/{name}", "state": state} for name, state in installation.workflows.items()
        ]
    }


def _variables(given: dict[str, str]) -> dict[str, Any]:
    return {"variables": [{"name": name, "value": value} for name, value in given.items()]}


ADMIN, ACTIONS, CONTENTS = "Administration", "Actions", "Contents"
route("", "", lambda it: it.repository)
answering(r"/contents/(.+)", CONTENTS, _content, public=True)
route("/actions/permissions", ADMIN, _permissions)
answering("/actions/permissions/selected-actions", ADMIN, _selected)
route("/actions/permissions/workflow", ADMIN, lambda it: {"default_workflow_permissions": it.token})
answering("/actions/permissions/fork-pr-contributor-approval", ADMIN, _approval)
route("/actions/permissions/fork-pr-workflows-private-repos", ADMIN, lambda it: it.private_forks)
route("/actions/workflows", ACTIONS, _workflows, public=True)
route("/actions/runners", ADMIN, lambda it: {"runners": it.runners})
route("/orgs/acme/actions/runner-groups", "Self-hosted runners", lambda it: {"runner_groups": it.groups})
route(r"/orgs/acme/actions/runner-groups/\d+/runners", "Self-hosted runners", lambda it: {"runners": it.group_runners})
route("/repos/actions/runner/releases", "", lambda it: it.releases)
route("/actions/variables", "Variables", lambda it: _variables(it.variables))
route("/actions/organization-variables", "Variables", lambda it: _variables(it.shared_variables))
route("/actions/secrets", "Secrets", lambda it: {"secrets": _named(it.secrets)})
route("/labels", "Issues", lambda it: _named(it.labels), public=True)
answering("/pages", "Pages", _pages, public=True)
route("/environments", ACTIONS, lambda it: {"environments": it.environments}, public=True)
route(
    "/environments/github-pages/deployment-branch-policies",
    ACTIONS,
    lambda it: {"branch_policies": _named(it.deploying)},
    public=True,
)
route("/rules/branches/main", "", _rules)
answering("/branches/main/protection", ADMIN, _protection)
answering("/branches/([^/]+)", CONTENTS, _branch, public=True)
answering("/codeowners/errors", CONTENTS, _owners, public=True)
route("/(?:orgs|users)/acme/packages", "Packages", lambda it: it.packages)
answering("/actions/workflows/([a-z]+[.]yml)/runs", ACTIONS, _runs, public=True)
route(r"/actions/runs/\d+/jobs", ACTIONS, lambda it: {"jobs": it.jobs}, public=True)
answering(r"/commits/([0-9a-f]{40})/check-runs", "Checks", _checks, public=True)


def encoded(diagnosis: Diagnosis) -> str:
    return json.dumps(diagnosis.model_dump(mode="json", by_alias=True))


def wrong(installation: Installation) -> dict[str, str]:
    """The findings that are not ok, by check."""
    return {each.check: each.said for each in installation.diagnosis().findings if each.state != "ok"}
