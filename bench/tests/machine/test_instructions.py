"""Counting events of threads. The kernel's own clock, which every machine has, stands in for instructions."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time

import pytest

from pushbench.machine.instructions import TASK_CLOCK, Counter, Event
from pushbench.machine.procfs import read_stat, stats
from pushbench.machine.resources import Tree
from tests.samples import result_of, stage_report, window

PROGRAM = """
import threading, time
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
input()
later = threading.Thread(target=work, args=(0.2,)); later.start(); work(0.1); later.join()
print(time.process_time(), flush=True)
input()
"""


@pytest.mark.slow
def test_threads_that_begin_later_are_counted_with_the_program() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin
        assert program.stdout
        time.sleep(0.3)
        counter = Counter.of(Tree(program.pid).members(list(stats())), TASK_CLOCK)
        if counter is None:
            pytest.skip("this kernel lets nobody count: perf_event_paranoid is above 2, or a sandbox forbids it")
        program.stdin.write("go\n")
        program.stdin.flush()
        program.stdout.readline()
        counted = counter.read()
        counter.close()
        program.kill()
    assert counted
    assert 0.29 < counted / 1e9 < 0.45


def test_what_a_machine_cannot_count_is_nothing() -> None:
    own = read_stat(os.getpid())
    assert own
    assert Counter.of([own], Event(type=0x7FFFFFF0, config=0)) is None


def test_an_unknown_processor_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "pdp11")
    own = read_stat(os.getpid())
    assert own
    assert Counter.of([own], TASK_CLOCK) is None


def test_instructions_are_told_per_delivery_where_they_were_counted() -> None:
    assert result_of(stage_report(received=600), window(), 4).metrics["instructions_per_delivery"] is None
    counted = window(instructions=(1e6, 4e6))
    assert result_of(stage_report(received=600), counted, 4).metrics["instructions_per_delivery"] == 5000
