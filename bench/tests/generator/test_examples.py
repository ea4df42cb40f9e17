"""The examples that have a server: a conversation is understood, and a short load is counted exactly.

Examples without a server are played in `k6/internal/conversation` and `k6/internal/engine`, against scripted servers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.catalog.protocols import DeclaredProtocol, read_protocol
from pushbench.catalog.suites import find_suite
from pushbench.foundation.project import Project
from pushbench.generator.load import Generator, LoadPlan, playing
from pushbench.generator.talking import converse
from pushbench.machine.ports import free_port
from pushbench.records.record import Parameters, Schedule, StagePlan
from tests.serving import await_port

pytestmark = [pytest.mark.slow]

CHECKOUT = Project.at(Path(__file__).parents[3])
EXAMPLES = sorted((CHECKOUT.root / "docs" / "examples").glob("*/server.[gj][os]"))
UNOPTIMIZED = "github.com/...=-N -l -dwarf=false"
"""compiles the libraries of a server in two thirds of the CPU time, and uses the cached standard library"""
INSTALL = {
    ".go": ["go", "build", "-trimpath", "-ldflags=-w", f"-gcflags={UNOPTIMIZED}", "-o", "server", "."],
    ".js": ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--silent"],
}
START = {".go": ["./server"], ".js": ["node", "server.js"]}
"""by the suffix of an example's server"""
CLIENTS, BOARD, RATE = 10, 5, 20
CONVERSATION = ((0, 0), (0, 1), (1, 0))
"""number and client of each message or request of `protocol check`"""
SCHEDULE = Schedule(
    warmup_seconds=0.2,
    stages=[StagePlan(clients=CLIENTS, ramp_seconds=0.3, settle_seconds=0.3, steady_seconds=1)],
    drain_seconds=0.5,
)


@dataclass(frozen=True)
class Played:
    """The load that a suite plays for a second, and its expected results."""

    suite: str
    parameters: Parameters
    meanings: list[str]
    """of the receipts in the conversation"""
    receipts: int


def played(protocol: DeclaredProtocol) -> Played:
    request = protocol.declaration.request
    if request is None:
        meanings = 2 * [f"message {n} of client {m}" for n, m in CONVERSATION]
        parameters: Parameters = {"board_size": BOARD, "pattern": "steady", "arrivals": "fixed"}
        return Played("whiteboard", parameters, meanings, CLIENTS * BOARD)
    assert request.stream
    tokens = request.stream.receipts
    meanings = [f"token {t} of the answer to request {n} of client {m}" for n, m in CONVERSATION for t in range(tokens)]
    parameters = {"streams_per_second": RATE, "tokens_per_second": 0, "arrivals": "fixed"}
    return Played("token-stream", parameters, meanings, RATE * tokens)


@contextlib.contextmanager
def serving(program: Path, folder: Path) -> Iterator[str]:
    """Install and start a server in a folder, and yield its URL."""
    shutil.copytree(program.parent, folder)
    subprocess.run(INSTALL[program.suffix], cwd=folder, check=True)
    port = free_port()
    with subprocess.Popen(START[program.suffix], cwd=folder, env={**os.environ, "PORT": str(port)}) as server:
        try:
            await_port(port)
            yield f"ws://127.0.0.1:{port}"
        finally:
            server.terminate()


def marked(program: Path) -> object:
    """The program as a parameter. A Go program starts early: compiling its libraries takes half a minute of CPU."""
    marks = [pytest.mark.early] if program.suffix == ".go" else []
    return pytest.param(program, marks=marks, id=program.parent.name)


@pytest.mark.parametrize("program", [marked(program) for program in EXAMPLES])
def test_an_example_is_understood_and_counted(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_KEY", "s3cret-key")
    binary = build_generator(CHECKOUT, print)
    protocol = read_protocol(program.with_name("protocol.yml"))
    declaration, secrets, wanted = protocol.declaration, protocol.environment(), played(protocol)
    with serving(program, tmp_path / "server") as url:
        talked = converse(binary, CHECKOUT.generator, url, declaration, secrets)
        assert talked.fault is None
        received = [line for line in talked.lines or [] if line.kind == "received"]
        assert [line for line in received if not line.understood] == []
        receipts = [line.meaning for line in received if line.meaning.startswith(("message", "token"))]
        assert sorted(receipts) == sorted(wanted.meanings)
        plan = LoadPlan(
            url=url,
            protocol="protocol.yml",
            declaration=declaration,
            seed=3,
            parameters=wanted.parameters,
            schedule=SCHEDULE,
        )
        suite = find_suite(CHECKOUT.scenarios, wanted.suite)
        generator = Generator(
            binary, CHECKOUT.generator, suite.scenario, cpus=[0], workspace=tmp_path / "load", environment=secrets
        )
        with playing(generator, plan) as load:
            for _ in load.events():
                pass
            report = load.report()
    [stage] = report.stages
    counts = stage.receipts
    assert (counts.expected, counts.received, counts.duplicate, counts.corrupt) == (wanted.receipts,) * 2 + (0, 0)
    assert report.errors == []
