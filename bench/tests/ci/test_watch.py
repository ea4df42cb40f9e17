"""The watch reports a missing machine, ends checks that were left open, and keeps schedules alive."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from pushbench.ci.causes import MACHINE, Cause, causes_of, marked
from pushbench.ci.github import GitHub
from pushbench.ci.github_issues import LABEL
from pushbench.ci.watch import SECOND_LOOK_SECONDS, Watch, keep_alive
from pushbench.foundation.errors import UserError
from tests.ci.double_issues import issue, open_issues
from tests.ci.double_queue import OWN_LABELS, queued
from tests.ci.double_reporting import Reported
from tests.ci.double_watch import machine, workflow
from tests.ci.events import HEAD, REPOSITORY
from tests.ci.github_double import FORK, Double, run
from tests.ci.workflow_files import ROOT, jobs

NOW = datetime(2026, 11, 22, 12, 17, tzinfo=UTC)
RIGHTS = dict(jobs(ROOT / ".github" / "workflows" / "watch.yml")["watch"]["permissions"])
"""only those that the workflow grants"""
FILES = ("bench.yml", "ci.yml", "night.yml", "publish.yml", "report.yml", "watch.yml")


def ago(**before: float) -> str:
    return f"{NOW - timedelta(**before):%Y-%m-%dT%H:%M:%SZ}"


def waits(number: int, labels: list[str] = OWN_LABELS, **before: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A run whose job waits for the machine."""
    values = {"id": number, "status": "queued", "conclusion": None, "created_at": ago(days=1), "updated_at": ago()}
    own = run(**{**values, "html_url": f"https://github.com/{REPOSITORY}/actions/runs/{number}"})
    return own, [{**queued(labels=labels), "created_at": ago(**before), "runner_id": None}]


def ended(number: int, *, taken: bool = True, **before: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A run whose job has ended."""
    done = {"created_at": ago(days=2), "completed_at": ago(**before), "runner_id": 7 if taken else None}
    own = run(id=number, created_at=ago(days=2), updated_at=ago(**before))
    return own, [{**queued(status="completed"), **done}]


def works(number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    own, [waiting] = waits(number, hours=1)
    return own, [{**waiting, "status": "in_progress", "runner_id": 7}]


class Turns:
    """Successive hours on the same GitHub."""

    def __init__(self) -> None:
        self.double = Double(permissions=dict(RIGHTS), workflows=[workflow(file) for file in FILES])
        self.machines: Double | None = None
        """as seen with a token that may list machines"""
        self.notes: list[str] = []
        self.told: list[str] = []
        self.slept = 0.0

    def turn(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.notes, self.told, self.slept = [], [], 0.0

        def sleep(seconds: float) -> None:
            self.slept += seconds
            meanwhile()

        with self.double.github(self.notes.append) as github:
            if self.machines is None:
                Watch(github, None, self.notes.append, self.told.append, lambda: NOW, sleep).turn()
            else:
                with self.machines.github(self.notes.append) as machines:
                    Watch(github, machines, self.notes.append, self.told.append, lambda: NOW, sleep).turn()

    @property
    def open(self) -> set[Cause]:
        return {cause for each in open_issues(self.double) for cause in causes_of(each["body"])}


@pytest.fixture
def turns() -> Turns:
    return Turns()


def test_a_job_that_no_machine_takes_opens_one_issue_that_says_where_to_look(turns: Turns) -> None:
    turns.double.others = [waits(11, minutes=50), waits(12, minutes=5)]
    turns.turn()
    [opened] = turns.double.issues
    assert turns.slept == SECOND_LOOK_SECONDS
    assert opened["title"] == "Pushbench: the benchmark machine takes no jobs"
    assert "takes no jobs, seen since 2026-11-22 11:27 UTC" in opened["body"]
    assert "[run 11 (pull\\_request)](https://github.com/acme/pushbench/actions/runs/11)" in opened["body"]
    assert "run 12" in opened["body"]
    assert "journalctl -u pushbench-runner" in opened["body"]
    assert turns.told == [f"acme/pushbench: {opened['title']}: {opened['html_url']}"]

    turns.turn()
    assert (len(turns.double.issues), turns.told, turns.slept) == (1, [], 0)


def test_the_issue_is_closed_when_the_machine_takes_a_job(turns: Turns) -> None:
    turns.double.others = [waits(11, minutes=50)]
    turns.turn()
    turns.double.others = [works(11)]
    turns.turn()
    assert turns.double.issues[0]["state"] == "closed"
    assert turns.double.comments[0]["number"] == 1
    assert turns.told == [
        f"acme/pushbench: solved: {turns.double.issues[0]['title']}: {turns.double.issues[0]['html_url']}"
    ]


def test_a_job_that_came_and_went_between_two_turns_shows_that_it_is_back(turns: Turns) -> None:
    turns.double.issues = [issue(1, marked([MACHINE]), LABEL, created_at=ago(hours=2))]
    turns.double.others = [ended(11, hours=3)]
    turns.turn()
    assert turns.open == {MACHINE}, "it ended before"
    turns.double.others = [ended(11, taken=False, minutes=20)]
    turns.turn()
    assert turns.open == {MACHINE}, "no machine had it: it was cancelled"
    turns.double.others = [ended(11, minutes=20)]
    turns.turn()
    assert turns.open == set()


@pytest.mark.parametrize(
    "others",
    [
        [waits(11, minutes=29)],
        [waits(11, hours=5), works(12)],
        [waits(11, hours=5), ended(12, minutes=10)],
        [waits(11, ["self-hosted", "pushbench", "gpu"], hours=5)],
        [waits(11, ["ubuntu-24.04"], hours=5)],
        [],
    ],
    ids=["short", "busy", "was busy until now", "other labels", "hosted", "nothing waits"],
)
def test_a_machine_that_may_well_be_there_is_not_missed(turns: Turns, others: list[Any]) -> None:
    turns.double.others = others
    turns.turn()
    assert (turns.open, turns.slept) == (set(), 0)


def test_a_job_that_waits_for_its_images_does_not_wait_for_the_machine(turns: Turns) -> None:
    own, jobs = waits(11, hours=1)
    turns.double.others = [(own, [*jobs, {**queued("images", "in_progress", ["ubuntu-24.04"]), "created_at": ago()}])]
    turns.turn()
    assert turns.open == set()


def test_what_a_fork_asks_for_does_not_count(turns: Turns) -> None:
    own, jobs = waits(11, hours=5)
    turns.double.others = [({**own, "head_repository": FORK}, jobs)]
    turns.turn()
    assert turns.open == set()


def test_a_machine_that_comes_back_before_the_second_look_is_not_missed(turns: Turns) -> None:
    turns.double.others = [waits(11, minutes=50)]
    turns.turn(lambda: turns.double.others.__setitem__(0, works(11)))
    assert (turns.open, turns.slept) == (set(), SECOND_LOOK_SECONDS)


class TestWithATokenThatListsMachines:
    @pytest.fixture
    def turns(self, turns: Turns) -> Turns:
        turns.machines = Double(permissions={"administration": "read"}, machines=[machine()])
        return turns

    def test_a_machine_is_missed_though_nothing_waits(self, turns: Turns) -> None:
        assert turns.machines
        turns.turn()
        assert (turns.open, turns.slept) == (set(), 0)
        turns.machines.machines = [machine("offline"), machine("online", "self-hosted", "other")]
        turns.turn()
        assert turns.open == {MACHINE}
        assert "GitHub lists no machine with the label `pushbench` as online" in turns.double.issues[0]["body"]
        turns.machines.machines = [machine()]
        turns.turn()
        assert turns.open == set()

    def test_a_just_in_time_runner_between_two_jobs_is_not_missed(self, turns: Turns) -> None:
        assert turns.machines
        turns.machines.machines = []
        turns.turn(lambda: turns.machines.machines.append(machine()) if turns.machines else None)
        assert (turns.open, turns.slept) == (set(), SECOND_LOOK_SECONDS)

    def test_a_machine_at_work_that_is_listed_as_offline_is_not_missed(self, turns: Turns) -> None:
        assert turns.machines
        turns.machines.machines, turns.double.others = [machine("offline")], [works(11)]
        turns.turn()
        assert (turns.open, turns.slept) == (set(), 0)

    def test_a_machine_that_is_online_and_takes_nothing_is_missed(self, turns: Turns) -> None:
        turns.double.others = [waits(11, minutes=50)]
        turns.turn()
        assert turns.open == {MACHINE}
        assert "as online, but it takes no job" in turns.double.issues[0]["body"]

    def test_a_token_that_may_not_leaves_the_queue_to_watch(self, turns: Turns) -> None:
        turns.machines = Double(permissions=dict(RIGHTS))
        turns.double.others = [waits(11, minutes=50)]
        turns.turn()
        assert turns.open == {MACHINE}
        assert any("cannot be listed with PUSHBENCH_RUNNERS_TOKEN" in note for note in turns.notes)


def check(status: str = "in_progress", **changed: Any) -> dict[str, Any]:
    values = {"id": 1, "name": "Pushbench", "status": status, "external_id": "run:12:push", "head_sha": HEAD}
    values |= {"app": {"slug": "github-actions"}, "html_url": "", "output": {"annotations_count": 0}}
    return values | changed


def test_a_run_whose_check_was_left_open_is_reported_again(turns: Turns) -> None:
    turns.double.others = [ended(11, hours=5), ended(12, hours=4)]
    turns.double.checks = [check()]
    turns.turn()
    assert turns.double.dispatched == [("report.yml", {"run": "12"})]


def test_it_is_the_run_that_the_check_is_of(turns: Turns) -> None:
    turns.double.others = [ended(11, hours=5), ended(12, hours=4)]
    turns.double.checks = [check(external_id="run:11:dispatch")]
    turns.turn()
    assert turns.double.dispatched == [("report.yml", {"run": "11"})]


def test_a_check_is_what_report_wrote_and_no_job_of_that_name(turns: Turns) -> None:
    turns.double.others = [ended(12, hours=5)]
    turns.double.checks = [check("completed"), check(id=2, external_id="a-job-of-a-fork")]
    turns.turn()
    assert turns.double.dispatched == []
    turns.double.checks = [check("completed"), check(id=2), check("completed", id=3, external_id="")]
    turns.turn()
    assert turns.double.dispatched == [("report.yml", {"run": "12"})]


def test_a_commit_without_a_check_is_reported_for_some_hours(turns: Turns) -> None:
    turns.double.others = [ended(11, hours=2)]
    turns.turn()
    assert turns.double.dispatched == [("report.yml", {"run": "11"})]
    turns.double.others, turns.double.dispatched = [ended(11, hours=4)], []
    turns.turn()
    assert turns.double.dispatched == []


@pytest.mark.parametrize(
    ("others", "checks"),
    [
        ([ended(11, hours=5)], [check("completed")]),
        ([ended(11, minutes=5)], [check()]),
        ([ended(11, hours=49)], [check()]),
        ([ended(11, hours=5), works(12)], [check()]),
    ],
    ids=["ended", "its report is on its way", "old", "another run of the commit goes on"],
)
def test_other_runs_are_left_alone(turns: Turns, others: list[Any], checks: list[Any]) -> None:
    turns.double.others, turns.double.checks = others, checks
    turns.turn()
    assert turns.double.dispatched == []


def test_a_fork_that_waits_for_its_approval_is_left_alone(turns: Turns) -> None:
    own, jobs = ended(11, hours=1)
    turns.double.others = [({**own, "conclusion": "action_required"}, jobs)]
    turns.turn()
    assert turns.double.dispatched == []


def test_a_run_of_another_commit_is_known_by_its_name(turns: Turns) -> None:
    own, jobs = ended(11, hours=5)
    named = {"event": "workflow_dispatch", "display_title": f"bench pull request 9 at {HEAD}", "head_sha": "d" * 40}
    goes_on = works(12)
    turns.double.others, turns.double.checks = [({**own, **named}, jobs), goes_on], [check()]
    turns.turn()
    assert turns.double.dispatched == [], "the run 12 is of the same commit"


def test_a_job_that_waited_longer_than_github_lets_it_is_reported(turns: Turns) -> None:
    turns.double.others = [waits(11, hours=25), works(12)]
    turns.turn()
    assert turns.double.dispatched == [("report.yml", {"run": "11"})]


def test_a_fork_that_deleted_bench_yml_gets_its_check_on_an_idle_repository_too(turns: Turns) -> None:
    reported = Reported(permissions=dict(RIGHTS), workflows=turns.double.workflows)
    reported.of_fork()
    reported.has_job("Pushbench")
    turns.double, reported.run = reported, run(updated_at=ago(days=3), created_at=ago(days=3))
    turns.turn()
    assert reported.dispatched == [("report.yml", {})]
    assert "report started for pull requests without a check: 7" in turns.notes
    reported.statuses.append({"sha": HEAD, "context": "Pushbench", "state": "pending"})
    turns.turn()
    assert len(reported.dispatched) == 1


def test_one_turn_starts_a_bounded_number_of_reports(turns: Turns) -> None:
    turns.double.others = [waits(number, hours=25) for number in range(100, 140)]
    turns.turn()
    assert len(turns.double.dispatched) == 10


def test_what_github_disabled_on_an_idle_repository_is_enabled_again(turns: Turns) -> None:
    turns.double.workflows = [workflow("night.yml", "disabled_inactivity"), workflow("ci.yml", "disabled_inactivity")]
    turns.turn()
    states = {each["path"].rpartition("/")[2]: each["state"] for each in turns.double.workflows}
    assert states == {"night.yml": "active", "ci.yml": "disabled_inactivity"}
    assert "night.yml was disabled after 60 idle days; enabled it again" in turns.notes
    assert turns.open == set()


def test_the_schedules_are_kept_alive_and_other_workflows_are_left_alone(turns: Turns) -> None:
    turns.turn()
    assert {each["path"].rpartition("/")[2] for each in turns.double.workflows if each.get("enabled")} == {
        "night.yml",
        "watch.yml",
    }


def test_what_somebody_switched_off_stays_off_and_has_an_issue_until_it_is_on(turns: Turns) -> None:
    turns.double.workflows = [workflow("report.yml", "disabled_manually")]
    turns.turn()
    [opened] = turns.double.issues
    assert turns.double.workflows[0]["state"] == "disabled_manually"
    assert opened["title"] == "Pushbench: the workflow report.yml is switched off"
    assert "`gh workflow enable report.yml`" in opened["body"]
    turns.double.workflows = [workflow("report.yml")]
    turns.turn()
    assert turns.open == set()


def test_what_cannot_be_enabled_has_an_issue(turns: Turns) -> None:
    assert turns.double.permissions
    turns.double.permissions["actions"] = "read"
    turns.double.workflows = [workflow("night.yml", "disabled_inactivity")]
    turns.turn()
    assert turns.open == {Cause("workflow", "night.yml", "disabled_inactivity")}


def test_keeping_the_schedules_alive_needs_no_other_right() -> None:
    double = Double(permissions={"actions": "write"}, workflows=[workflow("watch.yml", "disabled_inactivity")])
    with double.github() as github:
        keep_alive(github, lambda _: None)
    assert double.workflows[0]["state"] == "active"


def test_issues_of_red_nights_are_not_the_watch_s(turns: Turns) -> None:
    turns.double.issues = [issue(1, marked([Cause("limit", "node-ws", "loss_ratio")]), LABEL)]
    before = dict(turns.double.issues[0])
    turns.double.others = [works(11)]
    turns.turn()
    assert turns.double.issues[0] == before


def test_a_repository_without_issues_gets_a_sentence(turns: Turns) -> None:
    turns.double.issues_off = True
    turns.double.others = [waits(11, minutes=50)]
    turns.turn()
    assert turns.told == []
    assert any("issues are disabled in this repository" in note for note in turns.notes)


def test_one_part_that_fails_keeps_no_other_from_its_work(turns: Turns) -> None:
    assert turns.double.permissions
    del turns.double.permissions["checks"]
    turns.double.others = [waits(11, minutes=50), ended(12, hours=5)]
    with pytest.raises(UserError, match="permissions: checks: read"):
        turns.turn()
    assert turns.open == {MACHINE}


def test_a_token_of_a_job_never_asks_for_machines() -> None:
    """GitHub would answer 403: no `permissions:` entry grants the permission."""
    asked: list[str] = []
    double = Double(permissions=dict(RIGHTS))

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        status, content = double.answer(request.method, str(request.url.raw_path, "ascii"), request.content)
        return httpx.Response(status, json=content)

    with GitHub(REPOSITORY, "ghs_token", note=print, transport=httpx.MockTransport(answer)) as github:
        Watch(github, None, print, print, lambda: NOW, lambda _: None).turn()
    assert asked
    assert not any("runners" in path for path in asked)
