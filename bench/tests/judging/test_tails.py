"""Tails, shape and floors in a comparison: changes that medians hide are worse, and margins name their source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pushbench.judging import sentences
from pushbench.judging.comparison import Pair
from pushbench.judging.judged_changes import JudgedChange
from pushbench.judging.sequential import Gated, decide
from pushbench.judging.thresholds import Regression
from pushbench.judging.verdict import judge
from pushbench.metrics.definitions import Better
from pushbench.records.record import Record, Trial
from pushbench.reporting import report
from pushbench.statistics.histogram import Latencies
from tests.comparisons import compared
from tests.factories import METRICS, make_stage, make_thresholds, make_trial

MARGINS = """\
version: 1
suites:
  whiteboard:
    regressions:
      delivery_seconds.p50: {margin: 15%, floor: 500us, ceiling: 50%}
      delivery_seconds.p95: {margin: 15%, floor: 1ms, ceiling: 50%}
      delivery_seconds.p99: {margin: 100%, floor: 2ms, ceiling: 200%}
      fanout_seconds.p99: {margin: 100%, floor: 2ms, ceiling: 200%}
      delivery_seconds.p999: {margin: 200%, floor: 10ms, ceiling: 400%}
      delivery_seconds.worst_second: {margin: 200%, floor: 10ms, ceiling: 400%}
"""
USUAL = {"p50": 0.00037, "p95": 0.0007, "p99": 0.0027, "p999": 0.008, "worst_second": 0.0015}
NOISE = {"p50": 0.03, "p95": 0.05, "p99": 0.25, "p999": 0.4, "worst_second": 0.4}


def played(head: dict[str, float], rounds: int = 20) -> Record:
    """A quick server against one with other percentiles of delivery."""
    random = np.random.default_rng(1)
    trials: list[Trial] = []
    for round_ in range(1, rounds + 1):
        for arm, points in (("base", USUAL), ("head", {**USUAL, **head})):
            seen = {name: value * float(np.exp(random.normal(0, NOISE[name] / 1.4))) for name, value in points.items()}
            metrics = {f"delivery_seconds.{name}": value for name, value in seen.items()}
            late = {f"lateness_seconds.{name}": 0.0001 for name in ("p50", "p95", "p99")}
            stage = make_stage(260, {**metrics, **late, "fanout_seconds.p99": 1.1 * seen["p99"]})
            trials.append(make_trial("node-ws", round_, arm=arm, results=[stage]))
    return compared(trials)


def changes(folder: Path, head: dict[str, float]) -> dict[str, JudgedChange]:
    return {each.metric: each for each in judge(played(head), make_thresholds(folder, MARGINS)).changes}


def test_nothing_is_the_same(tmp_path: Path) -> None:
    assert {each.word for each in changes(tmp_path, {}).values()} == {"same"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "worse"),
    [
        ({"p95": 0.00133, "p99": 0.0264, "p999": 0.045}, {"p95", "p99", "p999"}),
        ({"p999": 0.4}, {"p999"}),
        ({"worst_second": 0.3}, {"worst_second"}),
    ],
    ids=["Nagle is on", "0.2 % are 400 ms late", "one second stands still"],
)
def test_faults_of_the_tail_are_worse(tmp_path: Path, head: dict[str, float], worse: set[str]) -> None:
    found = changes(tmp_path, head)
    assert {name.partition(".")[2] for name, each in found.items() if each.word == "worse"} == worse
    assert found["delivery_seconds.p50"].word == "same"


def test_each_row_says_what_made_its_margin(tmp_path: Path) -> None:
    found = changes(tmp_path, {})
    middle, tail, rare = (found[f"delivery_seconds.{point}"] for point in ("p95", "p99", "p999"))
    assert (middle.floor, middle.ceiling) == (0.001, 0.5)
    assert middle.margin == pytest.approx(0.5)
    assert (tail.floor, rare.floor) == (None, None)
    assert sentences.floor_of(middle) == "as much as the floor of 1 ms may be"
    record = played({})
    shown = report.render_terminal(record, judge(record, make_thresholds(tmp_path, MARGINS)), width=120)
    assert "floor 1 ms, capped" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("level", "share", "by"),
    [(0.0001, 0.5, "ceiling"), (0.002, 0.5, "ceiling"), (0.004, 0.25, "floor"), (0.01, 0.15, "margin")],
)
def test_a_floor_makes_the_margin_up_to_its_ceiling(level: float, share: float, by: str) -> None:
    latency = Regression(METRICS["delivery_seconds.p95"], 0.15, 0.001, Better.LOWER, ceiling=0.5)
    assert latency.share_of(level) == pytest.approx(share)
    assert latency.bound_by(level) == by
    pairs = [Pair(round_, level, level) for round_ in range(1, 5)]
    assert np.expm1(Gated(pairs, latency).until(4).margin) == pytest.approx(share, rel=0.15)


def test_a_margin_is_described_by_level() -> None:
    capped = Regression(METRICS["delivery_seconds.p95"], 0.15, 0.001, Better.LOWER, ceiling=0.5)
    assert sentences.margin(capped) == "15 %; 1 ms below 6.67 ms; 50 % below 2 ms"
    plain = Regression(METRICS["cpu_seconds_per_delivery"], 0.05, 0.0, Better.LOWER)
    assert sentences.margin(plain) == "5 %"


def test_records_from_before_a_metric_have_no_row_of_it(tmp_path: Path) -> None:
    record = played({})

    def without(trial: Trial) -> Trial:
        stage = trial.stages[0]
        known = {name: value for name, value in stage.metrics.items() if not name.endswith(("p999", "worst_second"))}
        return trial.model_copy(update={"stages": [stage.model_copy(update={"metrics": known})]})

    old = record.model_copy(update={"trials": [without(each) for each in record.trials]})
    verdict = judge(old, make_thresholds(tmp_path, MARGINS))
    assert {each.metric.partition(".")[2] for each in verdict.changes} == {"p50", "p95", "p99"}
    assert verdict.outcome == "pass"


def intermittent(seed: int, share: float) -> Gated:
    random = np.random.default_rng(seed)
    slow = np.where(random.random(20) < share, 3.0, 1.0)
    heads = 0.01 * slow * np.exp(random.normal(0, 0.04, 20))
    pairs = [Pair(round_, 0.01, float(head)) for round_, head in enumerate(heads, 1)]
    return Gated(pairs, Regression(METRICS["delivery_seconds.p95"], 0.15, 0.0, Better.LOWER))


@pytest.mark.slow
@pytest.mark.parametrize(("share", "expected"), [(0.0, lambda same: same >= 29), (0.2, lambda same: same <= 4)])
def test_what_is_slow_in_a_fifth_of_the_rounds_is_not_the_same(share: float, expected: Callable[[int], bool]) -> None:
    words = [decide({"p95": intermittent(seed, share)}, rounds=20)["p95"].word for seed in range(30)]
    assert expected(words.count("same"))


def test_a_rare_value_needs_ten_beyond_it() -> None:
    latencies = Latencies()
    latencies.record(0.001, 9_980)
    assert latencies.rare(0.001) is None
    latencies.record(0.4, 20)
    assert latencies.rare(0.001) == pytest.approx(0.4, rel=0.01)
    assert latencies.rare(0.01) == pytest.approx(0.001, rel=0.01)
