"""Evidence that later values of a series are shifted against earlier ones, whatever their level and noise. Pure.

The likelihood ratio of `statistics.evidence` for two samples: the common place of the values is integrated out, too, by
its uniform measure. Location and scale form a group, so the ratio is a fair bet whatever both are (Pérez-Ortiz, Lardy,
de Heide and Grünwald, Annals of Statistics 52, 2024): without a shift, it exceeds x with a probability of at most
1 / x. The noise is Student's here, too, so one disturbed run is not enough evidence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushbench.statistics.evidence import FREEDOM, Evidence, log_sum
from pushbench.statistics.middle import middle

Values = NDArray[np.float64]

SCALE_RATIO = 1.5
"""between neighbouring scales of the noise: half of what 20 values leave open"""
EFFECTS: Values = 0.5 * 1.5 ** np.arange(20, dtype=float)
"""in multiples of the noise: all effects that one bets on, with equal stakes"""
PLACES: Values = np.arange(-4.0, 4.01, 0.4)
"""of the common level, in multiples of the noise from the median of the earlier values"""


def shifted(before: Values, after: Values, value: float, least_scale: float) -> Evidence:
    """The evidence that `after` is above `before` by more than `value`, and by less. `least_scale` is the lower bound
    of the noise, above 0.
    """
    centre = middle(before)
    grid = _Grid.of((before - centre) / least_scale, (after - value - centre) / least_scale)
    none = float(log_sum(grid.logs(np.zeros(1)).ravel()))
    stake = none + float(np.log(len(EFFECTS)))
    return Evidence(*(float(log_sum(grid.logs(side).ravel())) - stake for side in (EFFECTS, -EFFECTS)))


class _Grid(NamedTuple):
    """Values in multiples of the least noise, and the logarithms of their likelihood by scale and place."""

    after: Values
    scales: Values
    before: Values

    @classmethod
    def of(cls, before: Values, after: Values) -> _Grid:
        largest = max(1.0, float(np.abs(before).max()), float(np.abs(after).max()))
        scales: Values = SCALE_RATIO ** np.arange(2 + int(np.log(2 * largest) / np.log(SCALE_RATIO)), dtype=float)
        # A step of the place is as long as the noise, hence one scale less.
        units = (len(before) + len(after) - 1) * np.log(scales)
        return cls(after, scales, _logs(before[:, None, None] / scales[:, None] - PLACES) - units[:, None])

    def logs(self, effects: Values) -> Values:
        """With the later values shifted by each of the `effects`, by scale, place and effect."""
        off = self.after[:, None, None, None] / self.scales[:, None, None] - PLACES[:, None] - effects
        return self.before[:, :, None] + _logs(off)


def _logs(off: Values) -> Values:
    """Logarithms of the likelihood of values that are so many times the noise off, added up along the first axis."""
    added: Values = -(FREEDOM + 1) / 2 * np.log1p(off * off / FREEDOM).sum(axis=0)
    return added
