"""The steps of a plan, one after the other, each in a process of its own: none can take the others' results with it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pushbench import store
from pushbench.builds import Note
from pushbench.ci.plan import Plan, Step
from pushbench.ci.result import Outcome, Result, StepResult, write_measured, write_result
from pushbench.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED, UserError
from pushbench.project import Project
from pushbench.record import Record
from pushbench.runs import Past, past_of
from pushbench.text import one_line
from pushbench.thresholds import Thresholds
from pushbench.verdict import judge

TREND = ("push", "schedule")
"""events whose runs are published"""
PATIENCE_SECONDS = 6.0
"""from the wish to end to the end; Actions kills 7.5 s after it asked"""


class Ended(Exception):
    """Somebody cancelled the job."""


@dataclass(frozen=True)
class _Played:
    code: int
    last_line: str
    seconds: float


@dataclass(frozen=True)
class Bench:
    """One job. `folder` always has what is known so far, so that a job that is killed is not silent."""

    project: Project
    out: Path
    """each step's records and reports go into a folder of its own below"""
    plan: Plan
    thresholds: Thresholds
    folder: Path
    history: Path | None
    """the runs before it, by which those of the trend are judged, too"""
    note: Note

    def play(self) -> Result:
        """All steps. Raises Ended, after it has written what there is."""
        steps = self.plan.steps
        done = [StepResult(step=step, outcome="unfinished", seconds=0.0, said="", measured=None) for step in steps]
        write_result(self.folder, Result(plan=self.plan, steps=done))
        for index, step in enumerate(steps):
            self.note(f"step {index + 1} of {len(steps)}: ./pushbench {' '.join(step.arguments)}: {step.why}")
            out = self.out / f"step-{index + 1}"
            played = _play(
                self.project.root, [*step.arguments, "--wait", "--driver", self.plan.driver, "--out", str(out)]
            )
            done[index] = self._concluded(index + 1, step, played, out)
            write_result(self.folder, Result(plan=self.plan, steps=done))
        return Result(plan=self.plan, steps=done)

    def _concluded(self, number: int, step: Step, played: _Played, out: Path) -> StepResult:
        record = _record(out)
        if record is None:
            said = one_line(played.last_line, 500) or f"ended with code {played.code} and said nothing"
            return StepResult(step=step, outcome="error", seconds=played.seconds, said=said, measured=None)
        verdict = judge(record, self.thresholds, self._past(step, record))
        write_measured(self.folder, number, record, verdict)
        ended = played.code in (EXIT_PASS, EXIT_FAIL, EXIT_UNDECIDED)
        said = "" if ended else one_line(played.last_line, 500)
        outcome: Outcome = verdict.outcome if ended else "unfinished"
        return StepResult(step=step, outcome=outcome, seconds=played.seconds, said=said, measured=number)

    def _past(self, step: Step, record: Record) -> Past | None:
        """Of the runs that are points of the trend. The first of them have little to be held against."""
        if self.history is None or step.kind != "run" or self.plan.event not in TREND:
            return None
        return replace(past_of(self.history, record, self.project.history_cache), required=False)


def _record(out: Path) -> Record | None:
    try:
        return store.read_record(store.find_record(out / "records"))
    except UserError:
        return None


def _play(root: Path, arguments: Sequence[str]) -> _Played:
    """Run a command to its end, and pass on a wish to end it."""
    began = time.monotonic()
    process = subprocess.Popen([root / "pushbench", *arguments], cwd=root, stderr=subprocess.PIPE, text=True)
    last = [""]
    reader = threading.Thread(target=_pass_on, args=(process, last), daemon=True)
    reader.start()
    previous = {each: signal.signal(each, _end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = process.wait()
    except Ended:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)
        reader.join(1.0)
        if process.stderr and not reader.is_alive():  # a process that the command left behind may hold it open
            process.stderr.close()
    return _Played(code, last[0], time.monotonic() - began)


def _end(_number: int, _frame: object) -> None:
    raise Ended


def _pass_on(process: subprocess.Popen[str], last: list[str]) -> None:
    assert process.stderr
    for line in process.stderr:
        os.write(2, line.encode(errors="replace"))
        if line.strip():
            last[0] = line.strip()
