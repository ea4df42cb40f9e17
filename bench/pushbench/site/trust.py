"""How often the judge is right, in two numbers beside every ranking. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.calibration.error_rates import Calibration, Case
from pushbench.calibration.faults import NOTHING
from pushbench.site.layout import Data

SLOWER = "burn=10%"
"""the fault that stands for a regression: a tenth more CPU"""


def error_rates(calibration: Calibration | None) -> Data | None:
    """How many comparisons of equal builds, and of builds with a fault, were called worse."""
    if calibration is None:
        return None
    return {
        "equal": _called_worse([case for case in calibration.cases if case.injected == NOTHING]),
        "slower": _called_worse([case for case in calibration.cases if case.injected == SLOWER]),
    }


def _called_worse(cases: Sequence[Case]) -> Data:
    return {"count": sum(case.failed.count for case in cases), "of": sum(case.failed.of for case in cases)}
