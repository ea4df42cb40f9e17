"""Which subjects share a place: the trials decide if there are enough, otherwise the scatter of starts."""

from __future__ import annotations

from random import Random

import pytest

from pushbench.statistics.ties import Subject, alike, groups, is_beyond_noise


def names(*subjects: Subject) -> list[list[str]]:
    return [[each.name for each in group] for group in groups(subjects)]


def test_the_best_is_first_and_those_within_noise_of_it_beside_it() -> None:
    found = names(Subject("slow", [3.0]), Subject("near", [1.3]), Subject("best", [1.0]), Subject("far", [1.5]))
    assert found == [["best", "near"], ["far"], ["slow"]]


def test_a_group_is_what_is_within_noise_of_its_first_one() -> None:
    """c is within noise of b, but not of a: a place is relative to its first member, not a chain."""
    assert names(Subject("a", [1.0]), Subject("b", [1.3]), Subject("c", [1.6])) == [["a", "b"], ["c"]]


@pytest.mark.parametrize(("rounds", "ratio"), [(1, 1.39), (2, 1.26), (3, 1.21)])
def test_more_rounds_tell_more_apart(rounds: int, ratio: float) -> None:
    assert alike(rounds, rounds) == pytest.approx(ratio, abs=0.006)
    best = Subject("a", [1.0] * rounds)
    assert not is_beyond_noise(best, Subject("b", [ratio - 0.02] * rounds))
    assert is_beyond_noise(best, Subject("b", [ratio + 0.02] * rounds))


def test_few_rounds_that_overlap_are_within_noise_however_far_apart_the_medians_are() -> None:
    assert not is_beyond_noise(Subject("a", [1.0, 1.1, 5.0]), Subject("b", [4.0, 4.4, 4.5]))
    assert is_beyond_noise(Subject("a", [1.0, 1.1, 3.9]), Subject("b", [4.0, 4.4, 4.5]))


def test_from_four_rounds_on_the_trials_decide() -> None:
    near = [1.00, 1.01, 1.02, 1.03]
    assert is_beyond_noise(Subject("a", near), Subject("b", [1.05, 1.06, 1.07, 1.08]))
    assert not is_beyond_noise(Subject("a", near), Subject("b", [1.025, 1.06, 1.07, 3.0]))
    assert not is_beyond_noise(Subject("a", near), Subject("b", [1.05, 1.06, 1.07])), "three are not tested"


def test_what_the_generator_added_sets_nobody_apart() -> None:
    assert is_beyond_noise(Subject("a", [1.0]), Subject("b", [2.0], added=0.9))
    assert not is_beyond_noise(Subject("a", [1.0]), Subject("b", [2.0], added=1.0))


def test_equal_values_share_a_place_in_the_order_of_names() -> None:
    assert names(Subject("b", [0.0]), Subject("a", [0.0])) == [["a", "b"]]


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_the_same_code_is_rarely_told_apart(rounds: int) -> None:
    """With starts that vary by 12 %, at most one pair in fifteen gets two places."""
    random = Random(rounds)
    pairs = [
        [Subject(name, [random.lognormvariate(0, 0.12) for _ in range(rounds)]) for name in "ab"] for _ in range(600)
    ]
    assert sum(len(groups(pair)) > 1 for pair in pairs) / len(pairs) <= 1 / 15
