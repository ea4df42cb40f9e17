"""Partitioning equals that of the library whose compiled part it uses, and does not load the rest of the library."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pushbench.statistics.partition import partition

WITHOUT_SCIPY = """
import sys
import pushbench.cli.conclusion, pushbench.site.building, pushbench.site.pages
from pushbench.statistics.trend import changes

assert len(changes([1.0, 1.01, 1.02] * 5 + [2.0, 2.01, 2.02] * 5)) == 1
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"scipy", "httpx", "rich"}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("height", [0.0, 0.4, 0.6, 1.0, 3.0])
def test_the_borders_are_those_of_the_library(height: float) -> None:
    """From noise, where no search is needed, through levels hardly worth their penalty, to obvious ones."""
    ruptures = importlib.import_module("ruptures")  # here, because it loads all of scipy
    found = 0
    for seed in range(100):
        random = np.random.default_rng([seed, int(height * 10)])
        levels = random.normal(0, height, int(random.integers(2, 9)))
        values = np.repeat(levels, random.integers(5, 60, len(levels)))
        values += random.normal(size=len(values))
        penalty = 3 * float(np.log(len(values)))
        search = ruptures.KernelCPD(kernel="linear", min_size=5).fit(values.reshape(-1, 1))
        borders = partition(values, penalty, 5)
        assert [*borders, len(values)] == search.predict(pen=penalty)
        found += len(borders)
    assert bool(found) == (height > 0)


@pytest.mark.slow
def test_a_site_is_made_without_loading_what_takes_longer_than_that() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SCIPY],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.split() == []
