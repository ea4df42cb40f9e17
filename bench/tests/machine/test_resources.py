"""A program's usage is counted precisely over its whole process tree, and sampling it costs next to nothing."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.machine.disturbance import KERNEL_THREADS, read_machine
from pushbench.machine.environment import CpuSplit
from pushbench.machine.procfs import TICKS_PER_SECOND, Stat, parse_stat, stats
from pushbench.machine.resources import Tree, Usage, between
from pushbench.machine.sampling import Sampler, Watched

BURN = "import time; end = time.process_time() + {seconds}\nwhile time.process_time() < end: pass\n"


def python(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """Run the test's code, which prints a line once it is ready and then waits for its input to end."""
    process = python(request.param + "\nimport sys; print('ready', flush=True); sys.stdin.read()")
    assert process.stdout
    process.stdout.readline()
    yield process
    process.communicate()


def usage(process: subprocess.Popen[str]) -> Usage:
    found = Tree(process.pid).usage()
    assert found
    return found


@pytest.mark.parametrize("program", [BURN.format(seconds=0.2)], indirect=True)
def test_cpu_time_is_exact_to_microseconds(program: subprocess.Popen[str]) -> None:
    first, second = usage(program), usage(program)
    assert 0.2 <= first.cpu_seconds < 0.5
    assert second.cpu_seconds - first.cpu_seconds < 0.001
    user, system = first.user_seconds, first.system_seconds
    assert user is not None
    assert system is not None
    assert user + system == pytest.approx(first.cpu_seconds, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN.format(seconds=0.2)!r}])"],
    indirect=True,
)
def test_children_that_ended_count(program: subprocess.Popen[str]) -> None:
    found = usage(program)
    assert found.processes == 1
    assert found.cpu_seconds >= 0.2


CHILD = "import sys; block = bytearray(50_000_000); print('ready', flush=True); sys.stdin.read()"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', {CHILD!r}], stdin=0, stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
"""


@pytest.mark.parametrize("program", [PARENT], indirect=True)
def test_children_that_left_the_session_count_with_their_memory(program: subprocess.Popen[str]) -> None:
    found = usage(program)
    assert found.processes == 2
    assert 50e6 < found.memory_bytes < 90e6


@pytest.mark.parametrize(
    "program",
    ["import threading, time; [threading.Thread(target=time.sleep, args=[30], daemon=True).start() for _ in '123']"],
    indirect=True,
)
def test_threads_are_counted(program: subprocess.Popen[str]) -> None:
    assert usage(program).threads == 4


FILES = """
import resource, sys
files = [open("/dev/null") for _ in range(27)]
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
print("ready", flush=True)
sys.stdin.read()
"""
FULL_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', {FILES!r}], stdin=0, stdout=subprocess.PIPE)
child.stdout.readline()
"""


@pytest.mark.parametrize("program", [FULL_CHILD], indirect=True)
def test_open_files_are_those_of_the_process_that_is_nearest_to_its_limit(program: subprocess.Popen[str]) -> None:
    version = tuple(int(number) for number in platform.release().split(".")[:2])
    assert usage(program).open_files_ratio == (30 / 40 if version >= (6, 2) else None)


COMPILING = """
import ctypes, threading, time
def compiling(name, seconds):
    ctypes.CDLL(None).prctl(15, name)
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
    burned.release()
    threading.Event().wait()
burned = threading.Semaphore(0)
for name, seconds in [(b"C2 CompilerThread0", 0.2), (b"C1 CompilerThread0", 0.1), (b"http-nio-8080-exec", 0.3)]:
    threading.Thread(target=compiling, args=(name, seconds), daemon=True).start()
for _ in range(3): burned.acquire()
"""


@pytest.mark.parametrize("program", [COMPILING], indirect=True)
def test_the_cpu_of_threads_that_compile_is_known_by_their_names(program: subprocess.Popen[str]) -> None:
    found = Tree(program.pid).usage(by_thread=True)
    assert found
    assert sorted(found.compiler_seconds.values()) == [pytest.approx(0.1, abs=0.03), pytest.approx(0.2, abs=0.03)]
    assert usage(program).compiler_seconds == {}


HOT = """
public class Hot {
    public static void main(String[] arguments) throws Exception {
        long sum = 0;
        for (int i = 0; i < 300_000_000; i++) sum += Integer.bitCount(i) * (i % 7);
        System.out.println(sum);
        System.in.read();
    }
}
"""


@pytest.mark.slow
def test_a_java_virtual_machine_has_such_threads(tmp_path: Path) -> None:
    file = tmp_path / "Hot.java"
    file.write_text(HOT)
    process = subprocess.Popen(["java", str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()
    found = Tree(process.pid).usage(by_thread=True)
    process.communicate()
    assert found
    assert 0.0 < sum(found.compiler_seconds.values()) < found.cpu_seconds
    assert len(found.compiler_seconds) >= 2


def test_a_program_that_ended_uses_nothing() -> None:
    process = python("pass")
    process.communicate()
    assert Tree(process.pid).usage() is None


def test_a_program_that_ends_while_it_is_read_uses_nothing() -> None:
    """Its memory is gone, although its state was that of a running process a moment before."""
    process = python("pass")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    [ended] = [stat for stat in stats() if stat.pid == process.pid]
    assert ended.state == "Z"
    assert Tree(process.pid).usage([replace(ended, state="R")]) is None
    process.communicate()


def test_what_is_counted_by_thread_leaves_out_ended_ones() -> None:
    assert between({1: 100, 2: 50}, {1: 110, 3: 5}) == 15


@pytest.mark.slow
def test_processes_that_share_a_cpu_wait_for_each_other() -> None:
    cpu = min(os.sched_getaffinity(0))
    burning = python(
        f"import os, time\nos.sched_setaffinity(0, {{{cpu}}})\ninput()\nos.fork()\nos.fork()\n"
        "end = time.monotonic() + 0.3\nwhile time.monotonic() < end: pass\nprint(flush=True)\ntime.sleep(1)"
    )

    def waited() -> dict[int, float]:
        found = Tree(burning.pid).usage(by_thread=True)
        assert found
        return dict(found.waited_seconds)

    before = waited()
    assert burning.stdin and burning.stdout
    burning.stdin.write("\n")
    burning.stdin.flush()
    for _ in range(4):
        burning.stdout.readline()
    # Each of four processes burns until the same 0.3 s are over. In three quarters of them, the others run.
    assert between(before, waited()) > 0.6
    burning.communicate()


def test_the_machine_tells_what_it_can_and_invents_nothing() -> None:
    everyone = list(stats())
    cpus = list(os.sched_getaffinity(0))
    machine = read_machine(everyone, {os.getpid()}, set(), CpuSplit(cpus, cpus))
    assert machine.steal_seconds >= 0
    assert machine.frequency_hz is None or machine.frequency_hz > 1e8
    assert os.getpid() not in {pid for pid, _ in machine.others}
    assert machine.clock_offset_seconds == pytest.approx(time.time() - time.monotonic(), abs=0.01)


def test_of_the_kernels_threads_only_those_that_manage_memory_are_told() -> None:
    def thread(pid: int, command: str, parent: int = KERNEL_THREADS) -> Stat:
        """A line of /proc/<pid>/stat whose process used 1.5 s of system time."""
        return parse_stat(f"{pid} ({command}) S {parent} 0 0 0 -1 0 0 0 0 0 0 150 0 0 20 0 1 0 7")

    everyone = [thread(77, "kdamond.0"), thread(14, "ksoftirqd/0"), thread(99, "kswapd-like", parent=1)]
    machine = read_machine(everyone, set(), set(), CpuSplit([0], [0]))
    assert machine.memory_threads == {(77, "kdamond.0"): 150 / TICKS_PER_SECOND}
    assert machine.others == {(99, "kswapd-like"): 150 / TICKS_PER_SECOND}


TELL = "print(os.times().user, flush=True)"


@pytest.mark.slow
def test_what_others_take_of_the_servers_cpus_is_counted() -> None:
    cpu = min(os.sched_getaffinity(0))
    # The clock is read without a system call, so nearly all of it is user time.
    burn = "end = time.monotonic() + 0.5\nwhile time.monotonic() < end: pass"
    burning = python(f"import os, time\nos.sched_setaffinity(0, {{{cpu}}})\n{TELL}\n{burn}\n{TELL}\ninput()")

    def look() -> tuple[float, float, float, float]:
        """The process's own count, the CPU time taken with and without it, and the time of the run's processes."""
        assert burning.stdout
        told, everyone = float(burning.stdout.readline()), list(stats())
        with_it, without = (
            read_machine(everyone, own, set(), CpuSplit([cpu], [cpu])) for own in (set(), {burning.pid})
        )
        return told, with_it.taken_seconds, without.taken_seconds, without.own_seconds

    before, after = look(), look()
    burning.communicate("\n")
    used, taken, others, own = (later - earlier for earlier, later in zip(before, after, strict=True))
    assert taken > used / 2 > 0.01
    assert taken - others == pytest.approx(used, abs=0.05)
    assert own == pytest.approx(used, abs=0.05)


@pytest.mark.parametrize("program", [""], indirect=True)
def test_samples_are_taken_at_borders_and_seconds(program: subprocess.Popen[str]) -> None:
    begin = time.monotonic()
    watched = Watched(Tree(program.pid), [], [Tree(os.getpid())], CpuSplit([0], [0]))
    sampler = Sampler(watched, begin, [begin + 0.25, begin + 1.25])
    sampler.start()
    sampler.join()
    samples = sampler.stop()
    assert [round(sample.at - begin, 1) for sample in samples] == pytest.approx([0.0, 0.2, 1.0, 1.2], abs=0.11)
    assert [sample.machine is not None for sample in samples] == [False, True, False, True]
    assert all(sample.server and sample.generator for sample in samples)


def test_sampling_ends_when_it_is_told_to() -> None:
    begin = time.monotonic()
    sampler = Sampler(Watched(Tree(os.getpid()), [], [], CpuSplit([0], [0])), begin, [begin + 60])
    sampler.start()
    assert len(sampler.stop()) <= 1
    assert not sampler.is_alive()


@pytest.mark.alone  # it samples every process of the machine
def test_looking_costs_less_than_a_hundredth_of_a_core() -> None:
    enough = threading.Event()
    threads = [threading.Thread(target=enough.wait) for _ in range(60)]
    for thread in threads:
        thread.start()
    watched = Watched(Tree(os.getpid()), [], [], CpuSplit([0], [0]))
    before = time.thread_time()
    for _ in range(10):
        watched.look(border=True)
    cost = (time.thread_time() - before) / 10
    enough.set()
    assert cost < 0.01  # one sample a second
