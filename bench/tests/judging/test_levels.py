"""A run is judged against the accepted level: a proven result has a word, everything else is unknown."""

from __future__ import annotations

import numpy as np
import pytest

from pushbench.judging.levels import ACCEPTED_RUNS, standing
from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better, Metric, Unit

ROWS = 50
MARGIN = 0.05


def regression(better: Better = Better.LOWER, floor: float = 0.0) -> Regression:
    return Regression(Metric("cost", "cost", Unit.SECONDS), MARGIN, floor, better)


def runs(*levels: float, noise: float = 0.01, seed: int = 1) -> list[float]:
    random = np.random.default_rng(seed)
    return [level * float(np.exp(random.normal(0, noise))) for level in levels]


@pytest.mark.parametrize(
    ("value", "better", "found", "suspected"),
    [
        (101, Better.LOWER, "same", None),
        (104.5, Better.LOWER, "unknown", None),  # below the margin, and a change as large as the margin is not excluded
        (112, Better.LOWER, "unknown", "worse"),  # one run is not enough
        (88, Better.LOWER, "unknown", "better"),
        (112, Better.HIGHER, "unknown", "better"),
        (88, Better.HIGHER, "unknown", "worse"),
        (1000, Better.LOWER, "unknown", "worse"),
        (None, Better.LOWER, "unknown", None),
    ],
)
def test_a_single_run(value: float | None, better: Better, found: str, suspected: str | None) -> None:
    seen = standing(runs(*[100] * 30), value, regression(better), ROWS)
    assert (seen.word, seen.suspected) == (found, suspected)


@pytest.mark.slow
def test_the_same_change_again_is_worse_for_ever() -> None:
    past = runs(*[100] * 30, *[112] * 60)
    words = [standing(past[:count], past[count], regression(), ROWS).word for count in range(30, 90)]
    assert words[0] == "unknown"
    assert set(words[3:]) == {"worse"}


def test_what_went_away_is_worse_no_more() -> None:
    past = runs(*[100] * 30, *[130] * 10, 100, 100)
    assert standing(past[:39], past[39], regression(), ROWS).word == "worse"
    assert standing(past[:41], past[41], regression(), ROWS).word == "same"


def test_creep_is_held_against_the_first_runs() -> None:
    past = runs(*(100 * 1.002**number for number in range(120)))
    assert standing(past[:-1], past[-1], regression(), ROWS).word == "worse"


def test_the_level_begins_where_it_was_accepted() -> None:
    past = runs(*[100] * 30, *[112] * 20)
    assert standing(past, 112, regression(), ROWS, begin=30).word == "same"
    assert standing(past[:33], 112, regression(), ROWS, begin=30).accepted is None


def test_a_lasting_improvement_is_the_accepted_level_and_a_passing_one_is_not() -> None:
    past = runs(*[100] * 30, *[80] * 30, 97, 97, 97)
    found = standing(past, 97, regression(), ROWS)
    assert found.word == "worse"
    assert found.accepted
    assert found.accepted.level == pytest.approx(80, rel=0.02)
    assert standing(runs(*[100] * 30, *[80] * 10, *[100] * 20), 100, regression(), ROWS).word == "same"


@pytest.mark.parametrize("value", [95, 100, 105])
def test_a_band_wider_than_the_margin_never_says_same(value: float) -> None:
    assert standing(runs(*[100] * 40, noise=0.03), value, regression(), ROWS).word == "unknown"


def test_a_step_in_a_young_history_is_not_taken_for_its_level() -> None:
    past = runs(*[100] * 6, *[130] * 8)
    for count in range(9, len(past)):
        found = standing(past[:count], past[count], regression(), ROWS)
        assert found.word == "worse"
        assert found.accepted
        assert found.accepted.level == pytest.approx(100, rel=0.03)


def test_a_disturbed_run_is_neither_the_level_nor_a_regression() -> None:
    past = runs(*[100] * 10, 180, *[100] * 20)
    assert standing(past, 100, regression(), ROWS).word == "same"
    assert standing(runs(*[100] * 30), 160, regression(), ROWS).word == "unknown"


def test_a_level_of_nothing_has_an_absolute_margin() -> None:
    nothing = [0.0] * ACCEPTED_RUNS
    assert standing(nothing, 0.0, regression(), ROWS).word == "same"
    assert standing(nothing, 0.0005, regression(floor=0.001), ROWS).word == "same"
    assert standing([*nothing, 0.005], 0.005, regression(floor=0.001), ROWS).word == "worse"


def test_more_rows_need_more_evidence() -> None:
    past = [*runs(*[100] * 30), 112.0]
    assert standing(past, 112, regression(), 4).word == "worse"
    assert standing(past, 112, regression(), 100_000).word == "unknown"


def test_a_step_that_may_be_gone_is_not_worse() -> None:
    past = runs(*[100] * 30, *[130] * 10, noise=0.02)
    assert standing(past, 130, regression(), ROWS).word == "worse"
    assert standing(past, 104, regression(), ROWS).word == "unknown"


def test_lucky_runs_of_a_noisy_history_are_no_improvement() -> None:
    past = [*runs(*[100] * 20, noise=0.1), *runs(*[93] * 20, noise=0.1, seed=2), *runs(*[100] * 5, noise=0.1)]
    found = standing(past, 100, regression(), ROWS).accepted
    assert found
    assert (found.begin, found.end) == (0, ACCEPTED_RUNS)
