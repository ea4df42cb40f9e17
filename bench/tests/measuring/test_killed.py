"""Killed at any moment: no earlier trial is lost, the next command leaves no process behind, and `--resume` goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pushbench.foundation.project import Project
from pushbench.machine.ownership import OWNER
from pushbench.machine.procfs import read_stat, stats
from pushbench.records import store
from pushbench.records.record import Record
from tests.support import FAKES, fake_generator, make_project

pytestmark = pytest.mark.slow

BENCH = FAKES.parents[1]
PATIENCE_SECONDS = 60.0


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = make_project(tmp_path, alpha="", beta="", gamma="")
    yield project
    for pid in started_for(project):
        os.kill(pid, signal.SIGKILL)


def pushbench(project: Project, *arguments: str) -> subprocess.Popen[str]:
    root = project.root
    generator = str(fake_generator(root / "fake-k6"))
    return subprocess.Popen(
        [
            sys.executable,
            str(FAKES / "command_line.py"),
            generator,
            "run",
            "--suite",
            "tiny",
            "--skip-verify",
            *arguments,
        ],
        env={**os.environ, "PYTHONPATH": str(BENCH), "PUSHBENCH_ROOT": str(root), "PUSHBENCH_LOCK": str(root / "lock")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def trials(project: Project) -> int:
    files = list(project.records.glob("*.json"))
    return len(store.read_record(files[0]).trials) if files else -1


def started_for(project: Project) -> list[int]:
    """The process ids of the servers and generators of this project's runs."""
    found = []
    for stat in stats():
        try:
            owned = f"{OWNER}=".encode() in Path(f"/proc/{stat.pid}/environ").read_bytes()
            if owned and Path(f"/proc/{stat.pid}/cwd").readlink().is_relative_to(project.root):
                found.append(stat.pid)
        except OSError:
            continue
    return found


def the_record(project: Project) -> Record:
    return store.read_record(store.find_record(project.records))


@pytest.mark.alone  # a concurrent run would end the processes that the killed run leaves behind
def test_pushbench_killed_in_its_second_trial(project: Project) -> None:
    run = pushbench(project)
    until(lambda: trials(project) == 1 and len(started_for(project)) >= 1)
    run.kill()
    run.communicate()
    before = the_record(project)
    assert len(before.trials) >= 1
    left_behind = started_for(project)
    assert left_behind

    resumed = pushbench(project, "--resume")
    output, _ = resumed.communicate(timeout=PATIENCE_SECONDS)
    after = the_record(project)
    assert after.complete, output
    kept = zip(after.trials, before.trials, strict=False)
    assert all(later == earlier or later.repeated for later, earlier in kept), "but for what the hypervisor disturbed"
    assert all(trial.failure is None and trial.stages for trial in after.trials)
    assert "left by a pushbench that was killed" in output
    assert not any(is_running(pid) for pid in left_behind)


def is_running(pid: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.state != "Z"


@pytest.mark.parametrize(("part", "step"), [("k6.py", "generator_failed"), ("server.py", "load")])
def test_a_part_killed_in_a_trial_costs_that_trial_only(project: Project, part: str, step: str) -> None:
    def found() -> list[int]:
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in started_for(project)}
        return [pid for pid, command in commands.items() if part.encode() in command]

    run = pushbench(project, "--profile", "quick")
    until(lambda: len(list((project.cache / "load").glob("k6-0.log"))) == 1 and bool(found()))
    time.sleep(0.5)
    for pid in found():
        os.kill(pid, signal.SIGKILL)
    output, _ = run.communicate(timeout=PATIENCE_SECONDS)
    record = the_record(project)
    assert record.complete, output
    hit, *others = record.trials
    told = hit.failure.step if hit.failure else hit.validity.reasons[0].code
    assert told == step
    assert all(trial.failure is None and trial.stages for trial in others)
    assert started_for(project) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_stops_cleanly_and_says_how_to_go_on(project: Project, how: signal.Signals) -> None:
    run = pushbench(project)
    until(lambda: trials(project) == 1 and len(started_for(project)) >= 1)
    run.send_signal(how)
    output, _ = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 130, output
    record = the_record(project)
    path = store.find_record(project.records)
    said = f"interrupted: {len(record.trials)} of 3 trials are kept; continue with `./pushbench run --resume {path}`"
    assert output.splitlines()[-1] == said
    assert started_for(project) == []


def test_a_second_run_is_refused_while_the_first_measures(project: Project) -> None:
    first = pushbench(project)
    until(lambda: trials(project) >= 0)
    second = pushbench(project)
    output, _ = second.communicate(timeout=PATIENCE_SECONDS)
    assert second.returncode == 2
    assert f"another pushbench run is measuring on this machine (pid {first.pid})" in output
    output, _ = first.communicate(timeout=PATIENCE_SECONDS)
    assert first.returncode in (0, 3), output  # 3: the machine was disturbed, but not by the second run
