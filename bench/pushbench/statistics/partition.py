"""Divides a series into parts of one level each: optimal partitioning (PELT, Killick, Fearnhead and Eckley, JASA 107,
2012), by the compiled search of `ruptures`. Pure.

The search is loaded without its package, because the package imports most of scipy. The search does not need scipy, and
the import takes longer than the whole site. `ruptures.KernelCPD(kernel="linear")` gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
_Search = Callable[[Values, float, int], Any]
"""takes a signal of shape (n, 1), a penalty and a least length; gives the beginning of the last part for each end"""

CLEARLY = 0.99
"""times the penalty, so that rounding in the search or here decides nothing"""
_FOLDER, _MODULE = Path("detection", "_detection"), "ruptures.detection._detection.ekcpd"


def partition(values: Values, penalty: float, shortest: int) -> list[int]:
    """The borders that minimise the sum of squared deviations within the parts, plus `penalty` for each part. The
    series must be long enough for two parts of `shortest` values.
    """
    if _is_one(values, penalty, shortest):
        return []
    begins = _search()(values.reshape(-1, 1), penalty, shortest)
    borders, end = [], int(begins[-1])
    while end > 0:
        borders.append(end)
        end = int(begins[end])
    return borders[::-1]


def _is_one(values: Values, penalty: float, shortest: int) -> bool:
    """Whether clearly no border is worth its penalty. This is true of most series, and takes a tenth of the time.

    Parts save their `sum² / length` of the squared deviations from the common mean. If the best first and the best last
    part save less than a penalty together, and no part between them saves more than one, then any k borders save less
    than k penalties.
    """
    count, limit = len(values), CLEARLY * penalty
    sums = np.concatenate([[0.0], np.cumsum(values - values.mean())])
    ends = np.arange(shortest, count - shortest + 1)
    squares = sums[ends] ** 2
    if (squares / ends).max() + (squares / (count - ends)).max() > limit:
        return False
    longest = max(shortest, int(np.ptp(sums) ** 2 / limit) + 1)  # longer parts cannot save so much
    if longest > count // 4:
        return False
    parts = np.lib.stride_tricks.sliding_window_view(np.pad(sums, (0, longest), mode="edge"), longest + 1)
    saved = (parts[:, shortest:] - parts[:, :1]) ** 2
    return bool((saved.max(axis=0) <= limit * np.arange(shortest, longest + 1)).all())


@cache
def _search() -> _Search:
    package = find_spec("ruptures")
    folders = package.submodule_search_locations if package else None
    found = PathFinder.find_spec(_MODULE, [str(Path(each) / _FOLDER) for each in folders or ()])
    if not found or not found.loader:
        raise ImportError(f"{_MODULE} is missing: it comes with the locked version of ruptures")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    search: _Search = module.ekcpd_pelt_L2
    return search
