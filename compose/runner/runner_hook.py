"""The job-started hook: lets a job begin, or ends it before its first step.

    runner_hook.py SETTINGS ADMITTED

Exit status 0 if the job may begin. Otherwise it prints the reason in one sentence and ends the worker that would run
the steps: the Actions runner treats a failed hook as a failed step only, and steps with `if: always()` would still run.

A job can keep any hook from starting (`defaults.run.working-directory: /nowhere` does), so the hook only
explains. The admission keeps a job from the container engine: it asks GitHub, and the hook waits for it.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import syslog
import time
from collections.abc import Mapping
from pathlib import Path

from runner_policy import MOST_EVENT_BYTES, BadSettings, Refused, check_job, parse_event, read_settings

ADMISSION_SECONDS = 420.0  # more than the TimeoutStartSec of the admission's unit
UPLOAD_SECONDS = 5.0  # time for the worker to send the sentence on to GitHub before it is killed
WORKER = "Runner.Worker"


def main(settings: Path, admitted: Path) -> int:
    try:
        check_job(read_settings(settings), os.environ, parse_event(read_event(os.environ)))
        await_admission(admitted)
    except (Refused, BadSettings) as reason:
        refuse(str(reason))
        return 1
    except Exception as error:
        refuse(f"this machine does not run a job that its hook cannot judge ({type(error).__name__}); see its journal")
        raise
    return 0


def read_event(environment: Mapping[str, str]) -> bytes:
    """Reads the event file, at most one byte over the limit. Raises Refused unless it is a readable regular file."""
    try:
        descriptor = os.open(environment.get("GITHUB_EVENT_PATH", ""), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        raise Refused("a job without an event file", "start the workflow again") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused("a job whose event file is not a file", "start the workflow again")
        return file.read(MOST_EVENT_BYTES + 1)


def await_admission(admitted: Path) -> None:
    """Waits for the admission. Raises Refused if the machine has not let the job in by the deadline."""
    deadline = time.monotonic() + ADMISSION_SECONDS
    while not admitted.exists():
        if time.monotonic() > deadline:
            hint = "start it again, or look at `journalctl -u pushbench-runner` on the machine"
            raise Refused("a job that it could not find at GitHub", hint)
        time.sleep(0.2)


def refuse(sentence: str) -> None:
    print(f"::error title=Refused by the benchmark machine::{sentence}", flush=True)
    syslog.syslog(syslog.LOG_WARNING, f"refused run {os.environ.get('GITHUB_RUN_ID', '')[:20]!r}: {sentence}")
    if worker := ancestor(os.getpid(), WORKER):
        time.sleep(UPLOAD_SECONDS)
        os.kill(worker, signal.SIGKILL)


def ancestor(pid: int, name: str) -> int | None:
    """The nearest process above `pid` whose command is `name`."""
    while pid > 1:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        command, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
        if command == name:
            return pid
        pid = int(rest[1])
    return None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
