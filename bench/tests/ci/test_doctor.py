"""`pushbench ci doctor` says what is missing on GitHub and how to set it, and calls nothing ok that it cannot see."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pushbench.ci.doctor.diagnosis import CHECKS
from pushbench.errors import UserError
from tests.ci.double_doctor import GRANTS, NOW, Installation, job, run

Break = Callable[[Installation], object]


def wrong(installation: Installation) -> dict[str, str]:
    """The findings that are not ok, by check."""
    return {each.check: each.said for each in installation.diagnosis().findings if each.state != "ok"}


def test_all_is_ok_where_everything_is_set() -> None:
    diagnosis = Installation().diagnosis()
    assert wrong(Installation()) == {}
    assert [finding.check for finding in diagnosis.findings] == list(CHECKS)
    assert (diagnosis.state, diagnosis.exit_code) == ("ok", 0)
    assert not any(finding.fixes for finding in diagnosis.findings)


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
    "no-owner": ("codeowners", lambda it: it.files.update({".github/CODEOWNERS": "# * @you\n"}), "nobody", "`* @"),
    "no-codeowners": ("codeowners", lambda it: it.files.pop(".github/CODEOWNERS"), "nobody", "`* @"),
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
        "a newer one is out for 52 days, of 30",
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
        "never well",
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


def test_another_default_branch_has_to_be_named_by_the_workflows() -> None:
    installation = Installation()
    installation.files[".github/workflows/bench.yml"] = "on: {push: {branches: [trunk]}}\njobs: {}\n"
    installation.files[".github/workflows/publish.yml"] = "on: push\njobs: {a: {if: \"x == 'refs/heads/old'\"}}\n"
    finding = installation.finding("default-branch")
    assert finding.state == "missing"
    assert "bench.yml, .github/workflows/publish.yml" in finding.fixes[0].do


def test_the_default_branch_is_found_in_every_form_of_a_list() -> None:
    installation = Installation()
    bench = ".github/workflows/bench.yml"
    for form in ("branches: [trunk, 'main']", "branches:\n      - trunk\n      - main", 'branches: ["ma*"]'):
        installation.files[bench] = f"on:\n  push:\n    {form}\njobs: {{}}\n"
        assert installation.finding("default-branch").state == "ok", form
    installation.files[bench] = "on:\n  push:\n    branches:\n      - trunk\njobs: {}\n"
    assert bench in installation.finding("default-branch").fixes[0].do


def test_no_check_is_ok_that_the_token_cannot_see() -> None:
    for hides in (False, True):
        installation = Installation(grants=frozenset(), hides=hides)
        installation.repository["private"] = True
        findings = {each.check: each for each in installation.diagnosis().findings}
        seen = {check for check, each in findings.items() if each.state == "ok"}
        assert seen == {"repository", "issues", "fork", "required-check"}
        assert not [each for each in findings.values() if each.state == "missing"]
        assert findings["workflow-token"].said == "needs Administration: read"
        assert installation.diagnosis().exit_code == 3


def test_a_stranger_s_token_sees_of_a_public_repository_what_anybody_sees() -> None:
    findings = {each.check: each for each in Installation(grants=frozenset()).diagnosis().findings}
    unknown = {check for check, each in findings.items() if each.state == "unknown"}
    assert unknown == {
        "actions", "allowed-actions", "pinned-actions", "workflow-token", "approval", "variables", "secrets", "runner",
        "runner-version", "runner-group", "machine-token", "images",
    }  # fmt: skip
    assert findings["images"].fixes[0].command[:3] == ["gh", "auth", "refresh"]
    assert findings["required-check"].state == "ok"


def test_a_required_check_of_the_older_kind_is_hidden_from_who_does_not_administrate() -> None:
    installation = Installation(grants=GRANTS - {"Administration"}, rules=[], protection=["Pushbench"])
    assert installation.finding("required-check").said == "needs Administration: read"


def test_the_check_can_be_chosen_only_after_it_passed() -> None:
    installation = Installation(rules=[], checks=[])
    assert "seven days" in installation.finding("required-check").fixes[0].do
    old = Installation(rules=[])
    old.checks[0]["completed_at"] = "2026-11-01T00:00:00Z"
    assert "seven days" in old.finding("required-check").fixes[0].do


def test_the_check_may_have_passed_for_another_run_than_the_newest() -> None:
    installation = Installation(rules=[], runs=[run(44, head_sha="b" * 40), run(42)])
    assert [each.command[0] for each in installation.finding("required-check").fixes] == ["gh"]


def test_a_block_of_what_is_needed_is_not_put_on_the_list_again() -> None:
    installation = Installation()
    installation.selected["patterns_allowed"] += ["!actions/checkout@*", "!evil/*"]
    command = installation.finding("allowed-actions").fixes[0].command
    assert "patterns_allowed[]=!evil/*" in command
    assert "patterns_allowed[]=!actions/checkout@*" not in command


def test_a_machine_between_two_jobs_is_there() -> None:
    installation = Installation(runners=[])
    installation.jobs[1]["completed_at"] = "2026-11-22T11:30:00Z"
    assert installation.finding("runner").state == "ok"
    assert installation.finding("machine-token").state == "ok"


def test_a_machine_that_is_gone_is_missing_and_its_token_is_not_vouched_for() -> None:
    installation = Installation()
    installation.runners[0]["status"] = "offline"
    installation.jobs[1]["completed_at"] = "2026-11-20T11:30:00Z"
    findings = {each.check: each for each in installation.diagnosis().findings}
    assert findings["runner"].said == "pushbench is offline"
    assert findings["machine-token"].state == "unknown"
    assert "journalctl" in findings["machine-token"].fixes[0].command


def test_an_organisation_s_machine_is_for_this_workflow_only() -> None:
    group = {
        "id": 3,
        "name": "bench",
        "visibility": "selected",
        "restricted_to_workflows": True,
        "selected_workflows": ["acme/pushbench/.github/workflows/bench.yml@refs/heads/main"],
    }
    installation = Installation(groups=[group])
    installation.group_runners, installation.runners = installation.runners, []
    assert wrong(installation) == {}
    installation.groups[0]["visibility"] = "all"
    assert "the group bench" in installation.finding("runner-group").said
    installation.groups[0].update(visibility="selected", restricted_to_workflows=False)
    assert installation.finding("runner-group").fixes[0].page.endswith("/runner-groups/3")


def test_a_fork_measures_where_it_says_that_it_has_a_machine() -> None:
    installation = Installation()
    installation.repository["fork"] = True
    installation.variables["PUSHBENCH_RUNNER"] = "own"
    assert installation.finding("fork").state == "ok"


def test_an_action_of_a_verified_creator_may_be_allowed_but_that_is_not_told() -> None:
    installation = Installation()
    installation.selected.update(verified_allowed=True, patterns_allowed=[])
    assert installation.finding("allowed-actions").state == "unknown"


def test_a_private_repository_keeps_secrets_from_forks_and_images_from_everybody() -> None:
    installation = Installation()
    installation.repository["private"] = True
    installation.packages[0]["visibility"] = "private"
    assert wrong(installation) == {}
    installation.packages[0]["visibility"] = "public"
    installation.private_forks["send_secrets_and_variables"] = True
    assert list(wrong(installation)) == ["approval", "images"]


def test_only_github_is_asked_and_nothing_is_changed() -> None:
    installation = Installation()
    installation.diagnosis()
    assert {each.split()[0] for each in installation.asked} == {"GET"}
    assert len(installation.asked) < 60
    assert NOW.year == 2026


def test_where_actions_are_disabled_what_they_may_do_is_not_told() -> None:
    installation = Installation()
    installation.permissions["enabled"] = False
    assert wrong(installation) == {
        "actions": "disabled: no workflow runs",
        "allowed-actions": "told only where Actions are enabled",
        "pinned-actions": "told only where Actions are enabled",
    }
    assert "enabled=true" in installation.finding("actions").fixes[0].command


def test_a_workflow_that_is_not_there_never_ran() -> None:
    installation = Installation()
    del installation.workflows["report.yml"]
    assert list(wrong(installation)) == ["workflows", "first-report"]
    assert installation.finding("first-report").said == "report.yml never ran; it follows bench.yml"


def test_what_is_no_repository_is_not_asked_for() -> None:
    for name in ("pushbench", "a/b/c", "../x", "acme/..", "acme/x y", "acme/x?y"):
        with pytest.raises(UserError, match="owner/name"):
            Installation().diagnosis(name=name)


def test_a_token_that_ended_is_a_mistake_and_no_finding() -> None:
    installation = Installation(expired=True)
    with pytest.raises(UserError, match="GitHub does not accept the token"):
        installation.diagnosis(token="github_pat_secret")
    with pytest.raises(UserError) as refused:
        installation.diagnosis(token="github_pat_secret")
    assert "github_pat_secret" not in str(refused.value)


def test_a_fault_of_github_hides_one_fact_and_says_which() -> None:
    installation = Installation()
    installation.environments[0]["name"] = None
    assert installation.finding("pages-environment").state == "unknown"
    assert "not what it documents" in installation.finding("pages-environment").said
    assert list(wrong(installation)) == ["pages-environment"]
