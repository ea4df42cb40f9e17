"""A failed run of main opens one issue for each cause, and a good night closes it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pushbench.ci import alerts
from pushbench.ci import result as results
from pushbench.ci.alert_run import alert
from pushbench.ci.alerting import read_run
from pushbench.ci.alerts import MOST_OPENED, Words
from pushbench.ci.causes import Cause, causes_of, marked
from pushbench.ci.github_answers import Run
from pushbench.ci.github_issues import LABEL
from pushbench.ci.result import Measured, Results
from pushbench.judging.verdict import judge
from pushbench.records.record import Trial
from tests.ci.double_issues import issue, open_issues
from tests.ci.events import HEAD, HOSTILE
from tests.ci.github_double import FORK, RUN, Double, job, run
from tests.ci.job_results import files, make_result, zipped
from tests.ci.reported_runs import SLOW, SLOW_CAUSE, artifact, night
from tests.factories import failed, invalid, make_record, make_thresholds, make_trial, measured

RIGHTS = {"actions": "read", "issues": "write"}
BENCH_FAILED = job("bench", "failure", "Bench")


def push(**changed: Any) -> dict[str, Any]:
    return run(**{"event": "push", "head_branch": "main", **changed})


class Nights:
    """Successive nights on the same GitHub."""

    def __init__(self, folder: Path, **changed: Any) -> None:
        self.folder = folder
        self.double = Double(permissions=dict(RIGHTS), **changed)
        self.notes: list[str] = []
        self.told: list[str] = []

    def play(
        self,
        *trials: Trial,
        of: dict[str, Any] | None = None,
        jobs: list[dict[str, Any]] | None = None,
        reduced: Sequence[str] = (),
    ) -> None:
        self.double.run = of or night()
        self.double.jobs = jobs if jobs is not None else [job("plan"), job("bench")]
        self.double.artifacts = {}
        if trials:
            self.double.artifacts["results"] = artifact(self.folder, make_record(trials), reduced=list(reduced))
        self.notes, self.told = [], []
        with self.double.github(self.notes.append) as github:
            alert(github, RUN, self.notes.append, self.told.append)

    @property
    def open(self) -> set[frozenset[Cause]]:
        return {causes_of(each["body"]) for each in open_issues(self.double)}


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path)


def test_a_red_night_opens_one_issue_for_its_cause(nights: Nights) -> None:
    nights.play(measured("node-ws", SLOW), make_trial("fastapi"))
    [opened] = nights.double.issues
    assert opened["title"] == "Pushbench: node-ws breaks the limit of delivery_seconds.p95"
    assert [label["name"] for label in opened["labels"]] == [LABEL]
    assert "delivery p95 900 ms" in opened["body"]
    assert f"https://github.com/acme/pushbench/actions/runs/{RUN}" in opened["body"]
    assert nights.told == [f"acme/pushbench: {opened['title']}: {opened['html_url']}"]


def test_the_next_red_night_edits_that_issue_and_says_nothing_more(nights: Nights) -> None:
    nights.play(measured("node-ws", SLOW))
    nights.play(measured("node-ws", {"delivery_seconds.p95": 1.2}))
    [only] = nights.double.issues
    assert "delivery p95 1.20 s" in only["body"]
    assert "900 ms" not in only["body"]
    assert (nights.double.comments, nights.told) == ([], [])


def test_the_first_night_that_is_in_order_closes_it_and_says_which(nights: Nights) -> None:
    nights.play(measured("node-ws", SLOW))
    nights.play(make_trial("node-ws"))
    [closed], [comment] = nights.double.issues, nights.double.comments
    assert (closed["state"], closed["state_reason"]) == ("closed", "completed")
    assert comment["number"] == closed["number"]
    assert f"https://github.com/acme/pushbench/actions/runs/{RUN}" in comment["body"]
    assert nights.told == [f"acme/pushbench: solved: {closed['title']}: {closed['html_url']}"]


def test_a_night_that_did_not_measure_the_server_leaves_its_issue_as_it_is(nights: Nights) -> None:
    nights.play(measured("node-ws", SLOW))
    before = dict(nights.double.issues[0])
    nights.play(make_trial("fastapi"))
    nights.play(invalid(make_trial("node-ws")), make_trial("fastapi"))
    assert nights.double.issues[0] == before


def test_a_night_that_measured_the_server_with_a_smaller_profile_leaves_its_issue_as_it_is(nights: Nights) -> None:
    nights.play(measured("node-ws", SLOW))
    before = dict(nights.double.issues[0])
    nights.play(make_trial("node-ws"), make_trial("fastapi"), reduced=["node-ws"])
    assert nights.double.issues[0] == before
    nights.play(make_trial("node-ws"), make_trial("fastapi"), reduced=["fastapi"])
    assert nights.double.issues[0]["state"] == "closed"


def test_a_suite_without_a_valid_run_stays_so_until_more_than_smaller_profiles_are_valid(nights: Nights) -> None:
    nights.play(invalid(make_trial("node-ws")))
    assert nights.open == {frozenset({Cause("invalid", "whiteboard")})}
    nights.play(make_trial("node-ws"), reduced=["node-ws"])
    assert nights.open == {frozenset({Cause("invalid", "whiteboard")})}
    nights.play(make_trial("node-ws"), make_trial("fastapi"), reduced=["node-ws"])
    assert nights.open == set()


def test_a_server_that_passes_because_there_was_nothing_to_measure_is_not_mended(tmp_path: Path) -> None:
    record = make_record([make_trial("node-ws")])
    verdict = judge(record, make_thresholds(tmp_path))
    [server] = verdict.servers
    unmeasured = verdict.model_copy(update={"servers": [server.model_copy(update={"valid_trials": 0})]})
    for each, mended in ((verdict, True), (unmeasured, False)):
        found = Results(make_result(each.outcome, measured=1), {1: Measured(record, each)})
        assert read_run(Run.model_validate(night()), [], found, "").mended(SLOW_CAUSE) is mended


def test_a_push_opens_and_does_not_close(nights: Nights) -> None:
    nights.play(measured("node-ws", SLOW), of=push())
    assert nights.open == {frozenset({SLOW_CAUSE})}
    nights.play(make_trial("node-ws"), of=push())
    assert nights.open == {frozenset({SLOW_CAUSE})}


@pytest.mark.parametrize(
    "other_run",
    [
        run(),
        run(event="pull_request", display_title="bench night", head_branch="main"),
        push(head_branch="faster"),
        push(head_repository=FORK),
        night(display_title="bench on demand"),
        night(head_branch="faster"),
        night(display_title="bench night\n"),
        push(path=".github/workflows/evil.yml"),
    ],
)
def test_no_other_run_is_told_of(nights: Nights, other_run: dict[str, Any]) -> None:
    nights.play(measured("node-ws", SLOW), of=other_run)
    assert nights.double.issues == []


def test_a_run_that_has_not_ended_is_not_told_of(nights: Nights) -> None:
    nights.play(measured("node-ws", SLOW), of=night(status="in_progress", conclusion=None))
    assert nights.double.issues == []


def test_a_run_that_goes_on_with_a_night_is_that_night(nights: Nights) -> None:
    continued = night(display_title=f"bench continues 4000 at {HEAD}")
    nights.double.others = [(night(id=4000), [])]
    nights.play(measured("node-ws", SLOW), of=continued)
    nights.play(make_trial("node-ws"), of=continued)
    assert [each["state"] for each in nights.double.issues] == ["closed"]
    nights.double.others = [(night(id=4000, display_title="bench on demand"), [])]
    nights.play(measured("node-ws", SLOW), of=continued)
    assert nights.open == set(), "what somebody asked for is told to that person"


def test_a_night_that_gave_way_is_told_by_the_run_that_goes_on_with_it(nights: Nights, tmp_path: Path) -> None:
    nights.play(measured("node-ws", SLOW))
    record = make_record([make_trial("node-ws"), failed("fastapi")], planned=[make_trial("node-ws", 2)])
    results.write_result(tmp_path, make_result("gave-way", measured=1))
    results.write_measured(tmp_path, 1, record, judge(record, make_thresholds(tmp_path)))
    nights.double.artifacts = {"results": zipped(files(tmp_path))}
    with nights.double.github() as github:
        alert(github, RUN, nights.notes.append, nights.told.append)
    assert nights.open == {frozenset({SLOW_CAUSE})}


def test_causes_of_one_server_have_an_issue_each_and_no_numbers_in_their_keys(nights: Nights) -> None:
    nights.play(measured("node-ws", {**SLOW, "loss_ratio": 0.5}))
    keys = {cause for causes in nights.open for cause in causes}
    assert {cause.kind for cause in keys} == {"limit"}
    assert len(nights.open) == len(keys) == 2
    assert not any(re.search(r"\b900\b|\b1,?000\b", f"{cause}") for cause in keys)


def test_a_server_that_fails_is_known_by_the_step(nights: Nights) -> None:
    nights.play(failed("node-ws"))
    assert frozenset({Cause("failure", "node-ws", "start")}) in nights.open


def test_an_invalid_run_is_one_cause_whatever_number_of_servers_it_had(nights: Nights) -> None:
    nights.play(*(invalid(make_trial(server)) for server in ("node-ws", "fastapi")))
    assert nights.open == {frozenset({Cause("invalid", "whiteboard")})}
    nights.play(make_trial("node-ws"))
    assert nights.open == set()


def test_a_run_that_did_not_get_so_far_is_known_by_job_and_step(nights: Nights) -> None:
    nights.play(jobs=[job("plan"), job("images", "failure", "Build and push")])
    assert nights.open == {frozenset({Cause("job", "images", "Build_and_push")})}
    done = {**job("images"), "steps": [{"name": "Build and push", "conclusion": "success"}]}
    nights.play(measured("node-ws", SLOW), jobs=[done, BENCH_FAILED])
    assert nights.open == {frozenset({SLOW_CAUSE})}


def test_a_job_that_no_machine_took_is_left_to_the_watch(nights: Nights) -> None:
    nights.play(of=night(conclusion="cancelled"), jobs=[job("plan"), job("bench", "cancelled")])
    assert nights.double.issues == []


def test_results_that_cannot_be_used_are_a_cause_of_their_own(nights: Nights) -> None:
    nights.double.artifacts = {"results": b"PK"}
    nights.double.run = night()
    with nights.double.github() as github:
        alert(github, RUN, nights.notes.append, nights.told.append)
    assert nights.open == {frozenset({Cause("results", "artifact")})}
    nights.play(make_trial("node-ws"))
    assert nights.open == set()


def test_a_run_that_left_nothing_and_says_nothing_is_a_cause(nights: Nights) -> None:
    nights.play()
    assert nights.open == {frozenset({Cause("run", "bench", "no-results")})}


@pytest.mark.slow
def test_a_flood_is_one_issue_that_lists_the_rest(nights: Nights) -> None:
    many = [failed(f"server-{number}") for number in range(30)]
    nights.play(*many)
    assert len(nights.double.issues) == MOST_OPENED
    flood = nights.double.issues[-1]
    assert flood["title"] == f"Pushbench: {30 - MOST_OPENED + 1} further causes of red runs"
    assert "server-9" in flood["body"]

    nights.play(*many)
    assert (len(nights.double.issues), nights.told) == (MOST_OPENED, [])

    nights.play(failed("server-9"), *(make_trial(f"server-{number}") for number in range(30) if number != 9))
    assert nights.open == {frozenset({Cause("failure", "server-9", "start")})}


def test_a_flood_that_no_body_can_hold_is_cut() -> None:
    double, found = Double(), {Cause("failure", f"server-{number}", "start"): ["x" * 400] for number in range(400)}
    with double.github() as github:
        alerts.carry_out(github, alerts.decide([], set(found), lambda _: True), Words(found), print, print)
    assert len(double.issues) == MOST_OPENED
    assert len(causes_of(double.issues[-1]["body"])) == 300


@pytest.mark.parametrize(
    "foreign",
    [
        issue(3, marked([SLOW_CAUSE]), LABEL, user={"login": "mallory"}),
        issue(3, marked([SLOW_CAUSE]), LABEL, user=None),
        issue(3, marked([SLOW_CAUSE]), LABEL, pull_request={"url": "x"}),
        issue(3, marked([SLOW_CAUSE])),
        issue(3, f"I have seen\n{marked([SLOW_CAUSE])}", LABEL),
    ],
    ids=["of a person", "of a deleted account", "pull request", "no label", "mark inside"],
)
def test_only_issues_that_pushbench_opened_count(nights: Nights, foreign: dict[str, Any]) -> None:
    nights.double.issues = [dict(foreign)]
    nights.play(measured("node-ws", SLOW))
    assert len(nights.double.issues) == 2
    nights.play(make_trial("node-ws"))
    assert nights.double.issues[0] == foreign


def test_two_issues_of_one_cause_become_the_older_one(nights: Nights) -> None:
    nights.double.issues = [issue(number, marked([SLOW_CAUSE]), LABEL) for number in (3, 4)]
    nights.play(measured("node-ws", SLOW))
    assert [each["state"] for each in nights.double.issues] == ["open", "closed"]
    assert "older issue" in nights.double.comments[0]["body"]


def test_a_repository_without_issues_gets_a_sentence(nights: Nights) -> None:
    nights.double.issues_off = True
    nights.play(measured("node-ws", SLOW))
    assert (nights.double.issues, nights.told) == ([], [])
    assert "issues are disabled in this repository" in nights.notes[-1]


def test_hostile_words_of_a_record_do_nothing(nights: Nights) -> None:
    nights.play(failed(HOSTILE, message=f"{HOSTILE} --> <script>"))
    [opened] = nights.double.issues
    html = MarkdownIt("commonmark").render(opened["body"])
    assert "<script" not in html
    assert "@team" not in html
    assert re.fullmatch(r"[\w ./:-]+", opened["title"], re.ASCII)
    [cause] = causes_of(opened["body"])
    assert cause.kind == "failure"


def test_a_mark_is_read_back_and_another_is_not() -> None:
    causes = {SLOW_CAUSE, Cause.of("job", "images", "Build and push"), Cause.of("failure", "a--> b", "")}
    assert causes_of(f"{marked(causes)}\n\ntext") == causes
    assert "-->" not in marked(causes).removesuffix("-->")
    assert causes_of(f"{marked(causes)}\n".replace("\n", "\r\n")) == causes
    for other_body in (
        "",
        "<!-- pushbench alert",
        "<!-- pushbench alert\nlimit a",
        "<!-- pushbench alert\nevil a b\n-->",
    ):
        assert causes_of(other_body) == frozenset()
