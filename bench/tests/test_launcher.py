"""`./pushbench` creates its own environment at its first start, and only starts Python afterwards."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TINY = "# nothing to install\n"
TRIES = 3
"""the fastest counts: other work of the machine can only slow a start down"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a package that prints its arguments and needs no library."""
    shutil.copy(ROOT / "pushbench", tmp_path)
    package = tmp_path / "bench" / "pushbench"
    package.mkdir(parents=True)
    (package / "__main__.py").write_text("import sys; print(sys.argv[1:])\n")
    (tmp_path / "bench" / "requirements.txt").write_text(TINY)
    return tmp_path


def pushbench(checkout: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(checkout / "pushbench"), *arguments],
        cwd="/",
        env={**os.environ, "PATH": os.environ["PATH"] if path is None else path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_first_start_makes_the_environment_and_the_second_does_not(checkout: Path) -> None:
    first = pushbench(checkout, "run", "a b")
    assert (first.returncode, first.stdout) == (0, "['run', 'a b']\n"), first.stderr
    assert first.stderr == "pushbench: making the Python environment in .cache/pushbench/venv (once, under a minute)\n"
    seconds = []
    for _ in range(TRIES):
        began = cpu_seconds_of_programs()
        second = pushbench(checkout, "--help")
        seconds.append(cpu_seconds_of_programs() - began)
        assert (second.stdout, second.stderr) == ("['--help']\n", "")
    assert 0 < min(seconds) < 0.5


def cpu_seconds_of_programs() -> float:
    """The CPU seconds of this process's children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def folder_with(tmp_path: Path, **programs: str) -> str:
    """A PATH with the few tools that the launcher uses and these scripts."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "dirname", "readlink", "cmp", "mkdir", "rm", "cp", "flock"):
        found = shutil.which(tool)
        assert found
        (folder / tool).symlink_to(found)
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.fixture
def quick(tmp_path: Path) -> str:
    """A PATH whose Python creates environments at once: their pip installs nothing."""
    script = f"""
[ "$1" = -m ] || exec {sys.executable} "$@"
{sys.executable} -m venv --without-pip "$3"
for packages in "$3"/lib/python3.*/site-packages; do echo > "$packages/pip.py"; done
"""
    return folder_with(tmp_path, python3=script)


@pytest.mark.slow
def test_a_link_on_the_path_starts_its_checkout(checkout: Path, quick: str, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "pushbench").symlink_to(checkout / "pushbench")
    environment = {**os.environ, "PATH": f"{tmp_path}/links:{quick}"}
    done = subprocess.run(["pushbench", "x"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "['x']\n"), done.stderr


@pytest.mark.slow
def test_other_requirements_make_another_environment(checkout: Path, quick: str) -> None:
    assert "making the Python environment" in pushbench(checkout, path=quick).stderr
    (checkout / "bench" / "requirements.txt").write_text(TINY * 2)
    assert "making the Python environment" in pushbench(checkout, path=quick).stderr
    assert pushbench(checkout, path=quick).stderr == ""


@pytest.mark.slow
def test_two_first_starts_at_once_both_work_and_make_one_environment(checkout: Path, quick: str) -> None:
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda _: pushbench(checkout, "x", path=quick), range(3)))
    assert [each.stdout for each in results] == ["['x']\n"] * 3, results
    assert sum("making the Python environment" in each.stderr for each in results) == 1


@pytest.mark.slow
def test_an_environment_that_was_not_finished_is_made_again(checkout: Path, quick: str) -> None:
    pushbench(checkout, path=quick)
    (checkout / ".cache" / "pushbench" / "venv" / "requirements.stamp").unlink()
    done = pushbench(checkout, "x", path=quick)
    assert (done.stdout, "making" in done.stderr) == ("['x']\n", True)


def test_without_python_the_way_to_it_is_told(checkout: Path, tmp_path: Path) -> None:
    done = pushbench(checkout, path=folder_with(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("pushbench: needs Python 3.11, 3.12 or 3.13 on the PATH")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "said"),
    [
        ((3, 10), "needs Python 3.11, 3.12 or 3.13"),
        ((3, 11), "python3 could not make"),
        ((3, 13), "python3 could not make"),
        ((3, 14), "needs Python 3.11, 3.12 or 3.13"),
    ],
)
def test_only_a_python_that_all_libraries_know_is_taken(
    checkout: Path, tmp_path: Path, version: tuple[int, int], said: str
) -> None:
    pretend = f"import sys; sys.version_info = {(*version, 0, 'final', 0)}; exec(sys.argv[1])"
    done = pushbench(checkout, path=folder_with(tmp_path, python3=f'exec {sys.executable} -c "{pretend}" "$2"'))
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_python_without_venv_is_told(checkout: Path, tmp_path: Path) -> None:
    lacking = 'case "$2" in *ensurepip*) exit 1;; esac'
    done = pushbench(checkout, path=folder_with(tmp_path, python3=lacking))
    assert done.returncode == 2
    assert "python3 cannot make virtual environments: install its venv module" in done.stderr


def test_a_lock_of_all_requirements_with_hashes_and_no_index_is_there() -> None:
    for name in ("requirements.txt", "requirements-uv.txt", "requirements-dev.txt"):
        text = (ROOT / "bench" / name).read_text()
        assert "--hash=sha256:" in text
        assert "://" not in text
