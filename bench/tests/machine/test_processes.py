"""Programs get the prescribed CPUs and environment, and end on request, with all processes that they started."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import tail, write_atomically
from pushbench.machine.ownership import OWNER, end_orphans, kill_all, only_run_on_machine, owner_marker
from pushbench.machine.processes import Program, clean_environment, ending, start
from pushbench.machine.procfs import parse_stat, read_stat

SLEEPS = "import time; print('up', flush=True); time.sleep(60)"
PARENT_OF_TWO = f"import subprocess; [subprocess.Popen(['sleep', '60']) for _ in '12']; {SLEEPS}"
NEVER_ENDS = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPS}"


def run(tmp_path: Path, code: str, environment: dict[str, str] | None = None, cpus: set[int] | None = None) -> Program:
    return start(
        [sys.executable, "-c", code],
        folder=tmp_path,
        environment=clean_environment(environment or {}),
        cpus=cpus or os.sched_getaffinity(0),
        log=tmp_path / "log",
    )


def until_it_says(program: Program, text: str) -> None:
    deadline = time.monotonic() + 60
    while text not in program.log_tail():
        assert time.monotonic() < deadline, program.log_tail()
        time.sleep(0.01)


def alive(pid: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.state != "Z"


def test_a_program_sees_its_cpus_from_its_first_instruction(tmp_path: Path) -> None:
    mine = os.sched_getaffinity(0)
    one = {min(mine)}
    program = run(tmp_path, "import os; print(os.sched_getaffinity(0))", cpus=one)
    assert program.wait(60) == 0
    assert program.log_tail().strip() == str(one)
    assert os.sched_getaffinity(0) == mine


def test_nothing_of_the_users_shell_reaches_a_measured_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--inspect")
    program = run(tmp_path, "import os; print(sorted(os.environ))", {"PORT": "1"})
    program.wait(60)
    names = eval(program.log_tail())
    assert set(names) - {"LC_CTYPE"} == {"HOME", "LANG", "PATH", "PORT", OWNER}


def test_stopping_says_how_and_how_fast_it_ended(tmp_path: Path) -> None:
    program = run(tmp_path, SLEEPS)
    until_it_says(program, "up")
    stopped = program.stop(30)
    assert (ending(stopped.code), stopped.killed) == ("signal SIGTERM", False)
    assert stopped.seconds < 20


def test_what_does_not_end_is_killed(tmp_path: Path) -> None:
    program = run(tmp_path, NEVER_ENDS)
    until_it_says(program, "up")
    stopped = program.stop(0.2)
    assert (ending(stopped.code), stopped.killed) == ("signal SIGKILL", True)


def test_a_program_that_another_thread_reaps_is_stopped_all_the_same(tmp_path: Path) -> None:
    program = run(tmp_path, "pass")
    os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
    reaping = threading.Thread(target=program.wait, args=(60,))
    with vars(program._popen)["_waitpid_lock"]:  # while it reaps, `poll` reports a running program
        os.waitpid(program.pid, 0)
        assert program.exit_code() is None
        reaping.start()
        program.send(signal.SIGTERM)
    reaping.join()
    assert not program.stop(0.1).killed


def test_the_whole_session_ends_with_its_first_process(tmp_path: Path) -> None:
    program = run(tmp_path, PARENT_OF_TWO)
    until_it_says(program, "up")
    children = [int(pid) for pid in Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()]
    assert len(children) == 2
    program.stop(5)
    assert not any(alive(pid) for pid in children)


@pytest.mark.slow
@pytest.mark.alone  # a run of any concurrent test would be the next command
def test_a_program_whose_owner_was_killed_is_ended_by_the_next_command(tmp_path: Path) -> None:
    gone = run(tmp_path, "pass")
    gone_marker = owner_marker(gone.pid)
    gone.wait(60)
    orphan = run(tmp_path, SLEEPS)
    until_it_says(orphan, "up")
    mine = orphan.pid
    abandoned = start(
        ["sleep", "60"],
        folder=tmp_path,
        environment={OWNER: gone_marker, "PATH": "/usr/bin:/bin"},
        cpus=os.sched_getaffinity(0),
        log=tmp_path / "log2",
    )
    ended = end_orphans()
    assert [(each.pid, each.command) for each in ended if each.pid in (mine, abandoned.pid)] == [
        (abandoned.pid, "sleep")
    ]
    assert alive(mine)
    assert abandoned.wait(60) == -9
    orphan.stop(0)


def test_a_pid_that_was_given_to_another_process_is_no_owner() -> None:
    assert owner_marker().split(":")[0] == str(os.getpid())
    assert owner_marker() != f"{os.getpid()}:0"


def test_killing_what_is_gone_is_no_error() -> None:
    kill_all([2**22 - 1])


def test_two_runs_never_overlap_and_the_second_names_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    notes: list[str] = []
    with only_run_on_machine(notes.append):
        with pytest.raises(UserError, match=rf"another pushbench run is measuring .* \(pid {os.getpid()}\)"):
            with only_run_on_machine(notes.append):
                pass
    with only_run_on_machine(notes.append):
        pass


def test_a_run_may_wait_for_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    notes: list[str] = []
    waited = threading.Event()

    def second() -> None:
        with only_run_on_machine(notes.append, wait=True):
            waited.set()

    thread = threading.Thread(target=second)
    with only_run_on_machine(notes.append):
        thread.start()
        assert not waited.wait(0.3)
    assert waited.wait(60)
    thread.join()
    assert notes == [f"waiting: another pushbench run is measuring on this machine (pid {os.getpid()})"]


def test_commands_with_spaces_and_parentheses_are_parsed() -> None:
    line = "42 (a (b) c) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 10 20 20 0 7 0 12345 1000 10 18446744073709551615 0"
    stat = parse_stat(line)
    assert (stat.pid, stat.command, stat.parent, stat.session, stat.threads, stat.start_ticks) == (
        42,
        "a (b) c",
        1,
        42,
        7,
        12345,
    )
    assert (stat.user_seconds, stat.system_seconds, stat.children_user_seconds) == (2.5, 0.5, 0.1)


def test_the_end_of_a_log_is_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(1000)))
    end = tail(log, limit=30).splitlines()
    assert end == ["line 997", "line 998", "line 999"]
    assert tail(tmp_path / "none") == ""


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def no_room(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
