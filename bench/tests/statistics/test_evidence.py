"""The evidence of a centre: fair under its null, whatever the scale, quick for large effects, and hard to fool."""

from __future__ import annotations

import numpy as np
import pytest

from pushbench.statistics.evidence import FREEDOM, evidence, interval

LEAST = 0.01


def test_it_is_the_ratio_of_integrated_likelihoods() -> None:
    """Compared with the integral over scale and effect, summed in loops."""
    seen = np.array([0.11, 0.08, 0.13, 0.09, 0.12])
    scales = LEAST * 1.25 ** np.arange(60)
    effects = 0.4 * 1.35 ** np.arange(17)

    def likelihood(effect: float) -> float:
        total = 0.0
        for scale in scales:
            off = seen / scale - effect
            total += float(np.prod((1 + off**2 / FREEDOM) ** (-(FREEDOM + 1) / 2) / scale))
        return total

    above = np.mean([likelihood(effect) for effect in effects]) / likelihood(0.0)
    below = np.mean([likelihood(-effect) for effect in effects]) / likelihood(0.0)
    found = evidence(seen, 0.0, LEAST)
    assert [found.above, found.below] == pytest.approx([np.log(above), np.log(below)], abs=0.02)


def test_nothing_and_one_difference_alone_say_next_to_nothing() -> None:
    assert evidence(np.array([]), 0.0, LEAST) == (0.0, 0.0)
    assert evidence(np.array([0.5]), 0.0, LEAST).above < 1.5


def test_sides_and_units_do_not_matter() -> None:
    seen = np.random.default_rng(1).normal(0.03, 0.02, 9)
    found, mirrored = evidence(seen, 0.0, LEAST), evidence(-seen, 0.0, LEAST)
    assert (found.above, found.below) == pytest.approx((mirrored.below, mirrored.above))
    assert evidence(1000 * seen, 0.0, 1000 * LEAST).above == pytest.approx(found.above)
    assert evidence(seen + 5, 5.0, LEAST).above == pytest.approx(found.above, abs=1e-6)


def test_a_large_effect_convinces_after_few_differences_and_a_small_one_takes_more() -> None:
    noise = np.random.default_rng(2).normal(0, 0.02, 40)

    def needed(effect: float) -> int:
        return next(
            count for count in range(1, 41) if evidence(noise[:count] + effect, 0.0, LEAST).above > np.log(1000)
        )

    assert needed(0.7) <= 5
    assert needed(0.7) < needed(0.1) < needed(0.03)


def test_alike_differences_are_not_believed_to_be_without_noise() -> None:
    alike = np.full(4, 0.01)
    assert evidence(alike, 0.0, 0.01).above < np.log(20) < evidence(alike, 0.0, 1e-5).above


def test_one_outlier_neither_convinces_nor_hides_what_the_others_show() -> None:
    quiet = np.random.default_rng(3).normal(0, 0.01, 10)
    assert evidence(np.append(quiet, 5.0), 0.0, LEAST).above < np.log(10)
    assert evidence(np.append(quiet + 0.1, -5.0), 0.0, LEAST).above > np.log(1000)


def test_the_evidence_of_many_large_differences_is_finite() -> None:
    """A product of all their likelihoods would not be."""
    found = evidence(np.full(40, 1e6) + np.arange(40), 0.0, LEAST)
    assert np.log(1000) < found.above < np.inf
    assert -np.inf < found.below < 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_the_evidence_of_nothing_is_rare_at_any_of_many_looks(kind: str) -> None:
    """At a level of 5 % over 20 looks in 1,000 sequences; the standard error is 0.7 %."""
    random = np.random.default_rng(4)
    draw = random.standard_t(FREEDOM, (1000, 20)) if kind == "heavy" else random.normal(0, 1, (1000, 20))
    fooled = sum(any(evidence(each[:count], 0.0, 0.05).above >= np.log(20) for count in range(2, 21)) for each in draw)
    assert fooled <= 65


def test_the_interval_ends_where_evidence_begins() -> None:
    seen = np.random.default_rng(5).normal(0.05, 0.02, 12)
    low, high = interval(seen, 0.025, float(np.median(seen)), LEAST)
    assert low < 0.05 < high
    assert evidence(seen, low, LEAST).above == pytest.approx(np.log(40), abs=0.05)
    assert evidence(seen, high, LEAST).below == pytest.approx(np.log(40), abs=0.05)


def test_too_few_differences_have_an_interval_without_ends() -> None:
    assert interval(np.array([0.1]), 0.025, 0.1, LEAST) == (-np.inf, np.inf)


@pytest.mark.slow
def test_intervals_of_a_sequence_cover_all_at_once() -> None:
    random = np.random.default_rng(6)
    missed = 0
    for each in random.standard_t(3, (200, 16)):
        ends = [interval(each[:count], 0.025, float(np.median(each[:count])), 0.05) for count in range(4, 17, 2)]
        missed += any(not low <= 0 <= high for low, high in ends)
    assert missed <= 14
