"""Evidence that the centre of paired differences lies above or below a value, valid after any number of them. Pure.

An e-value is what a bet at fair odds has earned: if the claim is false, it reaches 1 / alpha with a probability of at
most alpha, however often one looks (Ville, 1939; Ramdas, Grünwald, Vovk and Shafer, Statistical Science 38, 2023). So
the size of an effect counts, and not only its sign: an effect of many times the noise is clear after few differences.

The bet is a likelihood ratio of centres. The scale of the noise is not known: it is integrated out by its invariant
measure, as in the sequential t-test (Lai, Annals of Statistics 4, 1976; Pérez-Ortiz, Lardy, de
Heide and Grünwald, Annals of Statistics 52, 2024). The noise is Student's with few degrees of freedom, so that single
disturbed rounds neither decide nor hide what the others show (Lange, Little and Taylor, JASA 84, 1989). The scale has
a least value, because the first few differences can be alike by chance: less noise than that makes evidence weaker.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Differences = NDArray[np.float64]

FREEDOM = 3.0
"""degrees of Student's distribution: heavier tails than those of rounds on a shared machine"""
SCALE_RATIO = 1.25
"""between neighbouring scales of the noise"""
SMALLEST_EFFECT, LARGEST_EFFECT, EFFECT_RATIO = 0.4, 64.0, 1.35
"""as multiples of the noise: all effects that one bets on, with equal stakes"""
SEARCH_STEPS = 12
"""halvings: an interval's end is exact to less than a thousandth of its distance"""
FARTHEST = 2.0**20
"""least scales from the centre: an interval that reaches further is infinite"""
AT_ONCE = 8
"""likelihoods that are multiplied before a logarithm is taken, which costs most of the time; their product is finite
for all possible differences (1e38 for each)"""

_EFFECTS = SMALLEST_EFFECT * EFFECT_RATIO ** np.arange(
    1 + int(np.log(LARGEST_EFFECT / SMALLEST_EFFECT) / np.log(EFFECT_RATIO))
)
_BOTH_SIDES = np.concatenate([[0.0], _EFFECTS, -_EFFECTS])
_ONE_SIDE = np.concatenate([[0.0], _EFFECTS])


class Evidence(NamedTuple):
    """Natural logarithms of the e-values of two claims: that the centre is above a value, and that it is below."""

    above: float
    below: float


def evidence(differences: Differences, value: float, least_scale: float) -> Evidence:
    """The evidence about `value`. `least_scale` is the lower bound of the noise, above 0."""
    if not len(differences):
        return Evidence(0.0, 0.0)
    away = (differences - value) / least_scale
    marginal = _marginal(away, _BOTH_SIDES)
    above, below = np.split(marginal[1:], 2)
    return Evidence(_log_ratio(above, marginal[0]), _log_ratio(below, marginal[0]))


def _marginal(away: Differences, effects: Differences) -> Differences:
    """The logarithm of each effect's likelihood, the scale of the noise integrated out; `away` is in least scales."""
    largest = max(1.0, float(np.abs(away).max()))
    scales = SCALE_RATIO ** np.arange(2 + int(np.log(2 * largest) / np.log(SCALE_RATIO)))
    off = away[:, None, None] / (scales * FREEDOM**0.5) - effects[:, None] / FREEDOM**0.5
    off *= off
    off += 1
    products = np.multiply.reduceat(off, np.arange(0, len(away), AT_ONCE), axis=0)
    densities = -(FREEDOM + 1) / 2 * np.log(products).sum(axis=0) - len(away) * np.log(scales)
    return log_sum(densities)


def _log_ratio(side: Differences, none: float) -> float:
    """The logarithm of the winnings of bets on all effects of a side."""
    return float(log_sum(side) - np.log(len(side)) - none)


def interval(differences: Differences, alpha: float, centre: float, least_scale: float) -> tuple[float, float]:
    """The values around `centre` that no evidence excludes at `alpha` on either side; infinite with too little of it.

    All such intervals of a sequence of differences together hold the true centre with a probability of 1 - 2 alpha.
    """
    if not len(differences):
        return -np.inf, np.inf
    needed = -np.log(alpha)

    def end(sign: float) -> float:
        effects = -sign * _ONE_SIDE

        def excluded(distance: float) -> bool:
            away = (differences - centre - sign * distance) / least_scale
            marginal = _marginal(away, effects)
            return bool(_log_ratio(marginal[1:], marginal[0]) >= needed)

        outside = least_scale
        while not excluded(outside):
            outside *= 2
            if outside > FARTHEST * least_scale:
                return float(sign * np.inf)
        inside = 0.0 if outside == least_scale else outside / 2
        for _ in range(SEARCH_STEPS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if excluded(middle) else (middle, outside)
        return centre + sign * outside

    return end(-1.0), end(1.0)


def log_sum(logs: Differences) -> Differences:
    """The logarithm of the sum along the last axis."""
    peak = logs.max(axis=-1, keepdims=True)
    summed: Differences = np.squeeze(peak, -1) + np.log(np.exp(logs - peak).sum(axis=-1))
    return summed
