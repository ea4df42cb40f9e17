"""What more rounds would say: honest about what is visible, about the rounds to go, and about too little time."""

from __future__ import annotations

import numpy as np
import pytest

from pushbench.judging.comparison import Contrast
from pushbench.judging.foresight import rounds_to_decide, too_short, visible
from pushbench.judging.sequential import claim

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
    """Of rounds as noisy, where the truth is known; 200 of them have a standard error of 2 %."""
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


@pytest.mark.parametrize(("rounds", "begins"), [(1, "1 round can hardly"), (7, "7 rounds can hardly"), (9, "9 rounds")])
def test_too_little_time_is_said_with_the_time_that_would_do(rounds: int, begins: str) -> None:
    sentence = too_short(13.0, rounds)
    assert sentence.startswith(begins)
    assert "give --max-time 4m or more" in sentence
    assert too_short(13.0, 14) == ""
