"""The effect of the head on one metric, from its pairs: estimate and confidence. Pure.

A positive effect is a change for the worse. `sequential` makes the decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pushbench.judging.thresholds import Regression
from pushbench.metrics.definitions import Better
from pushbench.statistics import signed_ranks
from pushbench.statistics.evidence import interval
from pushbench.statistics.signed_ranks import Differences

Scale = Literal["ratio", "difference"]

FEWEST_PAIRS = 4
"""rounds: fewer say little about the noise"""
LEAST_NOISE = 0.2
"""as a share of the margin"""
TINY = 1e-12
"""instead of 0 if both the values and the margin are 0"""
CONTROL_ALPHA = 0.1
"""two-sided: the level at which the arms differ in the control, which then does not represent the machine"""


@dataclass(frozen=True)
class Pair:
    """One round: the metric and the control in both arms. No arm should change the control."""

    round: int
    base: float
    head: float
    base_control: float | None = None
    head_control: float | None = None


@dataclass(frozen=True)
class Contrast:
    """The differences of one metric, oriented: positive is worse."""

    scale: Scale
    differences: Differences
    """one per pair: natural logarithms of head / base on the scale ratio, otherwise head - base in base units"""
    margin: float
    """the size from which a difference counts, on the same scale"""
    controlled: float
    """how much of the control's change was removed: 0 none, 1 all"""
    bias: float = 0.0
    """the cost of a meaningless change, on the same scale"""

    @property
    def least_noise(self) -> float:
        """The lower bound of the noise. The first few rounds can be alike by chance, or by one disturbance."""
        return max(LEAST_NOISE * self.margin, TINY)


@dataclass(frozen=True)
class Effect:
    """On the scale of its contrast; see `as_share` for people."""

    estimate: float
    low: float
    high: float


def contrast(pairs: Sequence[Pair], regression: Regression) -> Contrast:
    """Ratios if every value is above 0, otherwise differences: a loss of 0 has no ratio.

    The margin does not depend on which arm is called the base. On the ratio scale, the change h - b of two values
    around their geometric mean m is 2 m sinh(d / 2), for d = log(h / b). Solving that for d gives the margin of the
    floor.
    """
    base, head = np.array([pair.base for pair in pairs]), np.array([pair.head for pair in pairs])
    sign = 1.0 if regression.better is Better.LOWER else -1.0
    if not pairs:
        return Contrast("difference", base, regression.floor, 0.0)
    if min(base.min(), head.min()) > 0:
        level = np.sqrt(np.median(base) * np.median(head))
        floor = min(2 * np.arcsinh(regression.floor / level / 2), np.log1p(regression.ceiling))
        margin = max(np.log1p(regression.margin), floor)
        raw = np.log(head / base)
        control, share = _control(pairs, raw)
        bias = float(np.log1p(regression.bias))
        return Contrast("ratio", sign * (raw - share * control), float(margin), share, bias)
    level = (np.median(base) + np.median(head)) / 2
    margin, bias = float(max(regression.margin * level, regression.floor)), float(regression.bias * level)
    return Contrast("difference", sign * (head - base), margin, 0.0, bias)


def effect(seen: Contrast, alpha: float) -> Effect:
    """The interval holds at any number of rounds, and is infinite with too few; `alpha` applies to each side."""
    estimate = signed_ranks.centre(seen.differences)
    if len(seen.differences) < FEWEST_PAIRS:
        return Effect(estimate, -np.inf, np.inf)
    return Effect(estimate, *interval(seen.differences, alpha, estimate, seen.least_noise))


def as_share(scale: Scale, value: float) -> float:
    """An effect, or a bound of it, as a share: 0.05 for 5 % more on the scale ratio; a difference stays as it is."""
    return float(np.expm1(value)) if scale == "ratio" else value


def _control(pairs: Sequence[Pair], differences: Differences) -> tuple[Differences, float]:
    """Log ratios of the control, and the share of them that the differences follow, between 0 and 1.

    An ordinary least-squares slope whose intercept is the effect. If the arms differ in the control, the head changed
    the control's work, and removing that would be wrong.
    """
    nothing = np.zeros(len(pairs)), 0.0
    controls = [(pair.base_control, pair.head_control) for pair in pairs]
    if len(pairs) < 3 or not all(base and head for base, head in controls):
        return nothing
    control = np.log([head / base for base, head in controls if base and head])
    if min(signed_ranks.p_greater(control), signed_ranks.p_less(control)) < CONTROL_ALPHA / 2 or control.std() == 0:
        return nothing
    slope = np.cov(differences, control)[0, 1] / control.var(ddof=1)
    return control, float(np.clip(slope, 0.0, 1.0))
