"""All checks, in the order of the steps of docs/github.md."""

from __future__ import annotations

from collections.abc import Callable

from pushbench.ci.doctor import actions_checks, machine_checks, repository_checks, result_checks
from pushbench.ci.doctor.facts import Facts, NotShown
from pushbench.ci.doctor.finding import Diagnosis, Said, fix, missing, unknown

CHECKS: dict[str, Callable[[Facts], Said]] = {
    "repository": repository_checks.repository,
    "default-branch": repository_checks.default_branch,
    "issues": repository_checks.issues,
    "fork": repository_checks.fork,
    "actions": actions_checks.actions,
    "allowed-actions": actions_checks.allowed_actions,
    "pinned-actions": actions_checks.pinned_actions,
    "workflow-token": actions_checks.workflow_token,
    "approval": actions_checks.approval,
    "workflows": actions_checks.workflows,
    "labels": repository_checks.labels,
    "codeowners": repository_checks.codeowners,
    "variables": repository_checks.variables,
    "secrets": repository_checks.secrets,
    "pages": result_checks.pages,
    "pages-environment": result_checks.pages_environment,
    "runner": machine_checks.runner,
    "runner-version": machine_checks.runner_version,
    "runner-group": machine_checks.runner_group,
    "machine-token": machine_checks.machine_token,
    "first-run": result_checks.first_run,
    "first-report": result_checks.first_report,
    "images": result_checks.images,
    "history": result_checks.history,
    "required-check": result_checks.required_check,
}


def diagnose(facts: Facts) -> Diagnosis:
    return Diagnosis.of(facts.name, [_said(look, facts).of(check) for check, look in CHECKS.items()])


def _said(look: Callable[[Facts], Said], facts: Facts) -> Said:
    try:
        return look(facts)
    except NotShown as hidden:
        return unknown(str(hidden))


def not_there(name: str) -> Diagnosis:
    """The diagnosis if GitHub shows the token no repository with that name."""
    said = missing(
        f"GitHub shows this token no repository {name}",
        fix("Make it from Pushbench.", "gh", "repo", "create", name, "--public", "--source", ".", "--push"),
        fix("If it is there, give the token access to it.", page="https://github.com/settings/personal-access-tokens"),
    )
    others = [unknown("needs the repository").of(check) for check in CHECKS if check != "repository"]
    return Diagnosis.of(name, [said.of("repository"), *others])


def summary(diagnosis: Diagnosis) -> str:
    """One line with the number of findings in each state."""
    counts = {
        state: sum(finding.state == state for finding in diagnosis.findings) for state in ("ok", "missing", "unknown")
    }
    said = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return f"{diagnosis.repository}: {said}"
