"""A plan for several machines: no server is split, each machine has the control; one machine needs no shards."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.ci.plan import Plan
from pushbench.ci.sharding import only, part, share_out
from pushbench.ci.steps import MOST_MACHINES, Settings, Step
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.ci.budgets import LONG, SHORT, budget_of, catalog_of, checkout, suites_of
from tests.ci.events import environment, push
from tests.ci.job_results import make_plan

RUN = Step(kind="run", arguments=["run", "--suite", "tiny", "--profile", "full"], servers=list(SHORT), why="all")
LARGE = Step(kind="run", arguments=["run", "--suite", "large", "--profile", "full"], servers=list(LONG), why="all")
COMPARE = Step(
    kind="compare",
    arguments=["compare", "--base", "b" * 40, "--suite", "tiny", "--profile", "full", "--servers", "alpha,gamma"],
    servers=["alpha", "gamma"],
    why="they changed",
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return checkout(tmp_path / "checkout")


def split(project: Project, machines: int, *steps: Step, **changed: object) -> Plan:
    images = sorted({server for step in steps for server in step.servers})
    plan = make_plan(*steps, **{"images": images, **changed})
    return share_out(plan, catalog_of(project), Settings(shards=str(machines)), suites_of(project))


def test_one_machine_or_one_server_changes_nothing(project: Project) -> None:
    plan = make_plan(RUN, LARGE)
    assert share_out(plan, catalog_of(project), Settings(), suites_of(project)) is plan
    assert split(project, 3, only(RUN, ["beta"])).shards == []
    assert split(project, 3).shards == []


@pytest.mark.parametrize("machines", [2, 3, 5])
def test_each_server_is_on_one_machine_with_all_its_steps(project: Project, machines: int) -> None:
    plan = split(project, machines, RUN, LARGE, COMPARE)
    parts = [part(plan, number) for number in range(1, machines + 1)]
    assert sorted(server for shard in plan.shards for server in shard) == sorted((*SHORT, *LONG))
    for own in parts:
        servers = set(plan.shards[(own.shard or 0) - 1])
        assert {server for step in own.steps[1:] for server in step.servers} == servers
        for step in own.steps[1:]:
            assert step.argument("--servers").split(",") == step.servers
    for step in plan.steps:
        carried = [each for own in parts for each in own.steps if each.kind == step.kind and each.why == step.why]
        same = [each for each in carried if each.arguments[:4] == step.arguments[:4]]
        assert sorted(server for each in same for server in each.servers) == sorted(step.servers)


def test_every_machine_measures_the_same_control_first(project: Project) -> None:
    plan = split(project, 3, RUN, LARGE)
    parts = [part(plan, number) for number in (1, 2, 3)]
    assert {own.steps[0].kind for own in parts} == {"machine"}
    assert len({tuple(own.steps[0].arguments) for own in parts}) == 1
    assert parts[0].steps[0].arguments[-2:] == ["--rounds", "4"]
    assert all(own.steps[0].servers[0] in own.images for own in parts)
    assert plan.steps == [RUN, LARGE], "the whole plan is what it was"


def test_machines_have_about_as_much_to_do(project: Project) -> None:
    shards = split(project, 2, RUN, LARGE).shards
    assert [len(set(shard) & set(LONG)) for shard in shards] == [1, 1], "these take twice as long"
    assert [len(shard) for shard in shards] == [3, 3]


def test_what_strangers_wrote_gets_no_other_images(project: Project) -> None:
    beta = COMPARE.model_copy(update={"servers": ["beta", "gamma"]})
    plan = split(project, 2, only(beta, ["beta", "gamma"]), untrusted=True)
    assert plan.images == ["beta", "gamma"]
    assert part(plan, 1).images == ["beta"]
    simple = split(project, 2, only(beta, ["beta", "gamma"]))
    assert simple.images == ["beta", "gamma"], "the control is one of them"
    assert {part(simple, number).steps[0].servers[0] for number in (1, 2)} == {"beta"}


def test_a_control_that_is_not_of_the_plan_is_built_for_what_people_of_the_repository_wrote(project: Project) -> None:
    catalog = [each for each in catalog_of(project) if each.id == "delta"]
    for untrusted, images in ((False, ["alpha", "delta", "gamma"]), (True, ["alpha", "gamma"])):
        plan = make_plan(COMPARE, images=["alpha", "gamma"], untrusted=untrusted)
        assert share_out(plan, catalog, Settings(shards="2"), suites_of(project)).images == images


def test_a_part_that_there_is_not_is_refused(project: Project) -> None:
    for plan, number in ((split(project, 2, RUN), 3), (split(project, 2, RUN), 0), (make_plan(RUN), 1)):
        with pytest.raises(UserError, match=f"no part {number}"):
            part(plan, number)


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", str(MOST_MACHINES + 1), "9" * 500])
def test_another_count_is_refused(value: str) -> None:
    with pytest.raises(UserError, match=r"PUSHBENCH_SHARDS is .*, expected a number from 1 to 16"):
        Settings.read({"PUSHBENCH_SHARDS": value})


def test_without_a_simple_server_there_is_no_control(project: Project) -> None:
    none = [each for each in catalog_of(project) if each.spec.tier != "baseline"]
    with pytest.raises(UserError, match="no server can be the control of several machines"):
        share_out(make_plan(RUN), none, Settings(shards="2"), suites_of(project))


def test_more_machines_leave_more_time_for_the_larger_profile(project: Project) -> None:
    one = budget_of(project, 1)
    three = budget_of(project, 1).__class__(one.seconds, one.suites, {}, machines=3, control_seconds=600.0)
    assert (one.all_seconds, three.all_seconds) == (3600.0, 9000.0)


@pytest.mark.slow
def test_the_command_tells_later_jobs_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = checkout(tmp_path / "checkout")
    monkeypatch.setattr(Project, "current", lambda: project)
    for key, value in environment(tmp_path, "push", push()).items():
        monkeypatch.setenv(key, value)
    outputs = {}
    for shards in ("", "2"):
        monkeypatch.setenv("PUSHBENCH_SHARDS", shards)
        monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / f"output{shards}"))
        app(["ci", "plan"], standalone_mode=False)
        outputs[shards] = (tmp_path / f"output{shards}").read_text()
    assert "shards" in outputs[""]
    assert "[0]" in outputs[""]
    assert "[1, 2]" in outputs["2"]
    assert '"shards":[]' in outputs[""]
    assert '"control":null' in outputs[""]
