"""What actionlint and zizmor do not ask of the workflows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
VARIABLE = re.compile(r"vars\.(PUSHBENCH_\w+)")


def jobs(file: Path) -> dict[str, Any]:
    return dict(YAML(typ="safe").load(file)["jobs"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_job_ends_by_itself_and_has_the_rights_it_names(file: Path) -> None:
    assert YAML(typ="safe").load(file)["permissions"] == {}
    for name, job in jobs(file).items():
        assert 0 < job["timeout-minutes"] <= 330, name
        assert job["permissions"], name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_commands_hold_no_expression(file: Path) -> None:
    for name, job in jobs(file).items():
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), f"{name}: {step['name']}"


@pytest.mark.parametrize("name", ["report.yml", "publish.yml", "watch.yml"])
def test_workflows_with_rights_check_out_nothing_of_a_pull_request(name: str) -> None:
    checkouts = [
        step
        for job in jobs(ROOT / ".github" / "workflows" / name).values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert checkouts
    for step in checkouts:
        assert step["with"].get("ref", "gh-pages") == "gh-pages"
        assert "repository" not in step["with"]
        assert step["with"]["persist-credentials"] is False


def test_only_one_job_is_on_the_machine_that_measures() -> None:
    own = [
        (file.name, name)
        for file in FILES
        for name, job in jobs(file).items()
        if "self-hosted" in job["runs-on"] or "pushbench" in job["runs-on"]
    ]
    assert own == [("bench.yml", "bench")]


def test_each_repository_variable_is_documented_and_known_to_actionlint() -> None:
    used = {name for file in FILES for name in VARIABLE.findall(file.read_text())}
    documented = set(re.findall(r"\| `(PUSHBENCH_\w+)` \|", (ROOT / "docs" / "github.md").read_text()))
    known = set(YAML(typ="safe").load(ROOT / ".github" / "actionlint.yaml")["config-variables"])
    assert used == documented == known


def test_a_newer_push_ends_the_measurement_of_a_pull_request_and_of_nothing_else() -> None:
    concurrency = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "bench.yml")["concurrency"]
    assert concurrency["cancel-in-progress"] is True
    assert concurrency["group"] == "bench-${{ github.event.pull_request.number || github.run_id }}"
