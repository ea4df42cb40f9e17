"""How often the judge is right, in two numbers beside every ranking. Pure."""

from __future__ import annotations

from pushbench.calibration.error_rates import Calibration, of_real
from pushbench.calibration.faults import ALIKE
from pushbench.site.layout import Data

SLOWER = "burn=10%"
"""the fault that stands for a regression: a tenth more CPU"""


def error_rates(calibration: Calibration | None) -> Data | None:
    """How many real comparisons of equal builds, and of builds with a fault, were called worse; and the most that the
    former may be, at 95 %. Resampled ones are no further cases.
    """
    if calibration is None:
        return None
    equal, slower = of_real(calibration.cases, ALIKE), of_real(calibration.cases, [SLOWER])
    return {
        "equal": {"count": equal.count, "of": equal.of, "most": equal.high},
        "slower": {"count": slower.count, "of": slower.of},
    }
