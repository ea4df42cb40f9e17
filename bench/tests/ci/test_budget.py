"""Which servers get the larger profile if a job has no time for all, and how long that takes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import median

import pytest

from pushbench.catalog.servers import Server
from pushbench.ci.budget import (
    JOB_SECONDS,
    VERIFY_SECONDS,
    Budget,
    Cost,
    Share,
    Turn,
    cost,
    longest_trial_seconds,
    share,
)
from pushbench.ci.event import Event
from pushbench.ci.plan import Change, Plan, make_plan
from pushbench.ci.steps import Settings, Step
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.foundation.yamlfile import read_yaml
from pushbench.measuring.plan import OVERHEAD_SECONDS, trial_seconds
from pushbench.records.store import read_record
from tests.ci.budgets import HOUR, LONG, SHORT, budget_of, catalog_of, checkout, suites_of
from tests.ci.events import pull_request, push, read
from tests.ci.workflow_files import ROOT, jobs

GOLDEN = Path(__file__).parents[1] / "golden" / "plans"
REAL = Path(__file__).parents[1] / "data" / "real"
DAY = date(2026, 11, 21)
CONTROL = Step(kind="control", arguments=["calibrate", "measure"], servers=["alpha"], why="a control")
EVERY = {*SHORT, *LONG}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return checkout(tmp_path / "checkout")


def shared(project: Project, budget: Budget, *beside: Step) -> Share:
    return share(catalog_of(project), Settings(), "full", budget, beside)


def ids(servers: Sequence[Server]) -> set[str]:
    return {server.id for server in servers}


def measured(*servers: str, day: int = 1, changed: bool = False) -> dict[str, Turn]:
    return dict.fromkeys(servers, Turn(f"2026-11-{day:02d}T02:30:00+00:00", changed))


def test_with_time_enough_every_server_gets_the_larger_profile(project: Project) -> None:
    for hours in (None, 2.0, 1e6):
        found = shared(project, budget_of(project, hours), CONTROL)
        assert (ids(found.large), ids(found.small)) == (EVERY, set())


def test_what_changed_comes_first_and_then_what_waited_the_longest(project: Project) -> None:
    turns = measured("alpha", day=9, changed=True) | measured("beta", "zeta", day=1) | measured("epsilon", day=3)
    budget = budget_of(project, 0.95, **turns, **measured("gamma", "delta", day=5))
    found = shared(project, budget)
    assert ids(found.large) == {"alpha", "beta", "zeta", "delta"}
    assert ids(found.small) == {"epsilon", "gamma"}


def test_what_never_had_its_turn_waited_the_longest(project: Project) -> None:
    budget = budget_of(project, 0.4, **measured(*EVERY - {"gamma"}))
    assert ids(shared(project, budget).large) == {"alpha", "gamma"}


@pytest.mark.parametrize("hours", [0.05, 0.3, 0.5, 0.75, 1.0, 1.2, 1.4])
def test_the_plan_fits_into_the_time_wherever_that_is_possible(project: Project, hours: float) -> None:
    suites = suites_of(project)
    found = shared(project, budget_of(project, hours), CONTROL)
    each = [cost(suites, server.spec.suite, "full").expected for server in found.large]
    each += [cost(suites, server.spec.suite, "quick").expected for server in found.small]
    fits = Settings().max_seconds + sum(each) <= hours * HOUR
    assert fits == (hours >= 0.3)
    assert ("even with quick the servers take longer than PUSHBENCH_JOB_TIME" in found.notes) is not fits
    assert fits or not found.large
    assert ids(found.large) | ids(found.small) == EVERY


def test_each_server_has_its_turn_after_some_nights_and_nothing_is_left_to_chance(project: Project) -> None:
    turns: dict[str, Turn] = {}
    nights = []
    for day in range(1, 13):
        budget = budget_of(project, 0.75, **turns)
        chosen = ids(shared(project, budget, CONTROL).large)
        assert chosen == ids(shared(project, budget, CONTROL).large)
        nights.append(chosen)
        turns |= measured(*chosen, day=day)
    for first in range(len(nights) - 3):
        assert set().union(*nights[first : first + 4]) == EVERY, "two hours of servers in about half an hour a night"


def test_a_server_that_changes_every_day_does_not_keep_the_others_waiting(project: Project) -> None:
    turns: dict[str, Turn] = {}
    seen: set[str] = set()
    for day in range(1, 7):
        chosen = ids(shared(project, budget_of(project, 0.75, **turns), CONTROL).large)
        turns |= measured(*chosen, day=day)
        turns["alpha"] = Turn("2026-11-01T02:30:00+00:00", changed=True)
        seen |= chosen
    assert seen == EVERY


def test_a_profile_that_is_not_larger_is_never_replaced(project: Project) -> None:
    found = share(catalog_of(project), Settings(), "smoke", budget_of(project, 0.01), [])
    assert (ids(found.large), ids(found.small)) == (EVERY, set())


def test_a_suite_without_the_profile_is_an_error_of_the_plan(project: Project) -> None:
    with pytest.raises(UserError, match="unknown profile of tiny 'fulll'"):
        share(catalog_of(project), Settings(), "fulll", budget_of(project, None), [])
    with pytest.raises(UserError, match="there is no suite 'tiny'"):
        share(catalog_of(project), Settings(), "full", Budget(None, {}, {}), [])


@pytest.mark.parametrize("hours", [None, 9.0, 6.0])
def test_a_plan_that_outlives_its_job_says_what_to_do(project: Project, hours: float | None) -> None:
    many = [replace(each, id=f"{each.id}/{number}") for number in range(5) for each in catalog_of(project)]
    [*_, note] = share(many, Settings(), "full", budget_of(project, hours), []).notes
    assert re.fullmatch(r"this takes about [56] h \d\d min, and the job ends after 5 h 30 min: .*JOB_TIME to 5h", note)
    assert "the job ends" not in str(share(many, Settings(), "full", budget_of(project, 5.0), []).notes)
    assert shared(project, budget_of(project, None)).notes == []


def test_the_job_ends_when_the_workflow_says() -> None:
    bench = jobs(ROOT / ".github" / "workflows" / "bench.yml")["bench"]
    assert bench["timeout-minutes"] * 60 == JOB_SECONDS
    plan = str(jobs(ROOT / ".github" / "workflows" / "bench.yml")["plan"]["steps"])
    assert "./pushbench ci plan --history gh-pages" in plan
    workflow = read_yaml(ROOT / ".github" / "workflows" / "bench.yml").data
    assert workflow["env"]["PUSHBENCH_JOB_TIME"] == "${{ vars.PUSHBENCH_JOB_TIME }}"


def test_estimates_hold_for_trials_that_were_really_measured() -> None:
    """The trials belong to one suite and have no containers; they differ in their starts and drains."""
    records = [read_record(path) for path in sorted(REAL.glob("*.json"))]
    assert len(records) > 20
    for record in records:
        schedule = record.schedule
        took = [trial.seconds for trial in record.trials]
        assert max(took) <= longest_trial_seconds(schedule)
        assert abs(median(took) - trial_seconds(schedule)) <= OVERHEAD_SECONDS + schedule.drain_seconds
    assert min(max(trial.seconds for trial in each.trials) for each in records) > 10


def test_a_trial_that_is_measured_again_counts_twice_at_most(project: Project) -> None:
    suites = suites_of(project)
    smoke, full = (suites["tiny"].load(name, {}) for name in ("smoke", "full"))
    assert not smoke.repeats_disturbed
    assert cost(suites, "tiny", "smoke").most == VERIFY_SECONDS + longest_trial_seconds(smoke.schedule)
    assert cost(suites, "tiny", "full").most == VERIFY_SECONDS + 2 * longest_trial_seconds(full.schedule)
    assert Cost(1, 2) + Cost(3, 4) == Cost(4, 6)


@pytest.mark.parametrize(
    "value",
    ["600", "-5h", "0", "0h", "nan", "inf", "1e999h", "5 hours", "5h\n::error::x", "$(reboot)", "x" * 10_000],
)
def test_a_time_that_is_none_is_refused_in_one_short_line(value: str) -> None:
    with pytest.raises(UserError) as refused:
        Settings.read({"PUSHBENCH_JOB_TIME": value})
    said = str(refused.value)
    assert said.startswith("PUSHBENCH_JOB_TIME is ")
    assert "expected a duration such as 5h" in said
    assert "\n" not in said
    assert len(said) < 250


def test_a_time_that_is_not_set_bounds_nothing() -> None:
    assert Settings.read({"PUSHBENCH_JOB_TIME": ""}).job_seconds is None
    assert Settings.read({}).job_seconds is None
    assert Settings.read({"PUSHBENCH_JOB_TIME": "5h"}).job_seconds == 5 * HOUR


def planned(project: Project, event: Event, budget: Budget) -> Plan:
    return make_plan(event, catalog_of(project), None, Settings(), DAY, budget=budget)


TURNS = measured("alpha", day=9, changed=True) | measured("beta", "zeta", day=1) | measured("gamma", day=5)
CASES = {
    "push-without-a-bound": (False, None, {}),
    "push-with-time-enough": (False, 2.0, TURNS),
    "push-with-time-for-some": (False, 0.8, TURNS),
    "push-without-a-history": (False, 0.5, {}),
    "push-with-too-little-time": (False, 0.02, TURNS),
    "night-with-time-for-some": (True, 0.8, TURNS),
}


@pytest.mark.parametrize("name", CASES)
def test_a_plan_says_who_gets_what_and_why(name: str, project: Project, tmp_path: Path) -> None:
    """`PUSHBENCH_GOLDEN=write` rewrites tests/golden/plans; read them aloud."""
    night, hours, turns = CASES[name]
    event = (
        read(tmp_path, "workflow_dispatch", {"inputs": {"night": "true"}}) if night else read(tmp_path, "push", push())
    )
    plan = planned(project, event, budget_of(project, hours, **turns))
    lines = [f"./pushbench {' '.join(step.arguments)}: {step.why}" for step in plan.steps]
    found = "\n".join([*lines, *plan.notes, f"reduced: {', '.join(plan.reduced) or 'none'}", ""])
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("PUSHBENCH_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found)
    assert found == golden.read_text()
    assert {server for step in plan.steps for server in step.servers} == EVERY
    assert all(len(note) < 600 and "\n" not in note for note in plan.notes), "a comment shows so much of a sentence"


def test_every_golden_plan_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


def test_no_server_is_in_two_runs_of_a_plan(project: Project, tmp_path: Path) -> None:
    plan = planned(project, read(tmp_path, "push", push()), budget_of(project, 0.8, **TURNS))
    servers = [server for step in plan.steps for server in step.servers]
    assert sorted(servers) == sorted(EVERY)
    assert set(plan.reduced) == {
        server for step in plan.steps if step.argument("--profile") == "quick" for server in step.servers
    }


def test_the_label_for_everything_fits_into_its_job_as_well(project: Project, tmp_path: Path) -> None:
    event = read(tmp_path, "pull_request", pull_request(labels=("bench:full",)))
    change = Change("e" * 40, ["servers/alpha/main.py"], frozenset(EVERY))
    settings = Settings(push_profile="smoke")
    plan = make_plan(event, catalog_of(project), change, settings, DAY, budget=budget_of(project, 0.6))
    compared, *runs = plan.steps
    assert compared.kind == "compare"
    assert {step.argument("--profile") for step in runs} == {"quick", "full"}
    whole = make_plan(event, catalog_of(project), change, settings, DAY, budget=budget_of(project, None))
    assert {step.argument("--profile") for step in whole.steps[1:]} == {"full"}
