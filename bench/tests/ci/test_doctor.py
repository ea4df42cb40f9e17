"""`pushbench ci doctor` reports what is missing on GitHub and how to set it, and `ok` only for what it can see."""

from __future__ import annotations

import pytest

from pushbench.ci.doctor.diagnosis import CHECKS
from pushbench.foundation.errors import UserError
from tests.ci.double_doctor import GRANTS, NOW, Installation, run, wrong


def test_all_is_ok_where_everything_is_set() -> None:
    diagnosis = Installation().diagnosis()
    assert wrong(Installation()) == {}
    assert [finding.check for finding in diagnosis.findings] == list(CHECKS)
    assert (diagnosis.state, diagnosis.exit_code) == ("ok", 0)
    assert not any(finding.fixes for finding in diagnosis.findings)


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


def test_as_many_machines_may_measure_as_share_the_servers() -> None:
    installation = Installation()
    installation.runners.append({**installation.runners[0], "id": 8, "name": "pushbench-b"})
    assert "PUSHBENCH_SHARDS" in installation.finding("runner").fixes[0].do
    installation.variables["PUSHBENCH_SHARDS"] = "2"
    finding = installation.finding("runner")
    assert finding.state == "ok"
    assert "pushbench-b" in finding.said


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
        "allowed-actions": "known only if Actions are enabled",
        "pinned-actions": "known only if Actions are enabled",
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
    assert "not as documented" in installation.finding("pages-environment").said
    assert list(wrong(installation)) == ["pages-environment"]
