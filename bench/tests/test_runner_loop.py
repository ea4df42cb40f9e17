"""The loop of the benchmark machine: no job finds anything of the one before it.

Its scripts run as they are, with a runner, an engine and a systemd of our own.
"""

from __future__ import annotations

import getpass
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
RUNNER = Path(__file__).parents[2] / "compose" / "runner"
UNITS = RUNNER / "systemd"
JOB_UNIT = UNITS / "pushbench-job.service"

SYSTEMCTL = """\
#!/bin/sh
# Does what the units do, without systemd.
echo "systemctl $*" >> "$LOG"
case "$*" in
"start pushbench-github@register.service") exit "${REGISTER:-0}" ;;
"start pushbench-github@admit.service") exit "${ADMIT:-0}" ;;
"start pushbench-github@retire.service") exit "${RETIRE:-0}" ;;
"stop pushbench-renew.service") ;;
"stop pushbench-job.service") kill -INT $(cat "$CGROUP/cgroup.procs") ;;
"start --wait pushbench-job.service")
  cd "$STATE/job" && CREDENTIALS_DIRECTORY=$CREDENTIALS HOME=$STATE/job/home \
    exec env --default-signal=INT "$JOB_SH" ;; # a shell's background has SIGINT ignored
"kill --signal=KILL pushbench-job.service") kill -KILL $(cat "$CGROUP/cgroup.procs") ;;
*) exit 9 ;;
esac
"""

DOCKER = """\
#!/bin/sh
# An engine that has as many containers as there are files.
echo "docker $*" >> "$LOG"
[ -z "$BROKEN_ENGINE" ] || { echo "Cannot connect to the Docker daemon" >&2; exit 1; }
case "$1" in
ps) ls "$CONTAINERS" ;;
rm) shift 3; cd "$CONTAINERS" && rm "$@" ;;
esac
"""

# The runner: waits for a job, for WAIT tenths of a second, and is ended by SIGINT while it has none.
LISTENER = """\
#!/bin/sh
mkdir -p "$CGROUP"
echo $$ > "$CGROUP/cgroup.procs"
trap 'exit 0' INT
i=0
while [ $i -lt "${WAIT:-0}" ]; do i=$((i + 1)); sleep 0.1; done
exec ./bin/Runner.Worker
"""

# The job: waits until it is let in, says what it finds, and leaves files, a container and a process behind.
WORKER = """\
#!/bin/sh
mkdir -p "$CGROUP"
echo $$ > "$CGROUP/cgroup.procs"
i=0
while [ ! -e "$RUN/admitted" ]; do
  i=$((i + 1)); [ $i -lt 200 ] || exit 1
  sleep 0.05
done
{
  echo "a job"
  find . -mindepth 1 ! -path './bin/*' | sort
  echo "jitconfig: $ACTIONS_RUNNER_INPUT_JITCONFIG"
  echo "credentials: $CREDENTIALS_DIRECTORY"
  getfacl --omit-header --absolute-names "$ENGINE_SOCKET" | grep "^user:[a-z]"
} >> "$FOUND"
mkdir -p _work/secret home/.docker && echo token > _work/secret/token && echo auth > home/.docker/config.json
[ "$(id -u)" != 0 ] || chmod 0 _work/secret # which keeps everybody but root from removing it
touch "$CONTAINERS/pushbench-1"
trap 'echo "cancelled" >> "$FOUND"; exit 0' INT
i=0
while [ $i -lt "${TAKES:-0}" ]; do i=$((i + 1)); sleep 0.1; done
"""


@dataclass
class Loop:
    folder: Path

    def run(self, turns: int = 1, **environment: str) -> subprocess.CompletedProcess[str]:
        names = {
            name: str(self.folder / name.lower())
            for name in ("STATE", "RUN", "CGROUP", "CONTAINERS", "CREDENTIALS", "OFFER")
        }
        files = {name: str(self.folder / name.lower()) for name in ("LOG", "FOUND", "ENGINE_SOCKET")}
        user = {"JOB_USER": getpass.getuser(), "JOB_SH": str(RUNNER / "job.sh"), "TURNS": str(turns), "PAUSE": "0"}
        user |= {"LIBRARY": str(RUNNER), "POLL": "0.05", "REFUSAL_SECONDS": "0", "BROKEN_ENGINE": ""}
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", str(RUNNER / "loop.sh")],
            env={"PATH": path, **names, **files, **user, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )

    @property
    def found(self) -> list[str]:
        path = self.folder / "found"
        return path.read_text().split("a job\n")[1:] if path.exists() else []

    @property
    def log(self) -> list[str]:
        return (self.folder / "log").read_text().splitlines()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    if not shutil.which("setfacl"):
        pytest.skip("needs setfacl (package acl)")
    for name in ("run", "containers", "state/dist/bin", "bin", "credentials", "offer"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "credentials" / "jitconfig").write_text("for-one-job")
    (tmp_path / "engine_socket").touch()
    (tmp_path / "state" / "version").write_text(f"2.338.0 {'0' * 64}\n")
    programs = {"bin/systemctl": SYSTEMCTL, "bin/docker": DOCKER, "state/dist/bin/Runner.Worker": WORKER}
    programs["state/dist/run.sh"] = LISTENER
    if os.geteuid() != 0:  # whose files are always its own
        programs["bin/chown"] = "#!/bin/sh\n"
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    yield Loop(tmp_path)
    subprocess.run(["chmod", "-R", "u+rwX", str(tmp_path)], check=False)


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
    """They are links to what was unpacked, in a sticky folder that belongs to root."""
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
    assert time.monotonic() - began < 15
    assert done.stdout.count("the job has run for 1 s, more than any benchmark: it is ended") == 2
    assert all(found.endswith("cancelled\n") for found in loop.found)
    assert not (loop.folder / "state" / "job").exists()


def test_a_job_that_ends_in_time_is_not_waited_for_any_longer(loop: Loop) -> None:
    began = time.monotonic()
    done = loop.run(JOB_SECONDS="600", TAKES="5")
    assert (done.returncode, "it is ended" in done.stdout) == (0, False), done.stderr
    assert time.monotonic() - began < 10


# ---- a newer Actions runner


def offer(loop: Loop, version: str = "2.339.0", digest: str | None = None) -> None:
    """What runner_renewal.py leaves: a runner whose jobs say its version."""
    files = {"run.sh": LISTENER, "bin/Runner.Worker": f'#!/bin/sh\necho {version} > "$FOUND.version"\n{WORKER}'}
    archive = loop.folder / "offer" / "runner.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in {**files, "bin/Runner.Listener": "#!/bin/sh\n"}.items():
            member = tarfile.TarInfo(f"./{name}")
            member.mode, member.size = 0o755, len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    digest = digest or hashlib.sha256(archive.read_bytes()).hexdigest()
    (loop.folder / "offer" / "offer").write_text(f"{version} {digest}\n")


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
