"""A run without a base is judged against the runs before it; if it cannot be, the verdict names the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushbench.judging.verdict import Verdict, judge
from pushbench.records import history
from pushbench.records.environment import Commit
from pushbench.records.record import Record
from pushbench.records.runs import Past, past_of
from tests.factories import ENVIRONMENT, invalid, make_record, make_thresholds, make_trial, measured

MARGINS = """\
version: 1
suites:
  whiteboard:
    regressions:
      cpu_seconds_per_delivery: {margin: 5%}
      loss_ratio: {margin: 10%, floor: 0.1%}
"""
ACCEPTED = """\
servers:
  node-ws:
    whiteboard:
      accepted:
        cpu_seconds_per_delivery: {level: 50us, stages: [1000], reason: new parser, until: {until}}
"""
SINCE = """\
servers:
  node-ws:
    whiteboard:
      accepted:
        cpu_seconds_per_delivery: {since: {since}, reason: new parser}
"""
SCATTER = (0.0, 0.01, -0.01, 0.02, -0.02, 0.005, -0.005)


def record(number: int, cpu: float = 41e-6, loss: float = 0.0, **changed: Any) -> Record:
    trial = measured("node-ws", {"cpu_seconds_per_delivery": cpu, "loss_ratio": loss})
    created = f"2026-11-{number:02d}T10:15:00+00:00"
    sha = f"{number:07d}{0:033d}"
    commit = Commit(sha=sha, ref="main", subject=f"change {number}", author_time=created, dirty=False)
    known = {"id": f"202611{number:02d}T101500Z-000000", "created": created, "commit": commit}
    return make_record([trial], **{**known, **changed})


def keep(store: Path, *, runs: int = 15, **changed: Any) -> Path:
    for number in range(1, runs + 1):
        history.append(store, record(number, 41e-6 * (1 + SCATTER[number % 7]), **changed))
    return store


def past(store: Path) -> Past:
    return past_of(store, record(20), store / "cache")


def judged(store: Path, run: Record, *, thresholds: str = MARGINS) -> Verdict:
    return judge(run, make_thresholds(store, thresholds), past_of(store, run, store / "cache"))


def test_a_run_like_those_before_it_passes(tmp_path: Path) -> None:
    found = judged(keep(tmp_path), record(20))
    assert (found.outcome, found.reasons) == ("pass", [])
    assert {level.word for level in found.levels} == {"same"}
    assert {level.runs for level in found.levels} == {15}


def keep_more(store: Path, *numbers: int, cpu: float = 41e-6, **changed: Any) -> None:
    for number in numbers:
        history.append(store, record(number, cpu * (1 + SCATTER[number % 7] / 2), **changed))


def test_a_run_above_its_band_looks_worse_and_says_what_can_tell(tmp_path: Path) -> None:
    found = judged(keep(tmp_path), record(16, 46e-6))
    assert found.outcome == "inconclusive"
    assert found.reasons == [
        "node-ws: CPU per delivery looks worse, which is not certain yet, at 1,000 clients: 46 µs, accepted level "
        "41 µs (band 39.2 µs to 42.9 µs of 15 runs), margin 2.05 µs; in this run, since 0000016 of 2026-11-16; the "
        "run before it is of 0000015: `./pushbench compare --base 0000015 --servers node-ws` can tell"
    ]


def test_a_second_run_above_its_band_fails_with_the_commits_and_what_to_do(tmp_path: Path) -> None:
    keep_more(keep(tmp_path), 16, cpu=46e-6)
    found = judged(tmp_path, record(17, 46e-6))
    assert found.outcome == "fail"
    [reason] = found.reasons
    assert reason.startswith("node-ws: CPU per delivery worse at 1,000 clients: 46 µs, accepted level 41 µs (band ")
    assert reason.endswith(
        "of 15 runs), margin 2.06 µs; in the last 2 runs, since 0000016 of 2026-11-16; the run before it is of "
        "0000015: look with `./pushbench bisect --good 0000015 --bad 0000016 --server node-ws --metric "
        "cpu_seconds_per_delivery`, or accept it with `since: 2026-11-16` in thresholds.yml"
    )
    assert judged(tmp_path, record(17, 41e-6)).outcome == "pass", "it went"


def test_what_two_runs_of_one_commit_differ_by_is_not_the_code(tmp_path: Path) -> None:
    found = judged(keep(tmp_path), record(16, 46e-6, commit=record(15).commit))
    assert found.reasons[0].endswith("the run before is of the same commit 0000015: look at the machine")


def test_a_better_run_is_a_note(tmp_path: Path) -> None:
    keep_more(keep(tmp_path), 16, cpu=36e-6)
    found = judged(tmp_path, record(17, 36e-6))
    assert (found.outcome, found.notes[0].partition(" at ")[0]) == ("pass", "node-ws: CPU per delivery better")


def test_a_lasting_step_stays_worse_until_the_runs_since_are_accepted(tmp_path: Path) -> None:
    keep_more(keep(tmp_path, runs=8), *range(9, 28), cpu=48e-6)
    found = judged(tmp_path, record(28, 48e-6))
    assert (found.outcome, *cpu(found)) == ("fail", "worse", pytest.approx(41e-6, rel=0.01))
    assert "in the last 20 runs, since 0000009 of 2026-11-09" in found.reasons[0]
    since = MARGINS + SINCE.replace("{since}", "2026-11-09")
    found = judged(tmp_path, record(28, 48e-6), thresholds=since)
    assert (found.outcome, *cpu(found)) == ("pass", "same", pytest.approx(48e-6, rel=0.01))
    assert {level.accepted for level in found.levels if level.metric != "loss_ratio"} == {"new parser"}
    keep_more(tmp_path, 28, cpu=56e-6)
    assert judged(tmp_path, record(29, 56e-6), thresholds=since).outcome == "fail", "it accepts nothing later"


def test_what_is_accepted_on_a_later_day_is_not_accepted_yet(tmp_path: Path) -> None:
    keep_more(keep(tmp_path, runs=8), *range(9, 20), cpu=48e-6)
    since = MARGINS + SINCE.replace("{since}", "2026-11-21")
    assert judged(tmp_path, record(20, 48e-6), thresholds=since).outcome == "fail"


def test_a_noisy_history_cannot_tell_and_does_not_pass(tmp_path: Path) -> None:
    for number in range(1, 16):
        history.append(tmp_path, record(number, 41e-6 * (1 + 4 * SCATTER[number % 7])))
    found = judged(tmp_path, record(20, 41e-6))
    assert (found.outcome, cpu(found)[0]) == ("inconclusive", "unknown")
    assert found.reasons == [
        "node-ws: its runs scatter too much to tell whether a metric changed by its margin: CPU per delivery"
    ]
    noted = judge(record(20), make_thresholds(tmp_path, MARGINS), replace(past(tmp_path), required=False))
    assert (noted.outcome, noted.notes) == ("pass", found.reasons)


LATENCY = "version: 1\nsuites:\n  whiteboard:\n    regressions:\n      delivery_seconds.p95: {margin: 15%}\n"


def latencies(number: int, late: float, server: float) -> Record:
    metrics = {"delivery_seconds.p95": server + late, "lateness_seconds.p95": late}
    whole = record(number)
    return whole.model_copy(update={"trials": [measured("node-ws", metrics)]})


@pytest.mark.parametrize(
    ("late", "server", "found"),
    [
        (0.001, 0.010, "same"),
        (0.005, 0.010, "invalid"),  # 15 ms instead of 11, and the generator was 4 ms later
        (0.005, 0.014, "looks worse"),
        (0.0, 0.008, "looks better"),
        (0.0, 0.009, "invalid"),
    ],
)
def test_a_level_that_the_generators_own_lateness_moves_is_invalid(
    tmp_path: Path, late: float, server: float, found: str
) -> None:
    for number in range(1, 16):
        history.append(tmp_path, latencies(number, 0.001, 0.010 * (1 + SCATTER[number % 7] / 2)))
    verdict = judged(tmp_path, latencies(20, late, server), thresholds=LATENCY)
    [level] = [each for each in verdict.levels if each.clients == 1000]
    assert (f"looks {level.suspected}" if level.suspected else level.word) == found
    if found == "invalid" and late:
        assert verdict.outcome == "invalid"
        assert level.detail == "the generator itself was 5 ms late at p95, without which it would be same"
        assert verdict.reasons[-1].endswith(f": {level.detail}")


def costs(number: int, server: float, generator: float | None, **changed: Any) -> Record:
    metrics = {"cpu_seconds_per_delivery": server, "generator_cpu_seconds_per_delivery": generator, "loss_ratio": 0.0}
    return record(number, **changed).model_copy(update={"trials": [measured("node-ws", metrics)]})


@pytest.mark.parametrize(
    ("server", "generator", "found"),
    [
        (2.0, 2.0, "invalid"),  # the machine was half as fast
        (0.5, 0.5, "invalid"),
        (1.3, 1.18, "invalid"),
        (2.0, 1.0, "looks worse"),
        (2.0, None, "looks worse"),
        (2.0, 0.5, "looks worse"),
        (2.0, 1.2, "looks worse"),  # the machine was slower, and the server got worse as well
        (1.2, 1.04, "looks worse"),
        (0.5, 1.0, "looks better"),
        (1.0, 2.0, "same"),
    ],
)
def test_a_cost_that_the_machines_speed_moves_is_invalid(
    tmp_path: Path, server: float, generator: float | None, found: str
) -> None:
    for number in range(1, 16):
        scatter = 1 + SCATTER[number % 7]
        history.append(tmp_path, costs(number, 41e-6 * scatter, 30e-6 * scatter))
    own = costs(20, 41e-6 * server, generator and 30e-6 * generator)
    verdict = judged(tmp_path, own, thresholds=MARGINS)
    [level] = [each for each in verdict.levels if each.metric.startswith("cpu") and each.clients == 1000]
    assert (f"looks {level.suspected}" if level.suspected else level.word) == found
    if found == "invalid" and server > 1.5:
        assert verdict.outcome == "invalid"
        assert level.detail == (
            "the generator's own CPU for the same work changed by +100 %, too, compared with the runs before: the "
            "machine was slower, or the generator or its work changed"
        )


def test_a_generator_that_costs_more_for_long_does_not_excuse_the_server(tmp_path: Path) -> None:
    for number in range(1, 16):
        history.append(tmp_path, costs(number, 41e-6 * (1 + SCATTER[number % 7]), 45e-6 if number > 8 else 30e-6))
    found = judged(tmp_path, costs(20, 60e-6, 45e-6)).levels
    [level] = [each for each in found if each.metric.startswith("cpu") and each.clients == 1000]
    assert (level.word, level.suspected) == ("unknown", "worse")


def test_a_loss_where_there_was_none_is_worse_when_it_comes_again(tmp_path: Path) -> None:
    keep(tmp_path)
    first = judged(tmp_path, record(16, loss=0.005))
    assert "loss looks worse" in first.reasons[0]
    keep_more(tmp_path, 16, loss=0.005)
    [reason] = judged(tmp_path, record(17, loss=0.005)).reasons
    assert reason.startswith(
        "node-ws: loss worse at 1,000 clients: 0.50 %, accepted level 0 % (band 0 % to 0 % of 15 runs), margin 0.10 %"
    )


def test_an_accepted_level_stands_for_the_history_s_until_it_expires(tmp_path: Path) -> None:
    keep(tmp_path)
    keep_more(tmp_path, 16, cpu=51e-6)
    slower = record(20, 51e-6)
    accepted = MARGINS + ACCEPTED.replace("{until}", "2026-12-31")
    found = judged(tmp_path, slower, thresholds=accepted)
    assert found.outcome == "pass"
    assert [level.level for level in found.levels if level.accepted == "new parser"] == [pytest.approx(50e-6)]
    beyond = judged(tmp_path, record(20, 56e-6), thresholds=accepted)
    assert (beyond.outcome, cpu(beyond)) == ("inconclusive", ("unknown", pytest.approx(50e-6)))
    expired = MARGINS + ACCEPTED.replace("{until}", "2026-11-19")
    sentence = (
        "node-ws: the accepted level of cpu_seconds_per_delivery expired on 2026-11-19: write "
        "`since: 2026-08-21` in its place, or remove it (thresholds.yml:11)"
    )
    found = judged(tmp_path, slower, thresholds=expired)
    assert (found.outcome, found.notes[-1]) == ("fail", sentence)
    found = judged(tmp_path, record(20), thresholds=expired)
    assert (found.outcome, found.reasons) == ("inconclusive", [sentence])


CHANGED = ACCEPTED.replace("level: 50us", "change: {change}")


def changed(change: str = "15%", until: str = "2027-02-12") -> str:
    """A line written at the earliest 90 days before `until`: by default on 2026-11-14."""
    return MARGINS + CHANGED.replace("{change}", change).replace("{until}", until)


def cpu(found: Verdict) -> tuple[Any, ...]:
    [level] = [row for row in found.levels if row.metric == "cpu_seconds_per_delivery" and row.clients == 1000]
    return level.word, level.level


def test_a_change_is_accepted_from_the_level_that_the_history_had_before_the_line(tmp_path: Path) -> None:
    keep_more(keep(tmp_path, runs=12), 17, cpu=45e-6)
    found = judged(tmp_path, record(20, 45e-6), thresholds=changed())
    assert (found.outcome, *cpu(found)) == ("pass", "accepted", pytest.approx(41e-6 * 1.15, rel=0.01))
    [note] = found.notes
    assert note.startswith("node-ws: CPU per delivery accepted at 1,000 clients: 45 µs, accepted level 47.3 µs")
    assert note.endswith(": new parser")
    keep_more(tmp_path, 18, 19, cpu=52e-6)
    beyond = judged(tmp_path, record(20, 52e-6), thresholds=changed())
    assert (beyond.outcome, cpu(beyond)[0]) == ("fail", "worse")
    assert "accepted level 47.0 µs" in beyond.reasons[0]
    assert "in the last 3 runs, since 0000018 of 2026-11-18" in beyond.reasons[0]


def test_an_accepted_change_is_silent_where_nothing_got_worse(tmp_path: Path) -> None:
    keep(tmp_path, runs=12)
    found = judged(tmp_path, record(20), thresholds=changed())
    assert (found.outcome, *cpu(found), found.notes) == ("pass", "same", pytest.approx(41e-6, rel=0.01), [])


def test_an_accepted_change_never_covers_a_second_one(tmp_path: Path) -> None:
    for number in range(1, 26):
        level = 41e-6 if number < 14 else 46e-6
        history.append(tmp_path, record(number, level * (1 + SCATTER[number % 7])))
    found = judged(tmp_path, record(26, 46e-6), thresholds=changed())
    assert cpu(found) == ("accepted", pytest.approx(41e-6 * 1.15, rel=0.01))
    keep_more(tmp_path, 26, cpu=54e-6)
    second = judged(tmp_path, record(27, 54e-6), thresholds=changed())
    assert (second.outcome, *cpu(second)) == ("fail", "worse", pytest.approx(41e-6 * 1.15, rel=0.01))


@pytest.mark.parametrize("until", ["2026-11-19", "2027-02-19"], ids=["expired", "written after the run"])
def test_an_accepted_change_holds_on_its_days_only(tmp_path: Path, until: str) -> None:
    keep_more(keep(tmp_path, runs=12), 18, 19, cpu=45e-6)
    assert judged(tmp_path, record(20, 45e-6), thresholds=changed(until=until)).outcome == "fail"


def test_without_a_level_before_the_line_a_change_accepts_nothing(tmp_path: Path) -> None:
    keep_more(keep(tmp_path, runs=12), 18, 19, cpu=45e-6)
    assert judged(tmp_path, record(20, 45e-6), thresholds=changed(until="2027-02-01")).outcome == "fail"


def missing(store: Path, run: Record) -> str:
    found = judged(store, run)
    assert found.outcome == "inconclusive"
    [reason] = found.reasons
    return reason.removeprefix("node-ws: not judged against the history: ")


def test_an_empty_history_is_said(tmp_path: Path) -> None:
    assert missing(tmp_path, record(20)) == "it has no run of whiteboard with the profile quick"


def test_a_history_of_other_environments_is_said(tmp_path: Path) -> None:
    keep(tmp_path, environment=ENVIRONMENT.model_copy(update={"key": "ffff"}))
    assert missing(tmp_path, record(20)) == "its runs are of other environments (ffff), this one is 0123456789ab"


def test_a_history_of_another_method_is_said(tmp_path: Path) -> None:
    keep(tmp_path, environment=ENVIRONMENT.model_copy(update={"key": "ffff", "method": None}))
    said = "its runs are of other environments (ffff of method 1), this one is 0123456789ab of method 2"
    assert missing(tmp_path, record(20)) == said


def test_a_history_of_another_profile_is_said(tmp_path: Path) -> None:
    keep(tmp_path, profile="full")
    assert missing(tmp_path, record(20)) == "it has no earlier run of this environment with the profile quick (full)"


def test_a_history_of_other_parameters_is_said(tmp_path: Path) -> None:
    keep(tmp_path, parameters={"board_size": 99})
    assert missing(tmp_path, record(20)) == "its runs have other parameters"


def test_too_few_runs_are_said_with_their_number(tmp_path: Path) -> None:
    found = judged(keep(tmp_path, runs=4), record(20))
    assert found.outcome == "inconclusive"
    assert found.reasons == [
        "node-ws: not judged against the history, which has 4 runs where 5 are needed: CPU per delivery, loss"
    ]


def test_later_runs_and_the_run_itself_are_no_past(tmp_path: Path) -> None:
    keep(tmp_path)
    assert len(past_of(tmp_path, record(8), tmp_path / "cache").runs.heads) == 7


def test_a_run_without_a_valid_trial_stays_invalid(tmp_path: Path) -> None:
    keep(tmp_path)
    run = make_record([invalid(make_trial("node-ws"))], created="2026-11-20T10:15:00+00:00")
    assert judged(tmp_path, run).outcome == "invalid"


def test_who_does_not_ask_for_the_history_hears_nothing_of_it(tmp_path: Path) -> None:
    found = judge(record(20), make_thresholds(tmp_path, MARGINS))
    assert found.levels == []
    assert not any("history" in sentence for sentence in [*found.reasons, *found.notes])
