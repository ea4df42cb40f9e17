"""docs/github.md names all variables, secrets, workflows, checks of the doctor, files and commands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from pushbench.ci.doctor import repository_checks, workflow_files
from pushbench.ci.doctor.diagnosis import CHECKS
from pushbench.ci.doctor.finding import Fix
from tests.ci.double_doctor import NAME, Installation, checkout_files

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "github.md").read_text()
STEPS, _, REST = TEXT.partition("\n## Private repositories\n")


def table(name: str) -> set[str]:
    """The first cells of the table with this heading."""
    rows = TEXT.partition(f"\n| {name} |")[2].partition("\n\n")[0]
    return set(re.findall(r"^\| `([\w.-]+)` \|", rows, re.MULTILINE))


def workflows() -> Mapping[str, str]:
    return {path: text for path, text in checkout_files().items() if path.startswith(workflow_files.FOLDER)}


def test_each_variable_that_a_workflow_reads_is_in_the_table_and_the_reverse() -> None:
    assert table("variable") == workflow_files.variables(workflows())


def test_each_secret_that_a_workflow_reads_is_in_the_table_and_the_reverse() -> None:
    assert table("secret") == workflow_files.secrets(workflows())


def test_each_workflow_is_there_as_the_doctor_expects() -> None:
    assert {Path(path).name for path in workflows()} == set(workflow_files.WORKFLOWS)


def test_nothing_that_workflows_read_is_undocumented() -> None:
    assert workflow_files.variables(workflows()) <= table("variable")
    assert workflow_files.secrets(workflows()) <= table("secret")
    assert {Path(path).name for path in workflows()} <= set(workflow_files.WORKFLOWS)


def test_the_doctor_and_the_tables_have_the_same_workflows_and_secrets() -> None:
    assert table("file") == set(workflow_files.WORKFLOWS)
    assert table("secret") == set(repository_checks.SECRETS)


def test_each_check_of_the_doctor_belongs_to_a_step_and_the_reverse() -> None:
    promised = re.findall(r"\*\*It worked when\*\* the doctor says `ok` for(.*?)(?:\n\n|\.)", STEPS, re.DOTALL)
    assert (
        len(promised) == len(re.findall(r"^### \d+\. ", STEPS, re.MULTILINE)) - 1
    )  # step 8 proves the machine's account
    assert {check for text in promised for check in re.findall(r"`([\w-]+)`", text)} == set(CHECKS)
    assert f"{len(CHECKS)} ok" in STEPS


def test_steps_are_counted_without_a_gap() -> None:
    numbers = [int(number) for number in re.findall(r"^### (\d+)\. ", STEPS, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {int(number) for number in re.findall(r"\bstep (\d+)", TEXT)} <= set(numbers)


def test_the_steps_have_the_doctor_s_own_commands() -> None:
    """The doctor's commands for a bare repository are in the steps, word for word."""
    bare = Installation(labels=[], rules=[], token="write", approval="first_time_contributors")
    bare.permissions.update(allowed_actions="local_only", sha_pinning_required=False)
    bare.selected.update(github_owned_allowed=False, patterns_allowed=[])
    bare.repository.update(has_pages=False, fork=True)
    fixes = [fix for finding in bare.diagnosis().findings for fix in finding.fixes if fix.command]
    assert len(fixes) > 8
    lines = [
        shlex.split(line, comments=True) for line in STEPS.replace("\\\n", " ").splitlines() if line.startswith("gh")
    ]
    written = [" ".join(line).replace("OWNER/NAME", NAME) for line in lines]
    for fix in fixes:
        assert " ".join(fix.command) in written, fix


def test_nothing_is_left_of_the_job_that_the_check_replaced() -> None:
    assert "`gate`" not in TEXT
    assert "gate ─" not in TEXT


def test_the_ruleset_requires_the_check_of_the_default_branch_and_nothing_else() -> None:
    ruleset = json.loads((ROOT / ".github" / "ruleset.json").read_text())
    assert ruleset["conditions"]["ref_name"]["include"] == ["~DEFAULT_BRANCH"]
    [rule] = ruleset["rules"]
    assert rule["type"] == "required_status_checks"
    assert rule["parameters"]["required_status_checks"] == [{"context": "Pushbench"}]


def test_the_owners_of_code_are_for_each_installation_to_name() -> None:
    lines = (ROOT / ".github" / "CODEOWNERS").read_text().splitlines()
    assert lines
    assert all(line.startswith("#") for line in lines)
    text = "\n".join(line.removeprefix("#").strip() for line in lines)
    installation = Installation(files={**checkout_files(), ".github/CODEOWNERS": "\n".join(lines)})
    how = installation.finding("codeowners")
    assert how.state == "missing"
    assert isinstance(how.fixes[0], Fix)
    assert "* @OWNER" in text


def test_lines_can_be_read_in_an_editor() -> None:
    assert not [line for line in TEXT.splitlines() if len(line) > 120 and not line.startswith("[")]
