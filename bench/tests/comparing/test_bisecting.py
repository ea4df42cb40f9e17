"""A bisection finds the commit despite wrong comparisons, in about log2(commits) steps, and reports its certainty."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from math import log2

import pytest

from pushbench.comparing.bisecting import CONFIDENCE, FALSE_ALARM, MISSED, MOST_TESTS, Search, Seen, Word

Answer = Callable[[int], Seen]


def play(search: Search, answer: Answer) -> Search:
    """Answer until the search needs no further comparison."""
    while (place := search.next()) is not None:
        search = replace(search, seen=[*search.seen, answer(place)])
    return search


def truth(first_bad: int) -> Answer:
    return lambda place: Seen(place, "worse" if place >= first_bad else "same")


def noisy(first_bad: int, chance: random.Random, *, undecided: float = 0.0, error: float = 0.05) -> Answer:
    """Answers that are wrong as often as the search assumes; a share of them is undecided, with an estimate."""

    def answer(place: int) -> Seen:
        bad = place >= first_bad
        if chance.random() < undecided:
            change = (0.15 if bad else 0.0) + chance.gauss(0.0, error)
            return Seen(place, "unknown", change, change - 1.96 * error, change + 1.96 * error)
        wrong = chance.random() < (MISSED if bad else FALSE_ALARM)
        word: Word = "worse" if bad is not wrong else "same"
        return Seen(place, word)

    return answer


@pytest.mark.parametrize("candidates", [2, 3, 7, 40, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_commit_is_found_in_about_log2_steps_where_answers_are_right(candidates: int) -> None:
    for first_bad in range(0, candidates, max(1, candidates // 40)):
        found = play(Search(candidates, 0.15), truth(first_bad))
        assert found.culprits() == [first_bad]
        assert found.is_sure()
        assert len(found.seen) <= log2(candidates) + 3


def test_a_single_commit_needs_no_comparison() -> None:
    assert Search(1, 0.15).next() is None
    assert Search(1, 0.15).culprits() == [0]


@pytest.mark.slow
@pytest.mark.parametrize(("undecided", "most_steps"), [(0.0, 9.0), (0.3, 11.0)])
def test_it_is_right_as_often_as_it_says_although_answers_err(undecided: float, most_steps: float) -> None:
    chance = random.Random(5)
    right = steps = claimed = sure = 0.0
    runs = 400
    for _ in range(runs):
        first_bad = chance.randrange(40)
        found = play(Search(40, 0.15), noisy(first_bad, chance, undecided=undecided))
        steps += len(found.seen)
        if found.is_sure():
            sure += 1
            right += found.culprits() == [first_bad]
            claimed += found.confidence()
    assert sure > 0.95 * runs
    assert right / sure > CONFIDENCE
    assert abs(right / sure - claimed / sure) < 0.04
    assert steps / runs < most_steps


def test_one_wrong_answer_is_made_good_by_later_ones() -> None:
    first_bad = 30
    lied: list[int] = []

    def answer(place: int) -> Seen:
        if not lied:
            lied.append(place)
            return Seen(place, "worse" if place < first_bad else "same")
        return truth(first_bad)(place)

    assert play(Search(40, 0.15), answer).culprits() == [first_bad]


def test_skipped_commits_are_never_asked_and_belong_to_the_next_that_is_not() -> None:
    search = Search(10, 0.15, skipped=frozenset({4, 5}))
    found = play(search, truth(5))
    assert {each.place for each in found.seen}.isdisjoint({4, 5})
    assert found.culprits() == [4, 5, 6]


def test_answers_that_say_nothing_end_the_search_undecided() -> None:
    found = play(Search(8, 0.15), lambda place: Seen(place, "unknown"))
    assert not found.is_sure()
    assert len(found.seen) == 7 * MOST_TESTS


def test_an_estimate_near_the_effect_speaks_for_bad_and_one_near_nothing_against() -> None:
    for change, bad in ((0.14, True), (0.01, False)):
        odds = Search(2, 0.15, [Seen(0, "unknown", change, change - 0.08, change + 0.08)]).odds()
        assert (odds[0] > 0.7) is bad
    assert Search(2, 0.15, [Seen(0, "unknown", 0.075, -0.1, 0.25)]).odds()[0] == pytest.approx(0.5, abs=0.05)


def test_the_steps_left_shrink_to_nothing() -> None:
    search, left = Search(40, 0.15), []
    while (place := search.next()) is not None:
        left.append(search.steps_left())
        search = replace(search, seen=[*search.seen, truth(13)(place)])
    assert abs(left[0] - len(left)) <= 1
    assert left[-1] == 1
    assert search.steps_left() == 0
