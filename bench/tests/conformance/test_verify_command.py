"""`pushbench verify` as it is typed, on a checkout whose one server is the whiteboard server of these tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2]
SERVER = "tests.conformance.whiteboard_server"
SERVER_YML = """\
title: Whiteboard server
link: https://example.org
language: Python
suite: whiteboard
protocol: whiteboard-json
tier: baseline
process:
  toolchains: {{python: ">=3.11"}}
  start: {start}
env: {{SERVER: {server}, PYTHONPATH: {bench}}}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    scenarios = tmp_path / "k6" / "scenarios"
    scenarios.mkdir(parents=True)
    shutil.copy(BENCH.parent / "k6" / "scenarios" / "whiteboard.yml", scenarios)
    add_server(tmp_path, "good")
    return tmp_path


def add_server(checkout: Path, server: str, *faults: str) -> None:
    folder = checkout / "servers" / server
    folder.mkdir(parents=True)
    start = json.dumps([sys.executable, "-m", SERVER, *faults])
    (folder / "server.yml").write_text(SERVER_YML.format(start=start, server=server, bench=json.dumps(str(BENCH))))


def pushbench_verify(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pushbench", "verify", "--driver", "process", *arguments],
        cwd=BENCH,
        env={**os.environ, "PUSHBENCH_ROOT": str(checkout), "PUSHBENCH_LOCK": str(checkout / "lock"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_table_tells_which_rules_are_kept_and_the_exit_code_that_all_are(checkout: Path) -> None:
    done = pushbench_verify(checkout, "good", "--rule", "boards-are-isolated", "--rule", "compression-stays-off")
    assert (done.returncode, done.stdout.split()[-4:]) == (
        0,
        ["boards-are-isolated", "pass", "compression-stays-off", "pass"],
    )
    assert done.stderr.splitlines()[-1].startswith("good: keeps 2 of 2 rules")


def test_a_broken_rule_is_explained_below_the_table_and_exits_with_1(checkout: Path) -> None:
    add_server(checkout, "lame", "forgets-sender")
    done = pushbench_verify(checkout, "--rule", "draw-reaches-its-sender")
    assert done.returncode == 1
    assert "draw-reaches-its-sender pass FAIL" in " ".join(done.stdout.split())
    assert "FAIL lame: draw-reaches-its-sender\n  rule: A draw reaches its own sender too, exactly once." in done.stdout
    assert "lame: FAIL draw-reaches-its-sender" in done.stderr


def test_a_server_that_does_not_start_is_a_row_of_its_own(checkout: Path) -> None:
    add_server(checkout, "mute", "healthz-is-anonymous")
    done = pushbench_verify(checkout, "mute", "--json")
    assert done.returncode == 1
    [found] = json.loads(done.stdout)
    assert [(each["name"], each["outcome"]) for each in found["rules"]] == [("starts", "failed")]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["goood"], "pushbench: unknown server 'goood'; did you mean good?"),
        (
            ["--rule", "boards-are-isolatd"],
            "pushbench: unknown rule 'boards-are-isolatd'; did you mean boards-are-isolated?",
        ),
    ],
)
def test_a_name_that_does_not_exist_is_one_line_and_exits_with_2(
    checkout: Path, arguments: list[str], told: str
) -> None:
    done = pushbench_verify(checkout, *arguments)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith(told)
