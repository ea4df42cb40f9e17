"""A night searches the capacities of some servers. One that carries less fails it, and gets an issue and a sentence."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pushbench.ci import publishing
from pushbench.ci.alert_run import alert
from pushbench.ci.benching import Bench
from pushbench.ci.budget import Budget
from pushbench.ci.causes import Cause, causes_of
from pushbench.ci.drafting import message, of_plan
from pushbench.ci.plan import Plan, make_plan
from pushbench.ci.result import Results, Searched, read_results
from pushbench.ci.steps import Settings
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.records import capacity_history
from pushbench.records.capacity_history import append
from pushbench.records.capacity_store import read_capacity
from pushbench.reporting.comment import comment
from tests.capacity.capacities import SEARCH as SEARCHED
from tests.ci.budgets import LONG, SHORT, catalog_of, checkout, suites_of
from tests.ci.double_issues import open_issues
from tests.ci.events import push, read
from tests.ci.github_double import RUN, Double, job
from tests.ci.job_results import files, zipped
from tests.ci.nights import left_by, taken_up
from tests.ci.reported_runs import night
from tests.ci.searches import BEFORE, LESS, SEARCH, artifact, planned, result_of, searched, write
from tests.records.capacity_entries import THREE
from tests.support import make_project

LAUNCHER = """\
#!{python}
# Stands for the command line: a search that leaves the record beside it, or a mistake.
import pathlib, sys
root, out = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
(root / "log").open("a").write(" ".join(sys.argv[1:]).replace(str(root), "") + "\\n")
if not (root / "record.json").exists():
    print("pushbench: whiteboard: no server 'nod-ws'", file=sys.stderr)
    sys.exit(2)
(out / "capacity").mkdir(parents=True)
(out / "capacity" / "20261120T101500Z-1a2b3c.json").write_bytes((root / "record.json").read_bytes())
sys.exit(int((root / "code").read_text()))
"""


@pytest.fixture
def able(tmp_path: Path) -> Project:
    """A checkout with four servers of a suite with a capacity search, and two others."""
    project = checkout(tmp_path / "checkout")
    suite = project.scenarios / "tiny.yml"
    said = json.dumps(SEARCHED.model_dump(mode="json", exclude_defaults=True))
    suite.write_text(f"{suite.read_text()}capacity: {said}\n")
    return project


def plan_of(project: Project, folder: Path, day: int = 1, event: str = "night", **settings: str) -> Plan:
    happened = (
        read(folder, "workflow_dispatch", {"inputs": {"night": "true"}})
        if event == "night"
        else read(folder, "push", push())
    )
    own = Settings(**settings)
    budget = Budget(own.job_seconds, suites_of(project), {})
    return make_plan(happened, catalog_of(project), None, own, date(2026, 11, day), budget=budget)


def searches(plan: Plan) -> list[str]:
    return [server for step in plan.steps if step.kind == "capacity" for server in step.servers]


def test_a_night_searches_as_many_servers_as_it_has_time_for(able: Project, tmp_path: Path) -> None:
    plan = plan_of(able, tmp_path, capacity_time="16m")
    *_, control, step = plan.steps
    assert (control.kind, step.kind) == ("control", "capacity")
    assert step.arguments[:3] == ["capacity", "--suite", "tiny"]
    assert step.arguments[-2:] == ["--max-time", "300s"]
    assert len(step.servers) == 3
    assert step.why == "what it carries; every server gets its turn within 2 nights"
    assert f"capacity in the suite tiny: {', '.join(step.servers)}" in of_plan(plan).replace("Capacity", "capacity")


def test_servers_take_turns_and_those_of_other_suites_have_none(able: Project, tmp_path: Path) -> None:
    nights = [searches(plan_of(able, tmp_path, day, capacity_time="10m")) for day in range(1, 5)]
    assert [len(each) for each in nights] == [2, 2, 2, 2]
    for first, second in itertools.pairwise(nights):
        assert sorted([*first, *second]) == list(SHORT)
    everything = searches(plan_of(able, tmp_path, capacity_time="5h"))
    assert everything == list(SHORT)
    assert not set(everything) & set(LONG)


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        ({}, 4),
        ({"capacity_time": "0"}, 0),
        ({"capacity_time": "4m"}, 0),
        ({"capacity_time": "30m", "job_time": "45m"}, 2),  # a quarter of the job
    ],
)
def test_the_time_of_searches_is_bounded(able: Project, tmp_path: Path, settings: dict[str, Any], number: int) -> None:
    assert len(searches(plan_of(able, tmp_path, **settings))) == number


def test_searches_take_time_from_the_profile_of_pushes(able: Project, tmp_path: Path) -> None:
    without = plan_of(able, tmp_path, job_time="60m", capacity_time="0")
    found = plan_of(able, tmp_path, job_time="60m")
    assert len(found.reduced) > len(without.reduced)


def test_pushes_search_nothing(able: Project, tmp_path: Path) -> None:
    assert searches(plan_of(able, tmp_path, event="push")) == []


@pytest.mark.parametrize("value", ["soon", "-5m", "00"])
def test_a_time_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(UserError, match=f"PUSHBENCH_CAPACITY_TIME is '{value}', expected a duration"):
        Settings.read({"PUSHBENCH_CAPACITY_TIME": value})


def bench(tmp_path: Path, found: Searched | None, *, code: int = 0, store: Path | None = None) -> Results:
    """The results of a job with a plan of one search, which found this."""
    project = make_project(tmp_path / "checkout", alpha="")
    launcher = project.root / "pushbench"
    launcher.write_text(LAUNCHER.replace("{python}", sys.executable))
    launcher.chmod(0o755)
    (project.root / "code").write_text(str(code))
    if found:
        (project.root / "record.json").write_text(found.record.model_dump_json(by_alias=True))
    folder = project.out / "results"
    Bench(project, project.out / "ci", planned(), NO_THRESHOLDS, folder, store, lambda _: None).play()
    called = (project.root / "log").read_text()
    assert called == f"{' '.join(SEARCH.arguments)} --wait --driver auto --out /out/ci/step-1\n"
    return read_results(folder)


@pytest.mark.parametrize(("pairs", "word", "outcome"), [(LESS, "worse", "fail"), (THREE, "same", "pass")])
def test_a_search_is_judged_by_those_before_it(
    tmp_path: Path, pairs: tuple[tuple[int, int], ...], word: str, outcome: str
) -> None:
    for entry in BEFORE:
        append(tmp_path / "history", entry)
    found = bench(tmp_path, searched(pairs), store=tmp_path / "history")
    assert found.searched[1].verdict.servers[0].word == word
    assert found.result.outcome == outcome


def test_the_first_searches_fail_nothing(tmp_path: Path) -> None:
    found = bench(tmp_path, searched(), code=3)
    assert found.searched[1].verdict.outcome == "inconclusive"
    assert found.result.outcome == "pass"


def test_a_search_that_cannot_be_meant_is_an_error(tmp_path: Path) -> None:
    found = bench(tmp_path, None)
    assert (found.result.outcome, found.searched) == ("error", {})
    assert found.result.steps[0].said == "pushbench: whiteboard: no server 'nod-ws'"


def test_a_search_that_is_cut_short_keeps_what_it_found(tmp_path: Path) -> None:
    found = bench(tmp_path, searched(), code=130)
    assert found.result.outcome == "unfinished"
    assert found.searched.keys() == {1}


def change(name: str, changed: Callable[[Any], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        document = json.loads((folder / name).read_text())
        changed(document)
        (folder / name).write_text(json.dumps(document))

    return apply


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda folder: (folder / "1.judged.json").unlink(), "1.judged.json is missing"),
        (lambda folder: (folder / "1.capacity.json").write_text("{"), "1.capacity.json is not a JSON document"),
        (change("1.judged.json", lambda it: it.update(record="20261101T101500Z-0")), "it belongs to another search"),
        (change("1.judged.json", lambda it: it.update(servers=[])), "it has other servers or numbers"),
        (
            change("1.judged.json", lambda it: it["servers"][0]["now"].update(carried=9000)),
            "it has other servers or numbers",
        ),
        (change("1.judged.json", lambda it: it.update(outcome="pass")), "a server fails, but the verdict does not"),
        (change("result.json", lambda it: it["steps"][0].update(outcome="pass")), "another outcome than 1.judged"),
        (change("result.json", lambda it: it["steps"][0].update(measured=1)), "names the search 1 for another step"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, wrong: Callable[[Path], object], said: str) -> None:
    folder = write(tmp_path / "results", searched())
    assert read_results(folder).result.outcome == "fail"
    wrong(folder)
    with pytest.raises(UserError, match=said):
        read_results(folder)


def test_the_check_says_what_each_server_carries() -> None:
    found = searched()
    said = message(Results(result_of(found), {}, {1: found}))
    assert said.headline == "FAIL, node-ws carries less or nothing"
    text = comment(said)
    assert "node-ws: capacity 4,100" in text
    assert "-21%, margin 15%: worse" in text
    enough = searched(THREE)
    assert message(Results(result_of(enough), {}, {1: enough})).headline.startswith("pass")


def played(tmp_path: Path, double: Double, found: Searched | None) -> set[frozenset[Cause]]:
    """The causes of the open issues after a night that found this, or without a search."""
    double.run, double.jobs = night(), [job("plan"), job("bench")]
    shutil.rmtree(tmp_path / "results", ignore_errors=True)
    if found:
        double.artifacts = {"results": artifact(tmp_path / "results", found)}
    else:
        nothing = write(tmp_path / "results", searched(THREE))
        empty = read_results(nothing).result.model_copy(update={"plan": planned(steps=[]), "steps": []})
        (nothing / "result.json").write_text(empty.model_dump_json(by_alias=True))
        double.artifacts = {"results": zipped(files(nothing))}
    with double.github(lambda _: None) as github:
        alert(github, RUN, lambda _: None, lambda _: None)
    return {causes_of(each["body"]) for each in open_issues(double)}


def test_a_server_that_carries_less_has_an_issue_until_a_search_says_otherwise(tmp_path: Path) -> None:
    double = Double(permissions={"actions": "read", "issues": "write"})
    worse = {frozenset({Cause("capacity", "node-ws")})}
    assert played(tmp_path, double, searched()) == worse
    [opened] = double.issues
    assert opened["title"] == "Pushbench: node-ws carries less than before, or nothing"
    assert "4,100" in opened["body"]
    assert played(tmp_path, double, None) == worse, "a night that searches other servers says nothing"
    assert played(tmp_path, double, searched(enough=False)) == worse, "and so does one that is unknown"
    assert played(tmp_path, double, searched(THREE)) == set()


def test_the_branch_keeps_searches_that_are_whole(tmp_path: Path) -> None:
    found = searched()
    paths = publishing.add_search(tmp_path, found)
    written = [path.read_bytes() for path in paths]
    assert publishing.add_search(tmp_path, found) == paths
    assert [path.read_bytes() for path in paths] == written, "the same again changes nothing"
    assert capacity_history.read_entry(paths[0]).servers["node-ws"].carried == 4100
    assert read_capacity(paths[1]) == found.record
    assert paths[1] == tmp_path / "capacity" / f"{found.record.id}.json.gz"
    cut = found.record.model_copy(update={"wanted_starts": 9})
    assert publishing.add_search(tmp_path / "other", Searched(cut, found.verdict)) == []
    assert not (tmp_path / "other").exists()


def test_a_night_that_gave_way_keeps_its_searches(tmp_path: Path) -> None:
    found = searched(THREE)
    done = result_of(found).steps[0]
    left = done.model_copy(update={"outcome": "gave-way", "searched": None})
    plan = planned(steps=[SEARCH, SEARCH])
    before = Results(result_of(found).model_copy(update={"plan": plan, "steps": [done, left]}), {}, {1: found})
    folder = tmp_path / "left"
    double = left_by(before, folder)
    again = taken_up(double)
    assert again.searched[1].record == found.record
    assert [step.outcome for step in again.result.steps] == ["pass", "unfinished"]


def test_a_search_of_another_commit_is_not_gone_on_with(tmp_path: Path) -> None:
    found = searched(THREE)
    commit = found.record.commit
    assert commit
    other = Searched(
        found.record.model_copy(update={"commit": commit.model_copy(update={"sha": "e" * 40})}), found.verdict
    )
    done = result_of(other).steps[0]
    left = done.model_copy(update={"outcome": "gave-way", "searched": None})
    plan = planned(steps=[SEARCH, SEARCH])
    before = Results(result_of(other).model_copy(update={"plan": plan, "steps": [done, left]}), {}, {1: other})
    with pytest.raises(UserError, match="does not fit a push or a night: records"):
        taken_up(left_by(before, tmp_path / "left"))
