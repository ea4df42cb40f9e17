"""The judge's own error rates are counted correctly, over real and resampled comparisons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pushbench.calibration.error_rates import calibrate, compact, known, of_real
from pushbench.calibration.faults import ALIKE, parse_fault
from pushbench.calibration.rates import rate
from pushbench.calibration.report import bound, markdown
from pushbench.foundation.errors import UserError
from pushbench.records.record import Record, Trial
from tests.comparisons import THRESHOLDS, arms, compared

BEGAN = datetime(2026, 11, 27, 12, tzinfo=UTC)


def campaign(injected: str, *, fixed: bool, cpu: float = 0.0, rounds: int = 30, at_once: int = 1) -> Record:
    """Rounds of 30 s."""

    def placed(trial: Trial) -> Trial:
        began = BEGAN + timedelta(seconds=30 * ((trial.round - 1) // at_once))
        return trial.model_copy(update={"started": began.isoformat(), "seconds": 30.0})

    trials = [placed(trial) for trial in arms("node-ws", rounds=rounds, cpu=cpu)]
    return compared(trials, injected=injected, fixed=fixed)


def test_wilsons_interval_is_the_published_one() -> None:
    found = rate(1, 10)
    assert [found.low, found.high] == pytest.approx([0.0179, 0.4042], abs=1e-4)
    assert (rate(0, 0).low, rate(0, 0).high) == (0.0, 1.0)
    assert rate(0, 2000).high < 0.002
    assert rate(0, 2000, independent=10).high == rate(0, 10).high
    assert [rate(0, of).low for of in (5, 7, 2000)] == [0.0] * 3
    assert [rate(of, of).high for of in (5, 7, 2000)] == [1.0] * 3


def test_real_comparisons_are_counted_by_the_word_of_what_the_fault_changes() -> None:
    records = [campaign("burn=15%", fixed=False, cpu=0.15, rounds=20), campaign("none", fixed=False, rounds=20)]
    alarm, power = sorted(calibrate(records, THRESHOLDS, runs=1).cases, key=lambda case: case.injected, reverse=True)
    assert (alarm.injected, alarm.how, alarm.failed.count, alarm.words) == ("none", "real", 0, {"same": 1})
    assert (power.injected, power.words, power.failed.count) == ("burn=15%", {"worse": 1}, 1)


@pytest.mark.slow
def test_campaigns_are_resampled_and_servers_against_themselves_scaled() -> None:
    records = [campaign("none", fixed=True), campaign("burn=10%", fixed=True, cpu=0.10)]
    found = calibrate(records, THRESHOLDS, runs=40, scaled=[1.2])
    cases = {(case.injected, case.how): case for case in found.cases}
    assert cases["none", "resampled"].failed.count <= 1
    assert cases["none", "resampled"].rounds < cases["none", "resampled"].most_rounds == 20
    assert cases["burn=10%", "resampled"].words["worse"] >= 36
    scaled = cases["burn=20%", "resampled and scaled"]
    assert (scaled.arms, scaled.words) == ("none", {"worse": 40})
    assert "| burn=20% | resampled and scaled: one build |" in markdown(found)


@pytest.mark.slow
def test_a_short_campaign_is_drawn_no_more_often_than_its_rounds_deserve() -> None:
    records = [campaign("none", fixed=True), campaign("none", fixed=True, rounds=3, cpu=3.0)]
    [case] = calibrate(records, THRESHOLDS, runs=40).cases
    assert case.words["same"] >= 24


@pytest.mark.slow
def test_what_two_builds_differ_by_stays_in_all_rounds_of_a_draw() -> None:
    """One campaign has a bias: its draws are worse or better, depending on the random order of arms, never the same."""
    records = [campaign("none", fixed=True), campaign("none", fixed=True, cpu=0.3)]
    [case] = calibrate(records, THRESHOLDS, runs=60).cases
    assert case.campaigns == 2
    assert 5 <= case.words["worse"] <= 25
    assert case.words["worse"] + case.words["better"] + case.words["same"] == 60
    assert case.failed.high - case.failed.low > 0.5


def test_ten_minutes_have_time_for_more_rounds_where_several_run_at_the_same_time() -> None:
    for at_once, most in ((1, 20), (2, 40), (3, 60)):
        [case] = calibrate([campaign("none", fixed=True, at_once=at_once)], THRESHOLDS, runs=2).cases
        assert case.most_rounds == most


def test_campaigns_with_an_older_schedule_are_not_resampled() -> None:
    newest = campaign("none", fixed=True)
    shorter = newest.schedule.model_copy(update={"warmup_seconds": 2.0})
    older = newest.model_copy(update={"schedule": shorter, "created": "2026-11-01T00:00:00+00:00"})
    [case] = calibrate([newest, older], THRESHOLDS, runs=2).cases
    assert case.campaigns == 1


@pytest.mark.slow
def test_draws_from_one_campaign_are_one_case() -> None:
    [case] = calibrate([campaign("none", fixed=True)], THRESHOLDS, runs=60).cases
    assert (case.campaigns, case.failed.count, case.failed.of) == (1, 0, 60)
    assert case.failed.high == rate(0, 1).high


def test_all_real_comparisons_of_equal_code_bound_the_false_alarms() -> None:
    records = [campaign("none", fixed=False), campaign("rebuilt", fixed=False), campaign("none", fixed=True)]
    records += [campaign("burn=15%", fixed=False, cpu=0.15)]
    found = calibrate(records, THRESHOLDS, runs=10)
    assert of_real(found.cases, ALIKE) == rate(0, 2)
    text = bound(found.cases)
    assert text.startswith("Of 2 real comparisons of a server with itself, over all servers, 0 called a row worse")
    assert text.endswith("is 0.0 to 65.8 % (95 %). In 1 of them, the arms were built separately; 0 of these did.")
    assert "| node-ws | built at another path | real | 1 | 1 | 0 |" in markdown(found)


def test_a_record_without_a_known_answer_joins_nothing() -> None:
    whole = campaign("none", fixed=False)
    assert known(whole, Path("a.json")) is whole
    changes: list[dict[str, object]] = [{"comparison": None}, {"trials": whole.trials[1:]}, {"trials": [], "plan": []}]
    for changed in changes:
        with pytest.raises(UserError):
            known(whole.model_copy(update=changed), Path("a.json"))


@pytest.mark.slow
def test_the_same_seed_draws_the_same() -> None:
    records = [campaign("none", fixed=True)]
    assert calibrate(records, THRESHOLDS, runs=20, seed=4) == calibrate(records, THRESHOLDS, runs=20, seed=4)


def test_the_report_has_a_line_for_each_case_with_its_interval() -> None:
    found = calibrate([campaign("none", fixed=True), campaign("burn=10%", fixed=True, cpu=0.1)], THRESHOLDS, runs=10)
    text = markdown(found)
    assert "| node-ws | one build | resampled | 10 | 1 | 0 | 0.0 to 79.3 % |" in text
    assert "| node-ws | burn=10% | resampled | 10 | 1 |" in text


@pytest.mark.slow
def test_a_small_copy_gives_the_same_answer() -> None:
    records = [campaign("none", fixed=True)]
    small = [compact(record) for record in records]
    assert small[0].trials[0].stages[0].histograms == {}
    assert calibrate(small, THRESHOLDS, runs=20) == calibrate(records, THRESHOLDS, runs=20)


@pytest.mark.parametrize("text", ["burn", "burn=fast", "burn=2ms", "heat=10%", "delay=5%", "order", ""])
def test_a_fault_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        parse_fault(text)
