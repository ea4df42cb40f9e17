"""The steps of a plan in sequence, each in its own process, so that a crash loses no other results."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pushbench.building.builds import Note
from pushbench.ci.judge import Judge
from pushbench.ci.plan import Plan
from pushbench.ci.result import (
    Outcome,
    Result,
    Results,
    Searched,
    StepResult,
    write_measured,
    write_result,
    write_results,
    write_searched,
)
from pushbench.ci.steps import Step
from pushbench.foundation.errors import EXIT_FAIL, EXIT_GAVE_WAY, EXIT_PASS, EXIT_UNDECIDED, EXIT_USAGE, UserError
from pushbench.foundation.project import Project
from pushbench.foundation.text import one_line
from pushbench.judging.thresholds import Thresholds
from pushbench.measuring.common import GiveWay
from pushbench.profiling.explanation import read_explanations
from pushbench.records import store
from pushbench.records.capacity import CapacityRecord
from pushbench.records.capacity_store import NEWEST, find_capacity, read_capacity
from pushbench.records.record import Record

PATIENCE_SECONDS = 6.0
"""from the signal to the end; Actions kills the process 7.5 s after its signal"""


class Ended(Exception):
    """The job was cancelled."""


@dataclass(frozen=True)
class _Played:
    code: int
    last_line: str
    seconds: float


@dataclass(frozen=True)
class Bench:
    """One job. `folder` always has the results so far, so that they survive a killed job."""

    project: Project
    out: Path
    """each step's records and reports go into a folder of its own below it"""
    plan: Plan
    thresholds: Thresholds
    folder: Path
    history: Path | None
    """the earlier runs, which also judge runs of the trend"""
    note: Note
    give_way: GiveWay | None = None
    """called between steps, and by runs between servers, if the plan belongs to the trend"""
    earlier: Results | None = None
    """of the job that gave way and is continued here"""
    machine: str | None = None
    """its name, if several machines measure the plan"""

    def play(self) -> Result:
        """Run all steps. Raises Ended, after writing the results so far."""
        result = self._begun()
        write_result(self.folder, result)
        began = False
        for index, each in enumerate(result.steps):
            if each.outcome != "unfinished":
                continue
            asks = began and self.give_way and each.step.kind != "compare"  # comparisons come last and end soon
            reason = self.give_way() if asks and self.give_way else None
            if reason:
                self.note(f"gave way to {reason} before step {index + 1}")
                result = _given_way(result, index, f"gave way to {reason}")
            else:
                result = self._carried_out(result, index)
                began = True
            write_result(self.folder, result)
            if result.outcome == "gave-way":
                break
        return result

    def _begun(self) -> Result:
        """Include the measurements of earlier jobs in the results."""
        if self.earlier is None:
            steps = [
                StepResult(step=step, outcome="unfinished", seconds=0.0, said="", measured=None)
                for step in self.plan.steps
            ]
            return Result(plan=self.plan, steps=steps, machine=self.machine)
        write_results(self.folder, self.earlier)
        return self.earlier.result

    def _carried_out(self, result: Result, index: int) -> Result:
        """Carry out one more step, from its start or from where it gave way.

        A run that cannot be resumed is measured from its start, with a note in the plan, so that every reader sees it.
        It then gives way to nothing: the next job might not be able to resume it either, and it has to finish.
        """
        number, step, out = index + 1, result.steps[index].step, self.out / f"step-{index + 1}"
        self.note(f"step {number} of {len(result.steps)}: ./pushbench {' '.join(step.arguments)}: {step.why}")
        before, seconds = result.steps[index].measured, result.steps[index].seconds
        notes = result.plan.notes
        if self.earlier is not None and before is not None:
            partial = self.earlier.measured[before].record
            path = store.write_record(out / "records", partial)
            played = self._played(["run", "--resume", str(path), *self._polite(step)], out)
            if played.code == EXIT_USAGE and _record(out) == partial:
                notes = [*notes, f"step {number} is measured again from the start: {one_line(played.last_line, 500)}"]
                self.note(notes[-1])
                shutil.rmtree(out)
                played, seconds = self._played(step.arguments, out), 0.0
        else:
            played = self._played([*step.arguments, *self._polite(step)], out)
        steps = list(result.steps)
        steps[index] = self._concluded(number, step, replace(played, seconds=seconds + played.seconds), out)
        plan = result.plan.model_copy(update={"notes": notes})
        done = result.model_copy(update={"plan": plan, "steps": steps})
        return _given_way(done, number, steps[index].said) if played.code == EXIT_GAVE_WAY else done

    def _polite(self, step: Step) -> Sequence[str]:
        return ["--give-way"] if self.give_way and step.kind == "run" else []

    def _played(self, arguments: Sequence[str], out: Path) -> _Played:
        how = ["--wait", "--driver", self.plan.driver, "--out", str(out)]
        return _play(self.project.root, [*arguments, *how])

    def _concluded(self, number: int, step: Step, played: _Played, out: Path) -> StepResult:
        if step.kind == "capacity":
            return self._searched(number, step, played, out)
        record = _record(out)
        if record is None:
            return _error(step, played)
        verdict = self._by.run(step, record)
        explanations = read_explanations(out / "explanations", record.id)
        write_measured(self.folder, number, record, verdict, explanations)
        ended = played.code in (EXIT_PASS, EXIT_FAIL, EXIT_UNDECIDED)
        said = "" if ended else one_line(played.last_line, 500)
        outcome: Outcome = verdict.outcome if ended else "unfinished"
        if step.kind == "machine" and ended:
            outcome = "pass"  # the step checks the machine, not the server
        if played.code == EXIT_GAVE_WAY:
            outcome, said = "gave-way", said.partition("; continue with")[0]
        return StepResult(step=step, outcome=outcome, seconds=played.seconds, said=said, measured=number)

    def _searched(self, number: int, step: Step, played: _Played, out: Path) -> StepResult:
        """The result of a search for capacities, judged against earlier ones."""
        record = _capacity(out)
        if record is None:
            return _error(step, played)
        found = Searched(record, self._by.search(record))
        write_searched(self.folder, number, record, found.verdict)
        ended = played.code in (EXIT_PASS, EXIT_FAIL, EXIT_UNDECIDED)
        return StepResult(
            step=step,
            outcome=found.outcome if ended else "unfinished",
            seconds=played.seconds,
            said="" if ended else one_line(played.last_line, 500),
            measured=None,
            searched=number,
        )

    @property
    def _by(self) -> Judge:
        return Judge(self.thresholds, self.history, self.project.history_cache, self.plan.event)


def _given_way(result: Result, index: int, said: str) -> Result:
    """Leave the steps from `index` on to another job. Comparisons are dropped: that job lacks the other commit."""
    steps = [each for each in result.steps if each.step.kind != "compare"]
    if len(steps) < len(result.steps):
        notes = [*result.plan.notes, "gave way, so servers that the history cannot judge are not compared"]
        own = [each.step for each in steps]
        images = sorted({server for step in own for server in step.servers})
        plan = result.plan.model_copy(update={"base": None, "steps": own, "images": images, "notes": notes})
        result = Result(plan=plan, steps=steps)
    left = [
        each.model_copy(update={"outcome": "gave-way", "said": said}) if each.outcome == "unfinished" else each
        for each in result.steps[index:]
    ]
    return Result(plan=result.plan, steps=[*result.steps[:index], *left])


def _record(out: Path) -> Record | None:
    try:
        return store.read_record(store.find_record(out / "records"))
    except UserError:
        return None


def _capacity(out: Path) -> CapacityRecord | None:
    try:
        found = find_capacity(out / "capacity", NEWEST)
        return read_capacity(found) if found else None
    except UserError:
        return None


def _error(step: Step, played: _Played) -> StepResult:
    """The result of a command without a record."""
    said = one_line(played.last_line, 500) or f"ended with code {played.code}, without a message"
    return StepResult(step=step, outcome="error", seconds=played.seconds, said=said, measured=None)


def _play(root: Path, arguments: Sequence[str]) -> _Played:
    """Run a command to its end, and forward signals to stop to it."""
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
        if process.stderr and not reader.is_alive():  # a process left behind by the command may keep it open
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
