"""Only a suite's own files are needed to add it: those in `sixth_suite`, copied over a copy of the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.early]

CHECKOUT = Path(__file__).parents[2]
OWN_FILES = Path(__file__).parent / "sixth_suite"
COPIED = ("k6", "bench/pushbench", "docs")
SHARED = ("report-site", ".cache/pushbench/pages", "thresholds.yml")
BUILT = shutil.ignore_patterns("__pycache__", "node_modules")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        shutil.copytree(CHECKOUT / name, root / name, ignore=BUILT)
    for name in SHARED:
        if (CHECKOUT / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(CHECKOUT / name)
    before = {path.relative_to(root) for path in root.rglob("*") if path.is_file()}
    added = {path.relative_to(OWN_FILES) for path in OWN_FILES.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert not before & added, "a suite's files replace none"
    shutil.copytree(OWN_FILES, root, dirs_exist_ok=True, ignore=BUILT)
    return root


def pushbench(copy: Path, *arguments: str) -> str:
    """The output of a command. Exit code 3 means that the machine was too busy for a valid trial."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "bench"), "PUSHBENCH_ROOT": str(copy)}
    environment["PUSHBENCH_LOCK"] = str(copy / "lock")
    command = [sys.executable, "-m", "pushbench", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=copy)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return done.stdout


def test_it_shows_up_everywhere_without_another_edit(copy: Path) -> None:
    assert "greeting" in pushbench(copy, "suites", "presence")
    plan = json.loads(pushbench(copy, "plan", "--profile", "smoke", "--servers", "presence-*", "--json"))
    assert {each["server"] for each in plan["trials"]} == {"presence-threads", "presence-asyncio"}

    verified = json.loads(pushbench(copy, "verify", "presence-*", "--driver", "process", "--json"))
    assert {each["server"]: {rule["outcome"] for rule in each["rules"]} for each in verified} == {
        "presence-threads": {"passed"},
        "presence-asyncio": {"passed"},
    }
    said = pushbench(copy, "run", "--suite", "presence", "--profile", "smoke", "--driver", "process")
    for words in ("Hellos in", "Greetings out", "Answer p50", "CPU / 1,000 greetings", "open-20"):
        assert words in said
    assert "eliver" not in said, "a word of another suite"

    verdict = json.loads(pushbench(copy, "judge", "--json"))
    assert {limit["title"] for limit in verdict["limits"]} <= {"Loss", "Answer p95"}
    assert verdict["suite"] == "presence"
    shown = json.loads(pushbench(copy, "show", "--json"))
    metrics = shown["servers"][0]["stages"][0]["metrics"]
    assert metrics["answer_seconds.p95"]
    assert metrics["loss_ratio"]["max"] == 0
    assert site(copy)["suites"]["presence"]["metrics"]["throughput_per_second"]["title"] == "Greetings out"


def site(copy: Path) -> Any:
    """The data of the pages."""
    pushbench(copy, "site")
    return json.loads((copy / "out" / "site" / "data" / "manifest.json").read_text())
