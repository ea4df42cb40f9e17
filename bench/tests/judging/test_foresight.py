"""Predictions for more rounds: the visible effect, the rounds that are left, and too little time are all correct."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from pushbench.judging.comparison import Contrast
from pushbench.judging.foresight import (
    MOST_NEEDED,
    USUAL_ROWS,
    Allowed,
    rounds_needed,
    rounds_of_noise,
    rounds_to_decide,
    too_short,
    visible,
)
from pushbench.judging.sequential import ENOUGH_ROUNDS, claim
from pushbench.judging.thresholds import Regression, SuiteThresholds, Thresholds
from pushbench.metrics.definitions import Better
from tests.factories import METRICS

MARGIN = float(np.log1p(0.05))
ROWS = 8


def seen(noise: float, *, count: int = 20, effect: float = 0.0, seed: int = 1) -> Contrast:
    return Contrast("ratio", np.random.default_rng(seed).normal(effect, noise, count), MARGIN, 0.0)


def test_less_is_visible_where_there_is_more_noise_or_fewer_rounds() -> None:
    quiet, loud, short = (visible(seen(noise), ROWS, rounds) for noise, rounds in ((0.02, 40), (0.1, 40), (0.1, 20)))
    assert quiet
    assert loud
    assert short
    assert MARGIN < quiet < 0.07 < loud < short


def test_noise_that_hides_everything_and_too_few_rounds_have_no_visible_change() -> None:
    assert visible(seen(0.02, count=3), ROWS, 40) is None
    assert visible(seen(1e4, count=20), ROWS, 20) is None


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.02, 0.05, 0.10])
def test_nine_of_ten_comparisons_call_what_is_visible(noise: float) -> None:
    """Comparisons of equally noisy rounds with a known truth; 200 of them have a standard error of 2 %."""
    found = [visible(seen(noise, count=40, seed=seed), ROWS, 40) for seed in range(20)]
    effect = float(np.median([each for each in found if each]))
    called = [claim(seen(noise, count=40, effect=effect, seed=100 + seed), ROWS).word == "worse" for seed in range(200)]
    assert 0.84 <= np.mean(called) <= 0.97


def test_the_rounds_that_would_decide_do() -> None:
    undecided = seen(0.12, count=8, effect=0.15)
    assert claim(undecided, ROWS).word == "unknown"
    rounds = rounds_to_decide(undecided, ROWS)
    assert rounds
    assert rounds > 8
    assert claim(seen(0.12, count=2 * rounds, effect=0.15, seed=2), ROWS).word == "worse"


def test_what_no_rounds_would_decide_is_not_promised() -> None:
    assert rounds_to_decide(seen(0.5, count=4), ROWS) is None
    assert rounds_to_decide(seen(0.02, count=2), ROWS) is None


ALONE = {"go": 13.0}
SEVEN = {f"s{number}": 13.0 for number in range(7)}


@pytest.mark.parametrize(("rounds", "begins"), [(1, "1 round can hardly"), (7, "7 rounds can hardly"), (9, "9 rounds")])
def test_too_little_time_is_said_with_the_time_that_would_do(rounds: int, begins: str) -> None:
    sentence = too_short(ALONE, Allowed(13.0 * rounds), {"go": ENOUGH_ROUNDS})
    assert sentence.startswith(begins)
    assert sentence.endswith("give --max-time 4m or more, which is for each server")
    assert too_short(ALONE, Allowed(13.0 * ENOUGH_ROUNDS), {"go": ENOUGH_ROUNDS}) == ""


def test_the_time_of_all_servers_is_told_from_that_of_each() -> None:
    needed = dict.fromkeys(SEVEN, ENOUGH_ROUNDS)
    sentence = too_short(SEVEN, Allowed(600.0, 600.0), needed)
    assert sentence == (
        "6 rounds can hardly decide anything: give --total-time 23m or more, which is for all servers together"
    )
    assert too_short(SEVEN, Allowed(600.0, 23 * 60.0), needed) == ""
    both = too_short(SEVEN, Allowed(60.0, 60.0), needed)
    assert "give --max-time 4m or more, which is for each server, and --total-time 23m or more" in both


def test_what_it_says_would_do_does() -> None:
    needed = {name: 10 * number + 14 for number, name in enumerate(SEVEN)}
    for allowed in (Allowed(100.0), Allowed(1e6, 500.0), Allowed(1e6, 1e6, 9), Allowed(60.0, 60.0, 4)):
        sentence = too_short(SEVEN, allowed, needed)
        given = {
            option: int(value) for option, value in re.findall(r"--(max-time|total-time|max-rounds) (\d+)", sentence)
        }
        enough = Allowed(
            60.0 * given["max-time"] if "max-time" in given else allowed.seconds,
            60.0 * given["total-time"] if "total-time" in given else allowed.all_seconds,
            given.get("max-rounds", allowed.rounds),
        )
        assert given
        assert too_short(SEVEN, enough, needed) == ""


def test_a_noisy_server_needs_more_rounds_and_is_named() -> None:
    quiet = Regression(METRICS["cpu_seconds_per_delivery"], 0.05, 0.0, Better.LOWER, noise=0.02)
    noisy = replace(quiet, noise=0.08)
    own = {"jvm": (noisy,), "go": (quiet,)}
    thresholds = Thresholds("", {"whiteboard": SuiteThresholds(own_regressions=own)})
    needed = rounds_needed(thresholds, "whiteboard", ["go", "jvm", "other"])
    assert needed["go"] == needed["other"] == ENOUGH_ROUNDS < needed["jvm"] < 100
    sentence = too_short({"go": 13.0, "jvm": 13.0}, Allowed(13.0 * 20), needed)
    assert sentence.startswith(
        "20 rounds may be too few where the noise is as thresholds.yml says (jvm): give --max-time "
    )


@pytest.mark.slow
def test_rounds_of_noise_decide_such_noise() -> None:
    """With the noise that a margin states, 19 of 20 comparisons are decided after the rounds that it needs."""
    line = Regression(METRICS["cpu_seconds_per_delivery"], 0.05, 0.0, Better.LOWER, bias=0.01, noise=0.04)
    rounds = rounds_of_noise(line)
    random = np.random.default_rng(5)

    def word(shift: float) -> str:
        return claim(Contrast("ratio", random.normal(shift, 0.04, rounds), MARGIN, 0.0, 0.01), USUAL_ROWS).word

    assert sum(word(0.0) == "same" for _ in range(200)) >= 182
    assert sum(word(2 * MARGIN) == "worse" for _ in range(200)) >= 182
    assert rounds_of_noise(replace(line, noise=0.08)) > rounds
    assert rounds_of_noise(replace(line, noise=2.0)) == MOST_NEEDED
