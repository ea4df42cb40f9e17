"""`--write-failed` lists the failed tests, so that they can be repeated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1]
TESTS = """\
import pytest

@pytest.mark.parametrize("text", ["good", "not good"])
def test_text(text): assert text == "good"

@pytest.fixture
def broken(): raise RuntimeError

def test_fixture(broken): pass
"""


@pytest.mark.slow
def test_failures_and_errors_are_named_and_can_be_run_by_their_names(tmp_path: Path) -> None:
    file, failed = tmp_path / "test_three.py", tmp_path / "failed.txt"
    file.write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(tmp_path / "none.ini"), "-p", "tests.conftest"]
    (tmp_path / "none.ini").write_text("[pytest]\n")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PYTHONPATH": str(BENCH), "PATH": ""}
        return subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    first = run("--write-failed", str(failed), str(file))
    assert first.returncode == 1, first.stdout + first.stderr
    assert failed.read_text() == "test_three.py::test_text[not good]\ntest_three.py::test_fixture\n"
    assert "1 failed, 1 error" in run(f"@{failed}").stdout
