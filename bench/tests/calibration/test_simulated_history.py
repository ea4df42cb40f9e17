"""Both rules judge the same series, and the published figures meet the promised rates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pushbench.calibration import simulated_history
from pushbench.calibration.error_rates import Calibration
from pushbench.calibration.report import markdown
from pushbench.calibration.simulated_history import HAPPENINGS, SimulatedHistory, by_accepted_level, by_band
from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better, Metric, Unit

DOCS = Path(__file__).parents[3] / "docs"
COST = Regression(Metric("cost", "cost", Unit.SECONDS), 0.05, 0.0, Better.LOWER)


@pytest.fixture(scope="module")
def published() -> list[SimulatedHistory]:
    content = json.loads((DOCS / "calibration.json").read_text())
    return Calibration.model_validate(content).histories


def test_independent_noise_gives_at_most_one_false_alarm_in_a_hundred_runs(published: list[SimulatedHistory]) -> None:
    independent = [each.by["accepted level"].alarms for each in published if each.noise != "autocorrelated"]
    assert sum(each.of for each in independent) >= 10_000
    assert sum(each.count for each in independent) <= 0.01 * sum(each.of for each in independent)
    assert max(each.low for each in independent) <= 0.01


def test_a_lasting_step_stays_worse_where_the_band_forgets_it(published: list[SimulatedHistory]) -> None:
    [found] = [
        each
        for each in published
        if (each.happening, each.after, each.noise, each.scatter) == ("+30 %", 30, "normal", 0.03)
    ]
    assert found.by["accepted level"].words["worse"] >= 0.99 * found.runs
    assert found.by["band"].words.get("worse", 0) <= 0.05 * found.runs


def test_the_page_has_a_line_for_each_kind(published: list[SimulatedHistory]) -> None:
    page = (DOCS / "calibration.md").read_text()
    found = Calibration(environments=[], thresholds_digest="", cases=[], histories=published)
    section = markdown(found).partition("## Verdicts by history")[2]
    assert section
    assert page.endswith(section)


def test_the_usual_rule_forgets_a_step_and_the_rule_in_use_does_not() -> None:
    random = np.random.default_rng(1)
    past = (np.repeat([100.0, 130.0], 30) * np.exp(random.normal(0, 0.01, 60))).tolist()
    assert by_band(past, 130.0, COST, 50) == "same"
    assert by_accepted_level(past, 130.0, COST, 50) == "worse"


def test_each_kind_is_judged_at_each_look_by_both_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated_history, "SERVERS", 1)
    nothing = HAPPENINGS[0]
    found = list(simulated_history._simulate(nothing, "normal", 0.015, 2, np.random.default_rng(1)))
    assert [each.after for each in found] == list(nothing.looks)
    assert all(sum(rule.words.values()) == each.runs for each in found for rule in each.by.values())
    assert {tuple(each.by) for each in found} == {("band", "accepted level")}
