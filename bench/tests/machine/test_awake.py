"""Idle CPUs stay awake during a measurement if the user has the permission, and no longer."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.machine.awake import DEVICE, SWITCH, awake, may_stay_awake


@pytest.fixture
def device(tmp_path: Path) -> Path:
    file = tmp_path / "cpu_dma_latency"
    file.touch()
    return file


def test_no_time_to_wake_up_is_asked_for(device: Path) -> None:
    with awake(device):
        assert device.read_bytes() == struct.pack("i", 0)


def test_the_switch_lets_cpus_halt(device: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert not may_stay_awake(device)
    with awake(device):
        assert device.read_bytes() == b""


def test_a_machine_without_the_device_measures_as_it_is(tmp_path: Path) -> None:
    with awake(tmp_path / "missing"):
        assert not may_stay_awake(tmp_path / "missing")


def test_a_device_that_refuses_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be kept awake: Is a directory") as refused, awake(tmp_path):
        pass
    assert refused.value.hint == f"set {SWITCH}=0"


@pytest.mark.skipif(not may_stay_awake(), reason=f"needs a user who may write {DEVICE}")
def test_the_kernel_holds_it_as_long_as_it_is_asked_for() -> None:
    with awake():
        assert _latency() == 0


def _latency() -> int:
    """The microseconds that a CPU may take to wake up, by the requests of all processes."""
    opened = os.open(DEVICE, os.O_RDONLY)
    try:
        return int(struct.unpack("i", os.read(opened, 4))[0])
    finally:
        os.close(opened)
