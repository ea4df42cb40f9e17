"""A declared protocol in the real generator, with a secret that must not leak."""

from __future__ import annotations

import contextlib
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


@contextlib.contextmanager
def serving(tmp_path: Path, *arguments: str) -> Iterator[str]:
    """The URL of a scripted server."""
    binary = tmp_path / "scripted"
    subprocess.run(["go", "build", "-trimpath", "-o", binary, "./cmd/scripted"], cwd=CHECKOUT.generator, check=True)
    with subprocess.Popen([binary, *arguments], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def board() -> str:
    text = (CHECKOUT.root / "docs" / "examples" / "whiteboard" / "protocol.yml").read_text()
    text = text.replace("path: /ws", 'path: "/ws?token={secret:token}", headers: {Authorization: "{secret:token}"}')
    text = text.replace('"u-{client}"}\'', '"u-{client}", "as": "{secret:token}"}\'', 1)
    return text.replace("{/type: joined}", "{/type: joined, /as: '{any}'}")


def refused() -> str:
    """A protocol whose answers contain the secret and are errors with the secret as their reason."""
    return """\
http: {path: "/post?key={secret:token}", status: 201, headers: {Authorization: "Bearer {secret:token}"}}
message: {send: '{"title": "{secret:token}"}', received: {/never: 1}}
error: {received: {/title: "{any}"}, reason: /title}
"""


BOARD = {"board_size": 5, "pattern": "steady", "arrivals": "fixed"}
POSTS = {"requests_per_second": 20, "arrivals": "fixed"}


@pytest.mark.parametrize(
    ("text", "suite", "how", "parameters", "counts"),
    [
        (board(), "whiteboard", [], BOARD, (CLIENTS * 5 * SECONDS, 0, 0)),
        (refused(), "posts", ["-http"], POSTS, (0, 20 * SECONDS, 0)),
    ],
    ids=["board", "posts"],
)
def test_a_load_counts_everything_and_tells_no_secret(
    text: str,
    suite: str,
    how: list[str],
    parameters: dict[str, int | float | str | bool],
    counts: tuple[int, int, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PUSHBENCH_SECRET_TOKEN", SECRET)
    file = tmp_path / "protocol.yml"
    file.write_text(f"{text}secrets: {{token: {{env: PUSHBENCH_SECRET_TOKEN}}}}\n")
    with serving(tmp_path, *how) as url:
        played(url, file, suite, parameters, counts, tmp_path)


def played(
    url: str,
    file: Path,
    suite: str,
    parameters: dict[str, int | float | str | bool],
    counts: tuple[int, int, int],
    tmp_path: Path,
) -> None:
    declared = read_protocol(file)
    plan = LoadPlan(
        url=url,
        protocol="protocol.yml",
        declaration=declared.declaration,
        seed=3,
        parameters=parameters,
        schedule=SCHEDULE,
    )
    generator = Generator(
        build_generator(CHECKOUT, print),
        CHECKOUT.generator,
        find_suite(CHECKOUT.scenarios, suite).scenario,
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
    assert (stage.receipts.received, stage.receipts.lost, stage.receipts.corrupt) == counts
    assert [each.reason for each in report.errors] == ([] if counts[0] else ["the server refused: {secret:token}"])
    assert b"scenarios" in commands, "the command lines were read"
    texts = [commands, report.model_dump_json().encode()]
    texts += [path.read_bytes() for path in (tmp_path / "load").rglob("*") if path.is_file()]
    assert len(texts) >= 5
    assert all(SECRET.encode() not in text for text in texts)


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").exists()
