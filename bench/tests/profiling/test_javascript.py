"""Node.js writes a profile at SIGTERM, whether the server handles that or leaves it to the kernel."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pushbench.building.toolchains import Toolset
from pushbench.profiling.javascript import CpuProf
from pushbench.profiling.profilers import Place

SERVES = "console.log('ready'); setInterval(() => {}, 1000);"
ENDS_ITSELF = "process.on('SIGTERM', () => process.exit(7));" + SERVES
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")


@pytest.mark.parametrize(("program", "code"), [(SERVES, 0), (ENDS_ITSELF, 7)])
def test_a_server_that_gets_sigterm_leaves_a_profile(program: str, code: int, tmp_path: Path) -> None:
    profiler = CpuProf(Place(tmp_path, tmp_path, Toolset(), []), "node")
    command = [str(NODE), *profiler.options, "-e", program]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        server.stdout.readline()
        server.terminate()
        assert server.wait(timeout=20) == code
    assert list(tmp_path.glob("*.cpuprofile"))
