"""The parts of the workflow files on which the order of the queue depends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pushbench.ci.queueing import LABELS
from pushbench.ci.trust import CONTINUED, NIGHT
from pushbench.foundation.yamlfile import read_yaml

WORKFLOWS = Path(__file__).parents[3] / ".github" / "workflows"


def read(name: str) -> dict[str, Any]:
    return dict(read_yaml(WORKFLOWS / name).data)


def test_what_waits_for_the_machine_is_known_by_the_labels_of_the_job_that_measures() -> None:
    assert set(read("bench.yml")["jobs"]["bench"]["runs-on"]) == LABELS


def test_runs_are_known_by_the_names_that_bench_gives_them() -> None:
    names = read("bench.yml")["run-name"]
    assert f"inputs.night && '{NIGHT}'" in names
    made = "bench continues {0} at {1}"
    assert f"format('{made}', inputs.first, inputs.head)" in names
    assert CONTINUED.fullmatch(made.format(17, "a" * 40))


def test_no_schedule_can_take_pushes_and_pull_requests_along_when_github_disables_it() -> None:
    files = [file.name for file in WORKFLOWS.glob("*.yml") if "schedule" in read(file.name)["on"]]
    assert "night.yml" in files
    assert "bench.yml" not in files
    assert read("night.yml")["on"].keys() == {"schedule"}


def test_a_run_that_gave_way_goes_on_and_every_started_run_is_told_at_its_end() -> None:
    jobs = read("bench.yml")["jobs"]
    assert "needs.bench.outputs.outcome == 'gave-way'" in jobs["continue"]["if"]
    assert jobs["tell"]["if"].startswith("always() && ")
    assert "continue" in jobs["tell"]["needs"]


def test_each_part_of_a_run_is_built_and_measured_from_the_commit_of_the_first() -> None:
    jobs = read("bench.yml")["jobs"]
    for name in ("images", "bench"):
        [checkout] = [step for step in jobs[name]["steps"] if step["name"] == "Check out"]
        assert checkout["with"]["ref"] == "${{ needs.plan.outputs.source }}", name
