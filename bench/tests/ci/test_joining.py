"""Results of several machines are joined into one run; missing, foreign or different ones are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.ci.drafting import draft
from pushbench.ci.github_answers import Job, Run
from pushbench.ci.joining import NOTHING_LEFT, Left, join
from pushbench.ci.publishing import publishable
from pushbench.ci.result import Results, read_results, write_results
from pushbench.ci.sharding import only
from pushbench.ci.steps import Step
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.judging.machines import NOT_MEASURED, apart
from pushbench.records.record import Machine
from tests.ci import shards
from tests.ci.github_double import job, run
from tests.ci.job_results import make_plan
from tests.ci.shards import SERVERS, all_left, control, judge_of, left, planned, subject
from tests.factories import ENVIRONMENT, failed, make_record
from tests.support import make_project


def comment_of(results: Results, conclusion: str = "success") -> tuple[str, str | None]:
    jobs = [Job.model_validate(job("join"))]
    drafted = draft(Run.model_validate(run(event="push", conclusion=conclusion)), jobs, results)
    return drafted.comment, drafted.conclusion


def test_machines_that_are_alike_make_one_run(tmp_path: Path) -> None:
    plan = planned()
    joined = join(plan, all_left(plan, tmp_path), judge_of(tmp_path))
    [found] = joined.measured.values()
    record = found.record
    assert record.servers == sorted(SERVERS)
    assert record.environment == ENVIRONMENT
    assert record.machines == [Machine(name=f"bench-{at}", servers=[server]) for at, server in enumerate(SERVERS, 1)]
    assert record.complete
    assert sorted(trial.order for trial in record.plan) == [0, 1, 2]
    assert record.created == "2026-11-21T11:11:00+00:00"
    assert joined.result.plan.steps == plan.steps, "as if one machine had measured it"
    assert joined.result.outcome == "pass"
    assert joined.result.steps[0].seconds == 180.0, "of the one that took the longest"
    assert publishable(joined) == [found], "one point of the history, and no control"
    assert join(plan, all_left(plan, tmp_path), judge_of(tmp_path)).measured[1].record.id == record.id


def test_what_was_joined_travels_like_any_results(tmp_path: Path) -> None:
    plan = planned()
    joined = join(plan, all_left(plan, tmp_path, {2: 1.3}), judge_of(tmp_path))
    write_results(tmp_path / "joined", joined)
    read = read_results(tmp_path / "joined")
    assert read.result == joined.result
    assert {number: (each.record, each.verdict) for number, each in read.measured.items()} == {
        number: (each.record, each.verdict) for number, each in joined.measured.items()
    }


def test_a_machine_that_differs_is_named_and_stays_alone(tmp_path: Path) -> None:
    plan = planned()
    joined = join(plan, all_left(plan, tmp_path, {2: 1.3}), judge_of(tmp_path))
    alike, other = sorted((each.record for each in joined.measured.values()), key=lambda each: each.servers)
    if "spring-stomp" in alike.servers:
        alike, other = other, alike
    assert (alike.servers, other.servers) == (["fastapi", "spring-websocket"], ["spring-stomp"])
    assert alike.environment == ENVIRONMENT
    assert other.environment.machine == "bench-2"
    assert other.environment.key != ENVIRONMENT.key, "nothing ever compares or ranks these with the others"
    assert joined.result.outcome == "invalid"
    said = "CPU per delivery of the control node-ws is 30 % higher there than on the other machines"
    assert said in other.machines[0].apart
    comment, conclusion = comment_of(joined)
    assert "### Pushbench: NOT VALID, bench-2 is not like the other machines" in comment
    assert f"The machine bench-2 is not like the others: {said}" in comment
    assert "#### whiteboard, profile quick, by the limits, apart on bench-2. Passed: spring-stomp." in comment
    assert conclusion == "action_required"
    verdict = next(each.verdict for each in joined.measured.values() if each.record is other)
    assert any(note.startswith("measured on bench-2, which is not like the other machines") for note in verdict.notes)


def test_a_comparison_on_a_machine_that_differs_stands(tmp_path: Path) -> None:
    """Both arms ran on the same machine."""
    compare = Step(
        kind="compare",
        arguments=[*("compare", "--base", "b" * 40, "--suite", "whiteboard"), "--profile", "quick"],
        servers=list(SERVERS),
        why="they changed",
    )
    plan = planned(compare)
    joined = join(plan, all_left(plan, tmp_path, {2: 1.3}), judge_of(tmp_path))
    assert joined.result.outcome == "pass"
    assert joined.result.machines[1].apart
    assert len(joined.measured) == 3, "each was decided by the rows of its own record"
    assert "bench-2 is not like the others" in comment_of(joined)[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, NOTHING_LEFT),
        (Left(None, "its results cannot be used: result.json is missing"), "cannot be used: result.json is missing"),
    ],
)
def test_what_a_machine_did_not_leave_is_said_and_never_green(tmp_path: Path, given: Left | None, said: str) -> None:
    plan = planned()
    found = all_left(plan, tmp_path)
    del found[3]
    joined = join(plan, {**found, 3: given} if given else found, judge_of(tmp_path))
    assert joined.result.outcome == "unfinished"
    [missing] = [each for each in joined.result.steps if each.outcome == "unfinished"]
    assert missing.step == only(plan.steps[0], ["spring-websocket"])
    assert said in missing.said
    comment, conclusion = comment_of(joined)
    assert conclusion == "failure"
    assert "Machine 3 of 3: " in comment
    assert "spring-websocket" in comment
    [measured] = joined.measured.values()
    assert measured.record.servers == ["fastapi", "spring-stomp"], "what there is, is kept"


def test_a_step_that_failed_on_a_machine_stays_failed(tmp_path: Path) -> None:
    plan = planned()
    found = all_left(plan, tmp_path) | {2: left(plan, 2, tmp_path, control(2), None)}
    joined = join(plan, found, judge_of(tmp_path))
    assert joined.result.outcome == "error"
    assert [each.said for each in joined.result.steps if each.outcome == "error"] == ["ended with code 1"]


def test_a_run_that_was_cut_on_a_machine_stays_unfinished_and_its_record_is_kept(tmp_path: Path) -> None:
    plan = planned()
    found = all_left(plan, tmp_path)
    cut = found[2].results
    assert cut
    steps = [cut.result.steps[0], cut.result.steps[1].model_copy(update={"outcome": "unfinished", "said": "ended"})]
    ended = replace(cut, result=cut.result.model_copy(update={"steps": steps}))
    joined = join(plan, found | {2: Left(ended, "")}, judge_of(tmp_path))
    assert [(each.outcome, each.said) for each in joined.result.steps] == [("unfinished", "ended")]
    assert joined.measured[1].record.servers == sorted(SERVERS)


def test_a_server_that_fails_on_one_machine_fails_the_run(tmp_path: Path) -> None:
    plan = planned()
    broken = make_record([failed("spring-stomp")], id=subject(2, "spring-stomp").id, commit=shards.COMMIT)
    found = all_left(plan, tmp_path) | {2: left(plan, 2, tmp_path, control(2), broken)}
    joined = join(plan, found, judge_of(tmp_path))
    assert joined.result.outcome == "fail"
    assert "### Pushbench: FAIL, spring-stomp does not work" in comment_of(joined, "failure")[0]


def test_results_of_another_plan_are_not_used(tmp_path: Path) -> None:
    """Results of another commit, for another machine's part, or with a record of another machine's server."""
    plan = planned()
    found = all_left(plan, tmp_path)
    foreign = all_left(planned(sha="f" * 40), tmp_path)[2]
    other = left(plan, 2, tmp_path, control(2), subject(2, "fastapi"))
    for wrong in (foreign, found[1], other):
        joined = join(plan, found | {2: wrong}, judge_of(tmp_path))
        assert joined.result.outcome == "unfinished"
        assert "its results belong to another plan" in joined.result.plan.notes[0]


def test_records_that_are_not_of_one_run_are_refused(tmp_path: Path) -> None:
    plan = planned()
    other = subject(2, "spring-stomp", parameters={"board_size": 20})
    found = all_left(plan, tmp_path) | {2: left(plan, 2, tmp_path, control(2), other)}
    with pytest.raises(UserError, match="of different runs: they differ in parameters"):
        join(plan, found, judge_of(tmp_path))


def test_machines_of_other_kinds_have_records_of_their_own(tmp_path: Path) -> None:
    plan = planned()
    larger = ENVIRONMENT.model_copy(update={"key": "ffffffffffff", "cpus": 8})
    record = subject(3, "spring-websocket", environment=larger)
    joined = join(plan, all_left(plan, tmp_path) | {3: left(plan, 3, tmp_path, control(3), record)}, judge_of(tmp_path))
    keys = {each.record.environment.key: each.record.servers for each in joined.measured.values()}
    assert keys == {ENVIRONMENT.key: ["fastapi", "spring-stomp"], "ffffffffffff": ["spring-websocket"]}
    assert joined.result.outcome == "pass"


def test_one_machine_may_measure_several_parts(tmp_path: Path) -> None:
    plan = planned()
    found = {
        number: left(plan, number, tmp_path, control(number, 1.0), subject(number, server), machine="only-one")
        for number, server in enumerate(SERVERS, 1)
    }
    joined = join(plan, found, judge_of(tmp_path))
    assert joined.result.machines == [Machine(name="only-one", servers=sorted(SERVERS))]
    assert joined.measured[1].record.machines == joined.result.machines
    assert joined.result.outcome == "pass"


def test_a_machine_without_a_control_is_not_known_to_be_like_the_others(tmp_path: Path) -> None:
    plan = planned()
    found = all_left(plan, tmp_path) | {2: left(plan, 2, tmp_path, None, subject(2, "spring-stomp"))}
    joined = join(plan, found, judge_of(tmp_path))
    assert joined.result.outcome == "invalid"
    assert [each.apart for each in joined.result.machines] == ["", NOT_MEASURED, ""]


def test_of_two_machines_that_differ_both_are_named(tmp_path: Path) -> None:
    reasons = apart({"a": [control(1)], "b": [control(2, 1.3)]}, shards.thresholds(tmp_path))
    assert set(reasons) == {"a", "b"}
    assert "23 % lower" in reasons["a"]
    assert "30 % higher" in reasons["b"]


def test_a_difference_within_the_noise_or_the_margin_is_none(tmp_path: Path) -> None:
    by = shards.thresholds(tmp_path)
    noisy = (0.6, 1.0, 1.1, 1.7)
    assert apart({"a": [control(1, noise=noisy)], "b": [control(2, 1.3, noise=noisy)]}, by) == {}
    assert apart({"a": [control(1, noise=(1.0,) * 4)], "b": [control(2, 1.04, noise=(1.0,) * 4)]}, by) == {}
    assert apart({"a": [control(1)]}, by) == {}


def test_a_plan_for_one_machine_is_not_joined(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to join"):
        join(make_plan(), {}, judge_of(tmp_path))


def test_the_command_reads_what_each_machine_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path / "checkout", alpha="")
    monkeypatch.setattr("pushbench.foundation.project.Project.current", lambda: project)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    plan, folder = planned(), tmp_path / "shards"
    monkeypatch.setenv("PLAN", plan.model_dump_json(by_alias=True))
    for number, found in all_left(plan, tmp_path).items():
        assert found.results
        write_results(folder / f"results-{number}", found.results)
    (folder / "results-2" / "1.record.json").write_text("{}")
    assert app(["ci", "join", "--results", str(folder)], standalone_mode=False) == 3
    joined = read_results(project.out / "ci" / "results")
    assert [each.outcome for each in joined.result.steps].count("unfinished") == 1
    assert "its results cannot be used" in joined.result.plan.notes[0]
    assert "Machine 2 of 3" in (tmp_path / "summary.md").read_text()
