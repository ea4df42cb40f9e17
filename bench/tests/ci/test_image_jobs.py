"""The workflows match the behaviour of `pushbench ci images`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pushbench.foundation.yamlfile import read_yaml

WORKFLOWS = Path(__file__).parents[3] / ".github" / "workflows"
JOBS = read_yaml(WORKFLOWS / "bench.yml").data["jobs"]


def step(job: str, name: str) -> dict[str, Any]:
    [found] = [each for each in JOBS[job]["steps"] if each["name"] == name]
    return dict(found)


def test_images_are_pushed_only_where_a_job_of_its_own_builds_them() -> None:
    wanted = JOBS["images"]["if"].split()
    condition = " ".join(wanted)
    assert "needs.plan.outputs.untrusted == 'false'" in condition
    assert "vars.PUSHBENCH_IMAGES != 'load'" in condition
    assert "vars.PUSHBENCH_DRIVER != 'process'" in condition
    assert step("images", "Build and push")["run"].endswith("--output push --cache registry")


def test_what_strangers_wrote_is_fetched_whatever_the_variables_say() -> None:
    fetch = step("bench", "Fetch the images")
    assert fetch["if"] == "needs.plan.outputs.untrusted == 'true' || vars.PUSHBENCH_DRIVER != 'process'"
    assert "ci images --get --archives out/images" in fetch["run"]
    assert fetch["env"]["PUSHBENCH_IMAGES"] == "${{ vars.PUSHBENCH_IMAGES }}"
    assert JOBS["foreign-images"]["permissions"] == {"contents": "read"}


def test_no_job_makes_a_builder_by_itself() -> None:
    """`pushbench ci images` creates the builder, so that no job can omit it."""
    assert all("buildx" not in each.get("run", "") for job in JOBS.values() for each in job["steps"])


def test_a_chart_that_fails_does_not_keep_the_site_from_being_deployed() -> None:
    steps = read_yaml(WORKFLOWS / "publish.yml").data["jobs"]["publish"]["steps"]
    charts = [each for each in steps if "github-action-benchmark" in each.get("uses", "")]
    assert len(charts) == 2
    assert all(each["continue-on-error"] is True for each in charts)


def test_only_two_jobs_may_write_packages() -> None:
    writers = [
        (file.name, name)
        for file in sorted(WORKFLOWS.glob("*.yml"))
        for name, job in read_yaml(file).data["jobs"].items()
        if job["permissions"].get("packages") == "write"
    ]
    assert writers == [("bench.yml", "images"), ("clean.yml", "clean")]
