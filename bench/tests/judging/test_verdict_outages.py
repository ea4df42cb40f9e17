"""An outage is judged if something was killed, and a server that does not recover correctly fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.judging.asking import margins
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import KnownSuite, read_thresholds
from pushbench.judging.verdict import judge
from pushbench.metrics.definitions import metrics_of
from pushbench.metrics.recovery import outage_result
from pushbench.records.record import Outage, Record, Schedule, StagePlan, Trial
from pushbench.records.vocabulary import ORIGINAL
from pushbench.reporting.report import render_terminal
from tests.factories import Metrics, make_record, make_stage, make_trial
from tests.samples import outage

RECOVERING = ORIGINAL.model_copy(update={"recovers": True})
GOOD: Metrics = {"recovery_seconds": 2.0, "clients_not_back": 0, "lost_after_recovery": 0, "outage_lost": 40}
SCHEDULE = Schedule(
    warmup_seconds=1,
    stages=[
        StagePlan(
            clients=100,
            name="killed",
            ramp_seconds=1,
            settle_seconds=1,
            steady_seconds=10,
            outage=Outage(kill="service", at_seconds=2, down_seconds=0, within_seconds=5),
        )
    ],
    drain_seconds=1,
)
LIMITS = """\
version: 1
suites:
  whiteboard:
    limits:
      loss_ratio: {max: 1%}
      recovery_seconds: {max: 10s}
      clients_not_back: {max: 0}
      lost_after_recovery: {max: 0}
"""


@pytest.fixture
def thresholds(tmp_path: Path) -> Thresholds:
    file = tmp_path / "thresholds.yml"
    file.write_text(LIMITS)
    known = {"whiteboard": KnownSuite(("killed",), metrics_of(RECOVERING))}
    return read_thresholds(file, suites=known, servers={"node-ws": "whiteboard"})


def killed(metrics: Metrics) -> Trial:
    found = outage_result(outage(), 1.0)
    return make_trial("node-ws", results=[make_stage(100, {**GOOD, **metrics}, name="killed", outage=found)])


def of(trial: Trial) -> Record:
    return make_record([trial], schedule=SCHEDULE, words=RECOVERING)


def test_a_server_that_recovers_passes_whatever_the_outage_itself_cost(thresholds: Thresholds) -> None:
    verdict = judge(of(killed({})), thresholds)
    assert (verdict.outcome, len(verdict.limits)) == ("pass", 4)


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ({"lost_after_recovery": 1}, "lost after recovery 1 in killed, limit 0"),
        ({"recovery_seconds": 10.5}, "recovery 10.5 s in killed, limit 10 s"),
        ({"recovery_seconds": None, "clients_not_back": 3}, "clients not back 3 in killed, limit 0"),
        ({"loss_ratio": 0.02}, "loss 2 % in killed, limit 1 %"),
    ],
)
def test_a_server_that_comes_back_wrong_fails(thresholds: Thresholds, metrics: Metrics, told: str) -> None:
    verdict = judge(of(killed(metrics)), thresholds)
    assert (verdict.outcome, verdict.reasons[:1]) == ("fail", [f"node-ws: {told}"])


def test_a_server_without_what_was_to_be_killed_is_asked_for_the_rest_alone(thresholds: Thresholds) -> None:
    verdict = judge(of(make_trial("node-ws", results=[make_stage(100, name="killed")])), thresholds)
    assert (verdict.outcome, [limit.metric for limit in verdict.limits]) == ("pass", ["loss_ratio"])


def test_a_margin_on_a_recovery_is_asked_only_where_something_was_to_be_killed(tmp_path: Path) -> None:
    file = tmp_path / "thresholds.yml"
    file.write_text(f"{LIMITS}    regressions:\n      recovery_seconds: {{margin: 20%, floor: 1s}}\n")
    known = {"whiteboard": KnownSuite(("killed",), metrics_of(RECOVERING))}
    with_margin = read_thresholds(file, suites=known, servers={})
    usual = SCHEDULE.model_copy(update={"stages": [SCHEDULE.stages[0].model_copy(update={"outage": None})]})
    assert [each.metric for each in margins(of(killed({})), with_margin, "node-ws", 0)] == ["recovery_seconds"]
    assert margins(make_record([killed({})], schedule=usual, words=RECOVERING), with_margin, "node-ws", 0) == []


def test_an_outage_has_rows_of_its_own_where_there_was_one(thresholds: Thresholds) -> None:
    with_outage, without = of(killed({})), of(make_trial("node-ws", results=[make_stage(100, name="killed")]))
    shown = render_terminal(with_outage, judge(with_outage, thresholds))
    assert "Recovery" in shown
    assert "Lost in the outage" in shown
    assert "Recovery" not in render_terminal(without, judge(without, thresholds))
