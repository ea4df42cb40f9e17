"""The loop of the benchmark machine: no job finds traces of the previous one.

Its scripts run unchanged, with stand-ins for the runner, the engine and systemd.
"""

from __future__ import annotations

import getpass
import os
import subprocess
import time

import pytest

from tests.runner.runner_loop import RUNNER, SYSTEMCTL, Loop, offer
from tests.runner.runner_loop import loop as loop  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow
UNITS = RUNNER / "systemd"
JOB_UNIT = UNITS / "pushbench-job.service"


def test_a_job_finds_nothing_of_the_one_before(loop: Loop) -> None:
    done = loop.run(turns=2)
    assert done.returncode == 0, done.stderr
    first, second = loop.found
    assert first == second
    assert first.split("\n")[:3] == ["./bin", "./home", "./run.sh"]
    assert not (loop.folder / "state" / "job").exists()
    assert not list((loop.folder / "containers").iterdir())
    assert not list((loop.folder / "run").iterdir())
    assert "docker volume prune --all --force" in loop.log


def test_a_job_has_the_configuration_for_itself_and_the_engine_while_it_runs(loop: Loop) -> None:
    loop.run()
    [found] = loop.found
    assert "jitconfig: for-one-job\ncredentials: \n" in found
    assert f"user:{getpass.getuser()}:rw-" in found
    rights = subprocess.run(
        ["getfacl", "--absolute-names", str(loop.folder / "engine_socket")], capture_output=True, text=True, check=True
    )
    assert f"user:{getpass.getuser()}" not in rights.stdout


def test_the_runners_own_files_are_not_the_jobs_to_change(loop: Loop) -> None:
    """They are links to the unpacked files, in a sticky folder that belongs to root."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to somebody else")
    look = 'stat --format "%n %a %U:%G" "$STATE/job" "$STATE"/job/* >> "$FOUND"'
    (loop.folder / "bin" / "systemctl").write_text(f'#!/bin/sh\ncase "$*" in *job.service) {look} ;; esac\n')
    done = loop.run(JOB_USER="daemon")
    assert done.returncode == 0, done.stderr
    names = [line.rpartition("/")[2] for line in (loop.folder / "found").read_text().splitlines()]
    assert names == ["job 1770 root:daemon", "bin 755 root:root", "home 700 daemon:daemon", "run.sh 755 root:root"]


def test_a_job_that_is_not_admitted_is_ended_without_the_engine(loop: Loop) -> None:
    done = loop.run(ADMIT="1")
    assert done.returncode == 0, done.stderr
    assert "the job was not admitted" in done.stdout
    assert loop.found == []
    assert "systemctl kill --signal=KILL pushbench-job.service" in loop.log
    assert not (loop.folder / "state" / "job").exists()


def test_without_a_registration_there_is_no_job(loop: Loop) -> None:
    done = loop.run(REGISTER="1")
    assert "not registered" in done.stdout
    assert not any("job.service" in line for line in loop.log)


def test_a_machine_that_cannot_be_cleaned_takes_no_job(loop: Loop) -> None:
    done = loop.run(turns=2, BROKEN_ENGINE="yes")
    assert done.returncode != 0
    assert "Cannot connect to the Docker daemon" in done.stderr
    assert not any(line.startswith("systemctl") for line in loop.log)


def test_a_runner_waits_for_a_job_longer_than_a_job_may_take(loop: Loop) -> None:
    done = loop.run(JOB_SECONDS="1", WAIT="25")
    assert done.returncode == 0, done.stderr
    assert len(loop.found) == 1
    assert "systemctl stop pushbench-job.service" not in loop.log
    assert "RuntimeMaxSec=" not in JOB_UNIT.read_text().replace("# No RuntimeMaxSec:", "")


def test_a_job_that_takes_too_long_is_ended(loop: Loop) -> None:
    began = time.monotonic()
    done = loop.run(JOB_SECONDS="1", TAKES="200", turns=2)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 150
    assert done.stdout.count("the job has run for 1 s, more than any benchmark: it is ended") == 2
    assert all(found.endswith("cancelled\n") for found in loop.found)
    assert not (loop.folder / "state" / "job").exists()


def test_a_job_that_ends_in_time_is_not_waited_for_any_longer(loop: Loop) -> None:
    began = time.monotonic()
    done = loop.run(JOB_SECONDS="600", TAKES="5")
    assert (done.returncode, "it is ended" in done.stdout) == (0, False), done.stderr
    assert time.monotonic() - began < 300


# ---- a newer Actions runner


def test_a_newer_runner_takes_the_old_ones_place_before_the_next_job(loop: Loop) -> None:
    offer(loop)
    done = loop.run()
    assert done.returncode == 0, done.stderr
    assert "Actions runner 2.339.0 takes the place of 2.338.0\n" in done.stdout
    assert "waiting for a job with Actions runner 2.339.0\n" in done.stdout
    assert (loop.folder / "found.version").read_text() == "2.339.0\n"
    assert sorted(path.name for path in (loop.folder / "state").iterdir()) == ["dist", "version"]
    assert not list((loop.folder / "offer").iterdir())


@pytest.mark.parametrize(("version", "digest"), [("2.339.0", "0" * 64), ("2.337.9", None), ("2.338.0", None)])
def test_another_checksum_or_an_older_version_changes_nothing_and_the_machine_goes_on(
    loop: Loop, version: str, digest: str | None
) -> None:
    offer(loop, version, digest)
    done = loop.run()
    assert done.returncode == 0, done.stderr
    assert "this machine goes on with the runner it has" in done.stdout
    assert "the Actions runner was not unpacked: " in done.stderr
    assert "waiting for a job with Actions runner 2.338.0\n" in done.stdout
    assert len(loop.found) == 1
    assert sorted(path.name for path in (loop.folder / "state").iterdir()) == ["dist", "version"]
    assert not list((loop.folder / "offer").iterdir())  # or every turn would try it again


def hide_until_a_runner_waits(loop: Loop) -> None:
    (loop.folder / "offer" / "offer").rename(loop.folder / "offer.later")
    later = 'mv "$OFFER.later" "$OFFER/offer" 2>/dev/null\n'
    program = SYSTEMCTL.replace('  cd "$STATE/job"', f'  {later}  cd "$STATE/job"')
    assert later in program
    (loop.folder / "bin" / "systemctl").write_text(program)


def test_a_runner_that_waits_gives_way_to_a_newer_one(loop: Loop) -> None:
    """Otherwise a quiet repository would keep a runner until GitHub refuses it."""
    offer(loop)
    hide_until_a_runner_waits(loop)
    done = loop.run(turns=2, WAIT="15")
    assert done.returncode == 0, done.stderr
    assert loop.log.count("systemctl start pushbench-github@retire.service") == 1
    assert "systemctl stop pushbench-job.service" in loop.log
    assert (loop.folder / "found.version").read_text() == "2.339.0\n"
    assert len(loop.found) == 1


def test_a_runner_that_was_just_given_a_job_does_not_give_way(loop: Loop) -> None:
    offer(loop)
    hide_until_a_runner_waits(loop)
    done = loop.run(RETIRE="1", WAIT="10")
    assert done.returncode == 0, done.stderr
    assert loop.log.count("systemctl start pushbench-github@retire.service") == 1
    assert "systemctl stop pushbench-job.service" not in loop.log
    assert len(loop.found) == 1


def test_nothing_is_downloaded_beside_a_measurement(loop: Loop) -> None:
    loop.run()
    assert "systemctl stop pushbench-renew.service" in loop.log
    assert "ConditionPathExists=!/run/pushbench-runner/busy" in (UNITS / "pushbench-renew.service").read_text()


def test_what_a_killed_loop_left_is_gone_before_the_next_job(loop: Loop) -> None:
    left = loop.folder / "state" / "job" / "_work"
    left.mkdir(parents=True)
    (left / "token").write_text("secret")
    (loop.folder / "containers" / "left").touch()
    (loop.folder / "run" / "admitted").touch()
    loop.run()
    assert "_work" not in loop.found[0]
    assert loop.log.index("docker rm --force --volumes left") < loop.log.index(
        "systemctl start pushbench-github@register.service"
    )
