"""How often the judge is right, as two numbers beside every ranking. Pure."""

from __future__ import annotations

from pushbench.calibration.error_rates import Calibration, of_real
from pushbench.calibration.faults import ALIKE
from pushbench.site.layout import Data

SLOWER = "burn=10%"
"""the fault that stands for a regression: a tenth more CPU"""


def error_rates(calibration: Calibration | None) -> Data | None:
    """The number of real comparisons that were called worse: of equal builds, and of builds with a fault; and the upper
    bound of the former at 95 %. Resampled comparisons are not counted.
    """
    if calibration is None:
        return None
    equal, slower = of_real(calibration.cases, ALIKE), of_real(calibration.cases, [SLOWER])
    return {
        "equal": {"count": equal.count, "of": equal.of, "most": equal.high},
        "slower": {"count": slower.count, "of": slower.of},
    }
