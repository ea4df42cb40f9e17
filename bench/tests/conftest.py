from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pushbench import sampling
from pushbench.machine import Machine, read_machine


@pytest.fixture(autouse=True)
def undisturbed_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run does must not depend on what the hypervisor does to the machine on which the tests happen to run.
    Measurements see it as it is."""
    if request.node.get_closest_marker("measurement"):
        return

    def calm(*arguments: Any) -> Machine:
        seen = read_machine(*arguments)
        return replace(seen, steal_seconds=0.0, throttled=0, swapped_bytes=0, clock_offset_seconds=0.0)

    monkeypatch.setattr(sampling, "read_machine", calm)
