"""Wasted CPU added to one function of a real server is named first, under real load.

`make explain-truth` runs this test, in a minute for each server. It needs the server's toolchain and its profiler.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.cli.conclusion import thresholds_of
from pushbench.comparing.campaign import Budget
from pushbench.comparing.compare import CompareRequest, compare
from pushbench.comparing.explaining import explain
from pushbench.drivers.choice import DriverChoice
from pushbench.measuring.common import Options
from pushbench.reporting.report import render_explanation
from pushbench.watching.progress import Lines
from tests.comparing.truths import BURNS, Burn, burn, clone

HOW = Options(DriverChoice("process"), verify=False, wait=True)


@pytest.mark.measurement
@pytest.mark.parametrize("what", BURNS.values(), ids=BURNS.keys())
def test_the_function_that_burns_is_named_first(what: Burn, tmp_path: Path) -> None:
    project = clone(tmp_path / "checkout")
    burn(project, what)
    request = CompareRequest("whiteboard", "compare", "HEAD", servers=[what.server], budget=Budget(60.0, 1))
    record = compare(project, request, HOW, thresholds_of(project), Lines())
    found = explain(project, record, what.server, HOW, Lines())
    print(render_explanation(found, width=120))
    assert found.functions[0].title.startswith(what.function)
    assert found.functions[0].gained
