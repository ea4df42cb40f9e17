"""Node.js writes a profile at SIGTERM, whether the server handles the signal or leaves it to the kernel."""

from __future__ import annotations

import shutil
import subprocess
import time
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


# V8 inlines `#receive` and `burn` into the listener. Without an option, its profiler attributes the loop to it.
BURNS = """
const { EventEmitter } = require('node:events');
class Board {
  burn() {
    let x = 1;
    for (let i = 0; i < 60000; i += 1) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
    this.burnt = x;
  }
}
class Client {
  #board;
  constructor(socket, board) {
    this.#board = board;
    socket.on('message', (data) => this.#receive(data));
  }
  #receive(data) { if (data) this.#board.burn(); }
}
const board = new Board();
const sockets = Array.from({ length: 100 }, () => {
  const socket = new EventEmitter();
  new Client(socket, board);
  return socket;
});
let turn = 0;
const ends = performance.now() + 3000;
const timer = setInterval(() => {
  for (let i = 0; i < 20; i += 1) sockets[(turn += 1) % 100].emit('message', 'draw');
  if (performance.now() > ends) clearInterval(timer);
}, 5);
"""


def test_a_hot_function_is_named_and_not_its_caller(tmp_path: Path) -> None:
    profiler = CpuProf(Place(tmp_path, tmp_path, Toolset(), []), "node")
    (tmp_path / "burns.cjs").write_text(BURNS)
    begin, epoch = time.monotonic(), time.time() - time.monotonic()
    subprocess.run([str(NODE), *profiler.options, "burns.cjs"], cwd=tmp_path, check=True, timeout=60)
    found = profiler.read([(begin + 1, time.monotonic())], epoch).own_seconds()
    most = max(found, key=found.__getitem__)
    assert most.function == "burn", {frame.title(frame.line): round(seconds, 3) for frame, seconds in found.items()}
    assert found[most] > 0.8 * sum(found.values())
