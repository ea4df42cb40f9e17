"""`pushbench ci doctor` finds each fault of an installation, and explains how to fix it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pushbench.ci.doctor.diagnosis import CHECKS
from tests.ci.double_doctor import Installation, job, run, wrong

Break = Callable[[Installation], object]

BROKEN: dict[str, tuple[str, Break, str, str]] = {
    "archived": ("repository", lambda it: it.repository.update(archived=True), "archived", "gh repo unarchive"),
    "no-issues": ("issues", lambda it: it.repository.update(has_issues=False), "disabled", "--enable-issues"),
    "fork": (
        "fork",
        lambda it: it.repository.update(fork=True),
        "PUSHBENCH_RUNNER is not set",
        "gh variable set PUSHBENCH_RUNNER",
    ),
    "no-list": (
        "allowed-actions",
        lambda it: it.selected.update(patterns_allowed=["acme/*"]),
        "not allowed: benchmark-action/github-action-benchmark",
        "-f patterns_allowed[]=acme/* -f patterns_allowed[]=benchmark-action/github-action-benchmark@*",
    ),
    "not-github's": (
        "allowed-actions",
        lambda it: it.selected.update(github_owned_allowed=False),
        "actions/checkout",
        "-F github_owned_allowed=true",
    ),
    "own-only": (
        "allowed-actions",
        lambda it: it.permissions.update(allowed_actions="local_only"),
        "actions/checkout",
        "-f allowed_actions=selected",
    ),
    "blocked": (
        "allowed-actions",
        lambda it: it.selected["patterns_allowed"].append("!actions/checkout@*"),
        "not allowed: actions/checkout",
        "/selected-actions",
    ),
    "tags-allowed": (
        "pinned-actions",
        lambda it: it.permissions.update(sha_pinning_required=False),
        "not pinned",
        "-F sha_pinning_required=true",
    ),
    "writing-token": (
        "workflow-token",
        lambda it: setattr(it, "token", "write"),
        "may write",
        "-f default_workflow_permissions=read",
    ),
    "no-approval": (
        "approval",
        lambda it: setattr(it, "approval", "first_time_contributors"),
        "without approval",
        "-f approval_policy=all_external_contributors",
    ),
    "no-night": (
        "workflows",
        lambda it: it.workflows.pop("night.yml"),
        "night.yml, which starts the measurement",
        "Take .github/workflows/night.yml",
    ),
    "idle": (
        "workflows",
        lambda it: it.workflows.update({"night.yml": "disabled_inactivity"}),
        "60 days",
        "gh workflow enable night.yml",
    ),
    "no-label": (
        "labels",
        lambda it: it.labels.remove("bench:full"),
        "not there: bench:full",
        "gh label create bench:full",
    ),
    "no-owner": ("codeowners", lambda it: it.files.update({".github/CODEOWNERS": "# * @you\n"}), "no reviewer", "`* @"),
    "no-codeowners": ("codeowners", lambda it: it.files.pop(".github/CODEOWNERS"), "no reviewer", "`* @"),
    "unknown-owner": (
        "codeowners",
        lambda it: it.owners_errors.append(
            {"line": 1, "column": 3, "kind": "Unknown owner", "source": "* @acme/nobody", "path": ".github/CODEOWNERS"}
        ),
        ".github/CODEOWNERS:1: Unknown owner: * @acme/nobody",
        "of an owner with write access",
    ),
    "typo": (
        "variables",
        lambda it: it.variables.update(PUSHBENCH_MAXTIME="5m"),
        "no workflow reads PUSHBENCH_MAXTIME",
        "Did you mean PUSHBENCH_MAX_TIME?",
    ),
    "no-profile": (
        "variables",
        lambda it: it.variables.update(PUSHBENCH_PUSH_PROFILE="fulll"),
        "PUSHBENCH_PUSH_PROFILE is 'fulll', expected one of compare, full, quick",
        "gh variable set",
    ),
    "no-duration": (
        "variables",
        lambda it: it.variables.update(PUSHBENCH_MAX_TIME="600"),
        "expected a duration",
        "gh variable set PUSHBENCH_MAX_TIME",
    ),
    "no-job-time": (
        "variables",
        lambda it: it.variables.update(PUSHBENCH_JOB_TIME="five hours"),
        "PUSHBENCH_JOB_TIME is 'five hours', expected a duration",
        "gh variable set PUSHBENCH_JOB_TIME",
    ),
    "shared-typo": (
        "variables",
        lambda it: it.shared_variables.update(PUSHBENCH_SITES="https://x"),
        "no workflow reads PUSHBENCH_SITES",
        "Did you mean PUSHBENCH_SITE?",
    ),
    "plain-site": (
        "variables",
        lambda it: it.variables.update(PUSHBENCH_SITE="http://x"),
        "https://",
        "gh variable set PUSHBENCH_SITE",
    ),
    "secret-typo": (
        "secrets",
        lambda it: it.secrets.append("PUSHBENCH_WEBHOOKS"),
        "PUSHBENCH_WEBHOOKS",
        "Did you mean PUSHBENCH_WEBHOOK?",
    ),
    "no-pages": (
        "pages",
        lambda it: it.repository.update(has_pages=False),
        "no site",
        "gh api -X POST repos/acme/pushbench/pages -f build_type=workflow",
    ),
    "branch-pages": (
        "pages",
        lambda it: it.pages and it.pages.update(build_type="legacy"),
        "from a branch",
        "gh api -X PUT repos/acme/pushbench/pages -f build_type=workflow",
    ),
    "other-branch": (
        "pages-environment",
        lambda it: setattr(it, "deploying", ["release/*"]),
        "may not deploy",
        "-f name=main",
    ),
    "unprotected": (
        "pages-environment",
        lambda it: it.environments[0].update(
            deployment_branch_policy={"protected_branches": True, "custom_branch_policies": False}
        ),
        "protected branches only",
        "Allow it under Deployment branches",
    ),
    "one-label": (
        "runner",
        lambda it: it.runners[0].update(labels=[{"name": "pushbench"}]),
        "lacks the label self-hosted",
        "compose/runner",
    ),
    "two-machines": (
        "runner",
        lambda it: it.runners.append({**it.runners[0], "name": "other"}),
        "2 machines",
        "Keep one.",
    ),
    "old-runner": (
        "runner-version",
        lambda it: it.releases.append(
            {"tag_name": "v2.339.0", "published_at": "2026-10-01T00:00:00Z", "draft": False, "prerelease": False}
        ),
        "a newer one has been out for 52 days; GitHub allows 30",
        "Update it on the machine",
    ),
    "never-ran": ("first-run", lambda it: it.runs.clear(), "bench.yml never ran", "gh workflow run bench.yml"),
    "unreached": ("first-run", lambda it: it.jobs.pop(), "reached the machine", "gh workflow run bench.yml"),
    "queued": (
        "first-run",
        lambda it: it.jobs.__setitem__(1, job(status="queued", runner_name=None)),
        "run 42 waits for the machine",
        "both labels",
    ),
    "untold": ("first-report", lambda it: it.reports.clear(), "never ran", "gh workflow run bench.yml"),
    "failed-report": (
        "first-report",
        lambda it: setattr(it, "reports", [run(43, conclusion="failure")]),
        "never succeeded",
        "gh run view 43",
    ),
    "no-images": ("images", lambda it: it.packages.clear(), "no image was pushed", "gh workflow run bench.yml"),
    "unlinked": (
        "images",
        lambda it: it.packages[0].update(repository=None),
        "pushbench/node-ws",
        "Manage Actions access",
    ),
    "no-history": ("history", lambda it: it.branches.remove("gh-pages"), "not there", "publish.yml"),
    "not-required": (
        "required-check",
        lambda it: it.rules.clear(),
        "main does not require Pushbench",
        "gh api -X POST repos/acme/pushbench/rulesets --input .github/ruleset.json",
    ),
    "gate": ("required-check", lambda it: it.rules.append("gate"), "requires jobs: gate", "Take them out"),
    "classic-job": (
        "required-check",
        lambda it: setattr(it, "protection", ["bench"]),
        "requires jobs: bench",
        "/settings/branches",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_alone_is_the_only_line_that_is_not_ok(name: str) -> None:
    check, broken, said, how = BROKEN[name]
    installation = Installation()
    broken(installation)
    assert list(wrong(installation)) == [check]
    finding = installation.finding(check)
    assert finding.state == "missing"
    assert said in finding.said
    told = "\n".join(f"{each.do} {' '.join(each.command)} {each.page}" for each in finding.fixes)
    assert how in told
    assert installation.diagnosis().exit_code == 1


def test_each_check_is_broken_by_a_test() -> None:
    alone = {check for check, *_ in BROKEN.values()}
    assert set(CHECKS) - alone == {"actions", "default-branch", "runner-group", "machine-token"}
