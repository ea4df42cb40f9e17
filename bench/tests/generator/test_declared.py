"""A declared protocol in the real generator, with a secret that must stay where it was."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.catalog.protocols import read_protocol
from pushbench.catalog.suites import find_suite
from pushbench.foundation.project import Project
from pushbench.generator.load import Generator, LoadPlan, playing
from pushbench.records.record import Schedule, StagePlan

pytestmark = [pytest.mark.slow]

CHECKOUT = Project.at(Path(__file__).parents[3])
SECRET = "s3cret-t0ken"
CLIENTS, SECONDS = 10, 2
SCHEDULE = Schedule(
    warmup_seconds=0.2,
    stages=[StagePlan(clients=CLIENTS, ramp_seconds=0.3, settle_seconds=0.3, steady_seconds=SECONDS)],
    drain_seconds=1,
)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A scripted server."""
    binary = tmp_path / "scripted"
    subprocess.run(["go", "build", "-trimpath", "-o", binary, "./cmd/scripted"], cwd=CHECKOUT.generator, check=True)
    with subprocess.Popen([binary], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def test_a_load_counts_everything_and_tells_no_secret(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_TOKEN", SECRET)
    file = tmp_path / "protocol.yml"
    text = (CHECKOUT.root / "docs" / "examples" / "whiteboard" / "protocol.yml").read_text()
    text = text.replace("path: /ws", 'path: "/ws?token={secret:token}", headers: {Authorization: "{secret:token}"}')
    text = text.replace('"u-{client}"}\'', '"u-{client}", "as": "{secret:token}"}\'', 1)
    text = text.replace("{/type: joined}", "{/type: joined, /as: '{any}'}")
    file.write_text(f"{text}secrets: {{token: {{env: PUSHBENCH_SECRET_TOKEN}}}}\n")
    declared = read_protocol(file)
    suite = find_suite(CHECKOUT.scenarios, "whiteboard")
    plan = LoadPlan(
        url=url,
        protocol="protocol.yml",
        declaration=declared.declaration,
        seed=3,
        parameters={"board_size": 5, "pattern": "steady", "arrivals": "fixed"},
        schedule=SCHEDULE,
    )
    generator = Generator(
        build_generator(CHECKOUT, print),
        CHECKOUT.generator,
        suite.scenario,
        cpus=[0],
        workspace=tmp_path / "load",
        environment=declared.environment(),
    )
    commands = b""
    with playing(generator, plan) as load:
        for _ in load.events():
            commands += b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in load.pids if alive(pid))
        report = load.report()
    [stage] = report.stages
    assert (stage.receipts.received, stage.receipts.lost, stage.receipts.corrupt) == (CLIENTS * 5 * SECONDS, 0, 0)
    assert b"scenarios" in commands, "the command lines were read"
    texts = [commands, report.model_dump_json().encode()]
    texts += [path.read_bytes() for path in (tmp_path / "load").rglob("*") if path.is_file()]
    assert len(texts) >= 5
    assert all(SECRET.encode() not in text for text in texts)


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").exists()
