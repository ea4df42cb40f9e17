"""Checks of the settings of Actions: what may run, with which token, for whom, and whether the workflows are active."""

from __future__ import annotations

from pushbench.ci.doctor import workflow_files
from pushbench.ci.doctor.answers import PrivateForks
from pushbench.ci.doctor.facts import Facts, Hidden, shown
from pushbench.ci.doctor.finding import Fix, Said, fix, missing, ok, unknown
from pushbench.ci.doctor.workflow_files import FOLDER, WORKFLOWS, Action, matches

GITHUB_OWNERS = ("actions", "github")
DISABLED = "known only if Actions are enabled"
WHY_DISABLED = {
    "disabled_manually": "a user disabled it",
    "disabled_inactivity": "GitHub disabled it: its schedule, and nothing pushed for 60 days",
    "disabled_fork": "GitHub disables schedules in a fork",
}


def _page(facts: Facts) -> str:
    return f"{facts.settings}/actions"


def _put(facts: Facts, below: str, *fields: str) -> tuple[str, ...]:
    return ("gh", "api", "-X", "PUT", f"repos/{facts.name}/actions/permissions{below}", *fields)


def actions(facts: Facts) -> Said:
    if shown(facts.permissions).enabled:
        return ok("enabled")
    command = _put(facts, "", "-F", "enabled=true", "-f", "allowed_actions=selected", "-F", "sha_pinning_required=true")
    return missing("disabled: no workflow runs", fix("Enable them.", *command, page=_page(facts)))


def allowed_actions(facts: Facts) -> Said:
    """https://docs.github.com/en/rest/actions/permissions#get-allowed-actions-and-reusable-workflows-for-a-repository"""
    permissions = shown(facts.permissions)
    if not permissions.enabled:
        return unknown(DISABLED)
    used = workflow_files.actions(shown(facts.files))
    if permissions.allowed_actions == "all":
        return ok(f"all; the workflows use {_count(used)} of them")
    selected = shown(facts.selected) if permissions.allowed_actions == "selected" else None
    patterns = selected.patterns_allowed if selected else []
    refused = [
        each
        for each in used
        if not _allowed(each, patterns, by_github=bool(selected and selected.github_owned_allowed))
    ]
    if not refused:
        return ok(f"{_count(used)} of the workflows are on the list")
    how = _allow(facts, patterns, refused)
    said = ", ".join(sorted({each.repository for each in refused}))
    if selected and selected.verified_allowed:
        return unknown(f"allowed only if GitHub has verified their creators, which it does not report: {said}", *how)
    return missing(f"not allowed: {said}", *how)


def _count(used: list[Action]) -> str:
    names = {each.repository for each in used}
    return f"{len(names)} {'action' if len(names) == 1 else 'actions'}"


def _allowed(action: Action, patterns: list[str], *, by_github: bool) -> bool:
    """Whether the patterns allow an action. A pattern that begins with `!` blocks what others allow."""
    if any(matches(pattern[1:], action) for pattern in patterns if pattern.startswith("!")):
        return False
    named = any(matches(pattern, action) for pattern in patterns if not pattern.startswith("!"))
    return named or (by_github and action.owner in GITHUB_OWNERS)


def _allow(facts: Facts, patterns: list[str], refused: list[Action]) -> list[Fix]:
    """Setting the list replaces it, so its entries are repeated, unless they block what is needed."""
    kept = [each for each in patterns if not (each.startswith("!") and any(matches(each[1:], one) for one in refused))]
    added = sorted({f"{each.repository}@*" for each in refused if each.owner not in GITHUB_OWNERS})
    fields = [field for pattern in [*kept, *added] for field in ("-f", f"patterns_allowed[]={pattern}")]
    switch = _put(facts, "", "-F", "enabled=true", "-f", "allowed_actions=selected", "-F", "sha_pinning_required=true")
    allow = _put(facts, "/selected-actions", "-F", "github_owned_allowed=true", "-F", "verified_allowed=false", *fields)
    only_own = shown(facts.permissions).allowed_actions == "local_only"
    before = [fix("Allow a list of actions.", *switch)] if only_own else []
    return [*before, fix("Put them on the list, with what is on it.", *allow, page=_page(facts))]


def pinned_actions(facts: Facts) -> Said:
    permissions = shown(facts.permissions)
    if not permissions.enabled:
        return unknown(DISABLED)
    loose = [each for each in workflow_files.actions(shown(facts.files)) if not each.pinned]
    if loose:
        names = ", ".join(map(str, loose))
        return missing(f"not pinned to a full commit: {names}", fix("Pin each to the 40 digits of its commit."))
    if permissions.sha_pinning_required:
        return ok("every action is pinned to a commit, and has to be")
    kept = "all" if permissions.allowed_actions == "all" else "selected"
    command = _put(
        facts,
        "",
        "-F",
        "enabled=true",
        "-f",
        f"allowed_actions={kept}",
        "-F",
        "sha_pinning_required=true",
    )
    return missing(
        "workflows may use actions that are not pinned to a commit",
        fix("Require full commits.", *command, page=_page(facts)),
    )


def workflow_token(facts: Facts) -> Said:
    if shown(facts.token).default_workflow_permissions == "read":
        return ok("reads only, where a workflow asks for no more")
    command = _put(facts, "/workflow", "-f", "default_workflow_permissions=read")
    return missing("the token of every workflow may write", fix("Let it read only.", *command, page=_page(facts)))


def approval(facts: Facts) -> Said:
    found = facts.approval
    if isinstance(found, Hidden):
        return unknown(found.why)
    if isinstance(found, PrivateForks):
        return _private(facts, found)
    if found.approval_policy == "all_external_contributors":
        return ok("runs of all outside contributors wait for a maintainer")
    command = _put(facts, "/fork-pr-contributor-approval", "-f", "approval_policy=all_external_contributors")
    return missing(
        "some outside contributors start workflows without approval",
        fix("Require approval for all external contributors.", *command, page=_page(facts)),
    )


def _private(facts: Facts, found: PrivateForks) -> Said:
    if not found.run_workflows_from_fork_pull_requests:
        return ok("private: pull requests of forks run no workflow")
    if not (found.send_write_tokens_to_workflows or found.send_secrets_and_variables):
        return ok("private: pull requests of forks run with a token that reads, without secrets")
    command = _put(
        facts,
        "/fork-pr-workflows-private-repos",
        "-F",
        "run_workflows_from_fork_pull_requests=true",
        "-F",
        "send_write_tokens_to_workflows=false",
        "-F",
        "send_secrets_and_variables=false",
        "-F",
        "require_approval_for_fork_pr_workflows=true",
    )
    return missing(
        "pull requests of forks get a token that writes, or secrets",
        fix("Keep both from them.", *command, page=_page(facts)),
    )


def workflows(facts: Facts) -> Said:
    states = {each.path: each.state for each in shown(facts.workflows)}
    wrong: list[str] = []
    fixes: list[Fix] = []
    for name, purpose in WORKFLOWS.items():
        state = states.get(f"{FOLDER}/{name}", "absent")
        if state == "active":
            continue
        if state in ("absent", "deleted"):
            wrong.append(f"{name}, which {purpose}, is not on {facts.repository.default_branch}")
            fixes.append(fix(f"Take {FOLDER}/{name} from Pushbench and merge it."))
        else:
            wrong.append(f"{name}, which {purpose}, does not run: {WHY_DISABLED.get(state, state)}")
            page = f"https://github.com/{facts.name}/actions/workflows/{name}"
            fixes.append(fix("Enable it.", "gh", "workflow", "enable", name, "--repo", facts.name, page=page))
    return missing("; ".join(wrong), *fixes) if wrong else ok(f"{len(WORKFLOWS)} are there and active")
