"""The faults that are injected to measure the judge have the specified size; a wrapper without a fault does nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake

from pushbench.building import toolchains
from pushbench.building.builds import build_faults
from pushbench.building.toolchains import Missing
from pushbench.calibration.faults import parse_fault
from pushbench.foundation.project import Project
from pushbench.machine.ports import free_port
from pushbench.machine.procfs import stats
from pushbench.machine.resources import Tree

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timed,
    pytest.mark.skipif(isinstance(toolchains.find("go", ">=1"), Missing), reason="needs Go"),
]

BUSY = "while True: sum(range(1000))"
LIGHT = """\
import time
while True:
    begun = time.process_time()
    while time.process_time() - begun < 0.001: pass
    time.sleep(0.02)
"""
"""5 % of a core, as node-ws at 5,000 deliveries/s"""
EXITS = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\ntime.sleep(60)"
ECHO = """\
import asyncio, os
from websockets.asyncio.server import serve
async def echo(client):
    async for message in client: await client.send(message)
async def main():
    async with serve(echo, "127.0.0.1", int(os.environ["PORT"])): await asyncio.Future()
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def binary() -> Path:
    return build_faults(Project.current())


@contextmanager
def wrapped(
    binary: Path, fault: str, program: str, *, active: bool = True
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    command = [*parse_fault(fault).wrapper(binary, active=active), sys.executable, "-c", program]
    with subprocess.Popen(command, env={**os.environ, "PORT": str(port)}) as process:
        try:
            yield process, port
        finally:
            process.terminate()


def cpu_seconds(pid: int) -> float:
    """The CPU seconds of a process and its descendants."""
    usage = Tree(pid).usage()
    assert usage
    return usage.cpu_seconds


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("percent", "program", "seconds"), [pytest.param(30, BUSY, 2, id="busy"), pytest.param(10, LIGHT, 4, id="light")]
)
def test_a_burn_uses_the_share_of_the_servers_cpu_that_it_says(
    binary: Path, percent: int, program: str, seconds: float
) -> None:
    share = {}
    for active in (True, False):
        with wrapped(binary, f"burn={percent}%", program, active=active) as (process, _):
            time.sleep(0.5)
            [server] = [stat.pid for stat in stats() if stat.parent == process.pid]
            before = [cpu_seconds(pid) for pid in (process.pid, server)]
            time.sleep(seconds)
            both, used = (cpu_seconds(pid) - begun for pid, begun in zip((process.pid, server), before, strict=True))
            share[active] = both / used - 1
    assert share[True] == pytest.approx(percent / 100, abs=0.02)
    assert share[False] < 0.01


def test_a_leak_grows(binary: Path) -> None:
    with wrapped(binary, "leak=20MB/s", EXITS) as (process, _):
        time.sleep(0.5)
        before = resident_bytes(process.pid)
        time.sleep(1)
        assert resident_bytes(process.pid) - before == pytest.approx(20e6, rel=0.3)


def test_sigterm_goes_on_to_the_server_whose_exit_code_is_its_own(binary: Path) -> None:
    with wrapped(binary, "none", EXITS) as (process, _):
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 7


def test_a_server_that_ends_ends_the_wrapper(binary: Path) -> None:
    with wrapped(binary, "none", "raise SystemExit(3)") as (process, _):
        assert process.wait(5) == 3


async def echoes(port: int, count: int, patience: float = 0.05) -> list[float]:
    """The round-trip times of the messages that come back within `patience` seconds."""
    for _ in range(100):
        try:
            client = await connect(f"ws://127.0.0.1:{port}", proxy=None, compression=None)
            break
        except (OSError, InvalidHandshake):  # no program listens yet, or none behind the proxy
            await asyncio.sleep(0.05)
    async with client:
        seen = []
        for number in range(count):
            began = time.monotonic()
            await client.send(str(number) * 40)
            try:
                while await asyncio.wait_for(client.recv(), patience) != str(number) * 40:
                    pass
                seen.append(time.monotonic() - began)
            except TimeoutError:
                pass
        return seen


async def test_a_delay_is_that_long_and_a_proxy_without_one_is_not(binary: Path) -> None:
    trips = {}
    for active in (True, False):
        with wrapped(binary, "delay=5ms", ECHO, active=active) as (_, port):
            seen = await echoes(port, 100, patience=5)
            assert len(seen) == 100
            trips[active] = sorted(seen)[50]
    assert trips[True] - trips[False] == pytest.approx(0.005, abs=0.002)


async def test_a_loss_drops_the_share_of_messages_that_it_says(binary: Path) -> None:
    with wrapped(binary, "loss=20%", ECHO) as (_, port):
        assert len(await echoes(port, 300)) == pytest.approx(240, abs=30)
    with wrapped(binary, "loss=20%", ECHO, active=False) as (_, port):
        assert len(await echoes(port, 100)) == 100
