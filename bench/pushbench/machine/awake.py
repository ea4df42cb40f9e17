"""Keeps idle CPUs awake during a measurement.

An idle CPU halts. Work that arrives then waits until it is awake again, and in a virtual machine until the hypervisor
has a CPU for it: that wait is latency of the server, and steal.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from pushbench.foundation.errors import UserError

DEVICE = Path("/dev/cpu_dma_latency")
"""sets the longest time that a CPU of this machine may take to wake up: the least value in its open files counts;
https://docs.kernel.org/power/pm_qos_interface.html"""
NO_WAIT = struct.pack("i", 0)
SWITCH = "PUSHBENCH_AWAKE"
"""environment variable; 0: CPUs halt as they do without Pushbench"""


def may_stay_awake(device: Path = DEVICE) -> bool:
    """Whether this user may keep the CPUs awake, and PUSHBENCH_AWAKE does not forbid it."""
    return os.environ.get(SWITCH) != "0" and os.access(device, os.W_OK)


@contextlib.contextmanager
def awake(device: Path = DEVICE) -> Iterator[None]:
    """Let idle CPUs poll for work instead of halting, if this user may.

    The kernel drops the setting when the file is closed, so also when the process is killed. Raises UserError if the
    device is there and refuses.
    """
    if not may_stay_awake(device):
        yield
        return
    try:
        opened = os.open(device, os.O_WRONLY)
    except OSError as error:
        raise UserError(
            f"the CPUs cannot be kept awake: {error.strerror}", where=str(device), hint=f"set {SWITCH}=0"
        ) from None
    try:
        os.write(opened, NO_WAIT)
        yield
    finally:
        os.close(opened)
