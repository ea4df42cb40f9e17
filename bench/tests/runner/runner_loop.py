"""The loop of the benchmark machine, with stand-ins for the runner, the engine and systemd."""

from __future__ import annotations

import getpass
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[3] / "compose" / "runner"

SYSTEMCTL = """\
#!/bin/sh
# Does what the units do, without systemd.
echo "systemctl $*" >> "$LOG"
case "$*" in
"start pushbench-github@register.service") exit "${REGISTER:-0}" ;;
"start pushbench-github@admit.service") exit "${ADMIT:-0}" ;;
"start pushbench-github@retire.service") exit "${RETIRE:-0}" ;;
"stop pushbench-renew.service") ;;
"stop pushbench-job.service")
  until [ -s "$CGROUP/cgroup.procs" ]; do sleep 0.01; done # systemd knows the process that it has just started
  kill -INT $(cat "$CGROUP/cgroup.procs") ;;
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

# The runner waits for a job for WAIT tenths of a second. SIGINT ends it while it has none.
LISTENER = """\
#!/bin/sh
mkdir -p "$CGROUP"
trap 'exit 0' INT
echo $$ > "$CGROUP/cgroup.procs"
i=0
while [ $i -lt "${WAIT:-0}" ]; do i=$((i + 1)); sleep 0.1; done
exec ./bin/Runner.Worker
"""

# The job waits until it is admitted, writes what it finds, and leaves files, a container and a process behind.
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
    if os.geteuid() != 0:  # it owns its files already
        programs["bin/chown"] = "#!/bin/sh\n"
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    yield Loop(tmp_path)
    subprocess.run(["chmod", "-R", "u+rwX", str(tmp_path)], check=False)


def offer(loop: Loop, version: str = "2.339.0", digest: str | None = None) -> None:
    """Leave an offer as runner_renewal.py does: a runner whose jobs write its version."""
    files = {"run.sh": LISTENER, "bin/Runner.Worker": f'#!/bin/sh\necho {version} > "$FOUND.version"\n{WORKER}'}
    archive = loop.folder / "offer" / "runner.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in {**files, "bin/Runner.Listener": "#!/bin/sh\n"}.items():
            member = tarfile.TarInfo(f"./{name}")
            member.mode, member.size = 0o755, len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    digest = digest or hashlib.sha256(archive.read_bytes()).hexdigest()
    (loop.folder / "offer" / "offer").write_text(f"{version} {digest}\n")
