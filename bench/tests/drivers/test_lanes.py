"""Concurrent servers: none has the CPUs, the logs or the number of workers of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.drivers.lanes import in_lane
from pushbench.drivers.process import ProcessDriver
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit


def driver(server: list[int], generator: list[int]) -> ProcessDriver:
    return ProcessDriver(Project.at(Path("/checkout")), CpuSplit(server, generator), workers=3)


def test_the_first_lane_is_the_driver_as_it_is() -> None:
    assert in_lane(driver([0], [1]), 0) == driver([0], [1])


def test_the_server_of_the_second_lane_has_other_cpus_and_other_logs() -> None:
    first, second = driver([0, 1], [2, 3]), in_lane(driver([0, 1], [2, 3]), 1)
    assert isinstance(second, ProcessDriver)
    assert (second.split, second.workers) == (CpuSplit([2, 3], [0, 1]), 3)
    assert second.logs != first.logs
    assert (
        len({str(lane.logs) for number in range(4) if isinstance(lane := in_lane(first, number), ProcessDriver)}) == 4
    )


@pytest.mark.parametrize("split", [CpuSplit([0], [1, 2]), CpuSplit([0], [0])])
def test_a_server_keeps_its_number_of_cpus(split: CpuSplit) -> None:
    assert in_lane(driver(split.server, split.generator), 1).split == split
