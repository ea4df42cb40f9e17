"""What each event measures, and that no content of an event is trusted unchecked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from pushbench.calibration.faults import APART
from pushbench.catalog.servers import Server, read_catalog
from pushbench.ci.budget import cost_of
from pushbench.ci.event import Event
from pushbench.ci.plan import Change, Plan, make_plan, touched
from pushbench.ci.result import Result, StepResult
from pushbench.ci.sharding import only
from pushbench.ci.steps import NIGHTLY, Settings, control
from pushbench.foundation.errors import UserError
from tests.ci.events import HEAD, HOSTILE, pull_request, push, read
from tests.support import make_project

DAY = date(2026, 11, 21)
MERGED = "e" * 40


@pytest.fixture
def catalog(tmp_path: Path) -> Sequence[Server]:
    return read_catalog(make_project(tmp_path / "checkout", alpha="", beta="", gamma="").servers)


def planned(
    catalog: Sequence[Server],
    event: Event,
    *paths: str,
    at_base: Sequence[str] = ("alpha", "beta", "gamma"),
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
    head: str | None = None,
    **thresholds: Any,
) -> Plan:
    compares = event.pull_request or event.inputs.pull_request or event.inputs.base
    change = Change(MERGED, paths, frozenset(at_base), head, **thresholds) if compares else None
    return make_plan(event, catalog, change, settings, DAY)


def commands(plan: Plan) -> list[str]:
    return [" ".join(step.arguments) for step in plan.steps]


def test_a_push_measures_every_server_in_full(tmp_path: Path, catalog: Sequence[Server]) -> None:
    plan = planned(catalog, read(tmp_path, "push", push()))
    assert commands(plan) == ["run --suite tiny --profile full"]
    assert plan.images == ["alpha", "beta", "gamma"]
    assert not plan.untrusted


def test_an_installation_may_measure_otherwise(tmp_path: Path, catalog: Sequence[Server]) -> None:
    given = {"PUSHBENCH_PUSH_PROFILE": "smoke", "PUSHBENCH_MAX_TIME": "2m", "PUSHBENCH_DRIVER": "process"}
    settings = Settings.read({**given, "PUSHBENCH_CHECK_PROFILE": ""})
    assert commands(planned(catalog, read(tmp_path, "push", push()), settings=settings)) == [
        "run --suite tiny --profile smoke"
    ]
    plan = planned(catalog, read(tmp_path, "pull_request", pull_request()), "servers/beta/main.py", settings=settings)
    assert commands(plan) == [
        f"compare --base {MERGED} --suite tiny --profile compare --max-time 2m --servers beta",
    ]
    assert plan.driver == "process"


def test_a_merge_queue_measures_nothing_again(tmp_path: Path, catalog: Sequence[Server]) -> None:
    plan = planned(catalog, read(tmp_path, "merge_group", {"merge_group": {"head_sha": HEAD}}))
    assert plan.steps == []
    assert plan.notes == ["a merge queue: each of its pull requests was measured alone"]


def test_a_night_measures_again_and_one_server_against_itself(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"night": "true"}})
    plan = planned(catalog, event)
    run, control = plan.steps
    assert (run.kind, control.kind) == ("run", "control")
    assert commands(plan)[0] == "run --suite tiny --profile full"
    assert commands(plan)[1].endswith(" --profile compare --max-time 10m")
    assert plan.event == "schedule", "a point of the trend, also where a user started it"
    assert control.why.endswith("every server gets its turn within 3 nights")
    nights = {make_plan(event, catalog, None, Settings(), date(2026, 11, day)).steps[1].servers[0] for day in (1, 2, 3)}
    assert nights == {"alpha", "beta", "gamma"}


@pytest.mark.parametrize(("driver", "apart"), [("process", True), ("docker", False), ("auto", False)])
def test_a_night_builds_both_arms_apart_where_they_are_processes(
    tmp_path: Path, catalog: Sequence[Server], driver: str, apart: bool
) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"night": "true"}})
    control = planned(catalog, event, settings=Settings(driver=driver)).steps[-1]
    assert ("--fault" in control.arguments) is apart
    assert ("built separately" in control.why) is apart


def test_every_server_meets_every_change_that_means_nothing_in_its_turn(catalog: Sequence[Server]) -> None:
    nights = len(catalog) * len(NIGHTLY)
    steps = [control(catalog, Settings(driver="process"), DAY + timedelta(night)) for night in range(nights)]
    assert len({(step.servers[0], step.argument("--fault")) for step in steps}) == nights
    assert set(NIGHTLY) < set(APART)


def test_a_night_measures_everything_or_is_refused(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"night": "true", "servers": "beta", "rounds": "2"}})
    with pytest.raises(UserError, match="a night measures everything, so it takes no servers, rounds"):
        planned(catalog, event)
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"night": "false", "servers": "beta"}})
    assert planned(catalog, event).event == "workflow_dispatch"


def test_a_pull_request_compares_what_it_changed(tmp_path: Path, catalog: Sequence[Server]) -> None:
    plan = planned(catalog, read(tmp_path, "pull_request", pull_request()), "servers/beta/main.py", "README.md")
    assert commands(plan) == [f"compare --base {MERGED} --suite tiny --profile compare --max-time 10m --servers beta"]
    assert (plan.sha, plan.base, plan.pull_request) == (HEAD, MERGED, 7)


def test_a_new_server_is_held_against_the_limits(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "pull_request", pull_request())
    plan = planned(catalog, event, "servers/gamma/server.yml", at_base=["alpha", "beta"])
    assert commands(plan) == ["run --suite tiny --profile quick --servers gamma"]


@pytest.mark.parametrize("path", ["k6/scenarios/whiteboard.js", "bench/pushbench/measuring/trial.py", "thresholds.yml"])
def test_another_harness_measures_every_server_by_the_limits(
    tmp_path: Path, catalog: Sequence[Server], path: str
) -> None:
    plan = planned(catalog, read(tmp_path, "pull_request", pull_request()), path, "servers/beta/main.py")
    assert [step.kind for step in plan.steps] == ["compare", "run"]
    assert plan.steps[1].servers == ["alpha", "beta", "gamma"]


def test_what_thresholds_accept_leaves_a_comparison_one(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "pull_request", pull_request())
    paths = "thresholds.yml", "servers/beta/main.py"
    plan = planned(catalog, event, *paths, accepts_only=True, accepted=frozenset(["beta"]))
    assert [step.kind for step in plan.steps] == ["compare"]
    assert plan.notes == []
    both = planned(catalog, event, *paths, "k6/main.go", accepts_only=True)
    assert [step.kind for step in both.steps] == ["compare", "run"]


def test_what_is_accepted_of_servers_that_did_not_change_is_named(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "pull_request", pull_request())
    accepted = frozenset(["alpha", "beta", "unheard-of"])
    plan = planned(catalog, event, "thresholds.yml", "servers/beta/x", accepts_only=True, accepted=accepted)
    needless = "thresholds.yml accepts a regression of servers that are not compared: remove the lines of "
    assert plan.notes == [f"{needless}alpha"]
    alone = planned(catalog, event, "thresholds.yml", accepts_only=True, accepted=accepted)
    assert alone.steps == []
    assert alone.notes[0] == f"{needless}alpha, beta"


def test_a_fork_s_lines_have_effect_where_who_read_them_says_so(tmp_path: Path, catalog: Sequence[Server]) -> None:
    for accept, expected in (("true", True), ("false", False), ("", False)):
        given = {"inputs": {"pull_request": "7", "head": HEAD, "accept": accept}}
        plan = planned(catalog, read(tmp_path, "workflow_dispatch", given), "servers/beta/main.py", head=HEAD)
        assert ("--accept" in plan.steps[0].arguments) is expected
    alone = read(tmp_path, "workflow_dispatch", {"inputs": {"accept": "true", "servers": "beta"}})
    with pytest.raises(UserError, match="the input accept needs the inputs pull_request and head"):
        planned(catalog, alone)


@pytest.mark.parametrize(
    "path", ["README.md", "docs/method.md", "bench/tests/measuring/test_plan.py", "servers/README.md"]
)
def test_where_nothing_counts_nothing_is_measured_and_said(
    tmp_path: Path, catalog: Sequence[Server], path: str
) -> None:
    plan = planned(catalog, read(tmp_path, "pull_request", pull_request()), path)
    assert plan.steps == []
    assert plan.notes == ["no server and nothing that measures changed: there is nothing to measure"]


def test_a_server_that_went_is_named(tmp_path: Path, catalog: Sequence[Server]) -> None:
    plan = planned(catalog, read(tmp_path, "pull_request", pull_request()), "servers/delta/server.yml")
    assert plan.steps == []
    assert plan.notes[0] == "no longer there, so not measured: delta"


def test_a_label_measures_everything(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "pull_request", pull_request(labels=("bench:full", HOSTILE)))
    assert commands(planned(catalog, event, "README.md")) == ["run --suite tiny --profile full"]


def test_a_fork_waits_for_a_maintainer_and_is_told_the_command(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "pull_request", pull_request(fork=True))
    plan = planned(catalog, event, "servers/beta/main.py", "k6/main.go", at_base=["alpha", "beta"])
    assert plan.untrusted
    assert [step.kind for step in plan.steps] == ["compare"], "its harness is never run"
    assert f"-f pull_request=7 -f head={HEAD}" in plan.notes[-1]


def test_dependabot_cannot_push_images_so_it_waits_as_well(tmp_path: Path, catalog: Sequence[Server]) -> None:
    payload = pull_request(user={"login": "dependabot[bot]"})
    plan = planned(catalog, read(tmp_path, "pull_request", payload), "servers/beta/main.py")
    assert plan.untrusted
    assert "of Dependabot" in plan.notes[-1]


def test_a_maintainer_measures_a_fork_as_images_by_our_harness(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"pull_request": "7", "head": HEAD}})
    settings = Settings(driver="process")
    plan = planned(
        catalog, event, "servers/beta/main.py", "servers/gamma/x", at_base=["beta"], settings=settings, head=HEAD
    )
    assert commands(plan) == [
        f"compare --base {MERGED} --head {HEAD} --suite tiny --profile compare --max-time 10m --servers beta"
    ]
    assert (plan.untrusted, plan.driver, plan.sha) == (True, "docker", HEAD)
    assert plan.notes[0] == "new, and measured when they are merged: gamma"


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({}, "run --suite tiny --profile quick"),
        ({"servers": "beta, al*", "rounds": "3"}, "run --suite tiny --profile quick --servers beta,alpha --rounds 3"),
        ({"servers": "beta", "profile": "smoke"}, "run --suite tiny --profile smoke --servers beta"),
        (
            {"servers": "beta", "base": "main", "rounds": "8"},
            f"compare --base {MERGED} --suite tiny --profile compare --max-time 10m --servers beta --max-rounds 8",
        ),
    ],
)
def test_inputs_say_what_to_measure(
    tmp_path: Path, catalog: Sequence[Server], inputs: dict[str, str], expected: str
) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": inputs})
    assert commands(planned(catalog, event)) == [expected]


def test_comparisons_share_the_time_of_their_job(tmp_path: Path, catalog: Sequence[Server]) -> None:
    paths = ["servers/alpha/x", "servers/beta/x", "servers/gamma/x"]
    event = read(tmp_path, "pull_request", pull_request())
    plan = planned(catalog, event, *paths, settings=Settings(job_time="15m"))
    assert [step.arguments[-2:] for step in plan.steps] == [["--total-time", "900s"]]
    assert plan.notes[0].startswith("3 servers are compared, 10m at most each, 15 min 00 s in total: 5 min 00 s each")
    assert [cost_of(step, Settings(), {}).most for step in plan.steps] == [900.0]
    [one] = [only(step, ["beta"]) for step in plan.steps]
    assert one.arguments[-2:] == ["--total-time", "300s"], "of one of three machines"
    for enough in ("30m", ""):
        assert "--total-time" not in commands(planned(catalog, event, *paths, settings=Settings(job_time=enough)))[0]


def test_a_dispatched_pull_request_may_be_measured_otherwise(tmp_path: Path, catalog: Sequence[Server]) -> None:
    inputs = {"pull_request": "7", "head": HEAD, "servers": "alpha, beta", "profile": "full", "rounds": "3"}
    plan = planned(catalog, read(tmp_path, "workflow_dispatch", {"inputs": inputs}), "servers/beta/main.py", head=HEAD)
    arms = f"--base {MERGED} --head {HEAD}"
    load = "--suite tiny --profile full --max-time 10m --servers alpha,beta --max-rounds 3"
    assert commands(plan) == [f"compare {arms} {load}"], "alpha did not change, but was asked for"
    assert plan.images == ["alpha", "beta"]
    assert plan.left_out == []


def test_a_run_without_a_changed_server_says_so_and_cannot_pass(tmp_path: Path, catalog: Sequence[Server]) -> None:
    inputs = {"pull_request": "7", "head": HEAD, "servers": "alpha"}
    event = read(tmp_path, "workflow_dispatch", {"inputs": inputs})
    plan = planned(catalog, event, "servers/beta/x", "servers/gamma/x", head=HEAD)
    assert [step.servers for step in plan.steps] == [["alpha"]]
    assert plan.left_out == ["beta", "gamma"]
    assert plan.notes == ["changed, but left out of this run, which cannot pass without them: beta, gamma"]
    passed = StepResult(step=plan.steps[0], outcome="pass", seconds=1, said="", measured=0)
    assert Result(plan=plan, steps=[passed]).outcome == "inconclusive"
    assert Result(plan=plan.model_copy(update={"left_out": []}), steps=[passed]).outcome == "pass"


def test_a_server_that_main_does_not_have_is_new_and_not_gone(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"pull_request": "7", "head": HEAD}})
    plan = planned(catalog, event, "servers/beta/x", "servers/delta/x", "servers/omega/x", at_base=["beta", "omega"])
    told = ["new, and measured when they are merged: delta", "no longer there, so not measured: omega"]
    assert plan.notes[:2] == told


@pytest.mark.parametrize(
    ("path", "left_out"),
    [
        ("servers/new/server.yml", ["new"]),
        ("bench/pushbench/judging/verdict.py", ["what measures"]),
        ("thresholds.yml", ["what measures"]),
        ("README.md", []),
    ],
)
def test_a_stranger_s_server_does_not_pass_what_is_not_measured_beside_it(
    tmp_path: Path, catalog: Sequence[Server], path: str, left_out: list[str]
) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"pull_request": "7", "head": HEAD}})
    plan = planned(catalog, event, "servers/beta/main.py", path, head=HEAD)
    assert [step.servers for step in plan.steps] == [["beta"]]
    assert plan.left_out == left_out
    passed = StepResult(step=plan.steps[0], outcome="pass", seconds=1, said="", measured=0)
    assert Result(plan=plan, steps=[passed]).outcome == ("inconclusive" if left_out else "pass")


def test_a_change_of_thresholds_that_only_accepts_is_measured(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"pull_request": "7", "head": HEAD, "accept": "true"}})
    paths = ("servers/beta/main.py", "thresholds.yml")
    assert planned(catalog, event, *paths, head=HEAD, accepts_only=True).left_out == []


def test_names_that_strangers_chose_are_short_and_one_line_in_what_is_said(
    tmp_path: Path, catalog: Sequence[Server]
) -> None:
    """The plan is a variable of each job, and is printed into a log, where a line that begins with :: is a command."""
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"pull_request": "7", "head": HEAD}})
    plan = planned(catalog, event, "servers/beta/x", *(f"servers/\n::error::{'x' * 200}{i}/y" for i in range(900)))
    assert all("\n" not in each and len(each) <= 2_000 for each in [*plan.notes, *plan.left_out])
    assert len(plan.model_dump_json()) < 20_000
    assert plan.left_out


@pytest.mark.parametrize("default", ["main", "trunk"])
def test_only_pushes_to_the_default_branch_are_points_of_the_trend(
    tmp_path: Path, catalog: Sequence[Server], default: str
) -> None:
    event = read(tmp_path, "push", push(repository={"default_branch": default}))
    plan = planned(catalog, event)
    assert len(plan.steps) == (default == "main")
    if default == "trunk":
        assert plan.notes == ["a push to another branch than trunk: only that one has a trend"]


def test_inputs_that_mean_nothing_are_refused_with_what_there_is(tmp_path: Path, catalog: Sequence[Server]) -> None:
    event = read(tmp_path, "workflow_dispatch", {"inputs": {"servers": "alpah"}})
    with pytest.raises(UserError, match="alpha"):
        planned(catalog, event)
    with pytest.raises(UserError, match="no server belongs to the suite 'posts'"):
        planned(catalog, read(tmp_path, "workflow_dispatch", {"inputs": {"suite": "posts"}}))


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"head": HEAD}, "head needs pull_request"),
        ({"first": "17"}, "first"),
        ({"pull_request": "7", "head": HEAD, "first": "17"}, "first"),
        ({"pull_request": "7", "head": HEAD, "base": "main"}, "base"),
        ({"pull_request": "7", "head": HEAD, "suite": "posts"}, "suite"),
    ],
)
def test_inputs_that_do_not_belong_together_are_refused(
    tmp_path: Path, catalog: Sequence[Server], inputs: dict[str, str], said: str
) -> None:
    """The name of the run would contradict the plan."""
    with pytest.raises(UserError, match=said):
        planned(catalog, read(tmp_path, "workflow_dispatch", {"inputs": inputs}), "servers/beta/x", head=HEAD)


def test_paths_touch_servers_or_the_harness_or_nothing() -> None:
    assert touched(["servers/go/main.go", "servers/go/x/y", "servers/README.md"]) == (frozenset({"go"}), False)
    assert touched(["compose/bench.yml"]) == (frozenset(), True)
    assert touched(["compose/stack.yml", "bench/tests/x.py", "docs/k6/x"]) == (frozenset(), False)
    assert touched([]) == (frozenset(), False)


@pytest.mark.parametrize(
    ("path", "folder", "harness"),
    [("servers/go", {"go"}, False), ("servers", set(), True), ("bench", set(), True), ("compose", set(), True)],
)
def test_a_link_or_submodule_in_place_of_a_folder_counts_as_its_change(
    path: str, folder: set[str], *, harness: bool
) -> None:
    """Git lists it as one path, and its content is elsewhere."""
    assert touched([path]) == (frozenset(folder), harness)
