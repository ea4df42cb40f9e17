"""Runs of the tiny suite, with fake generators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.drivers.choice import DriverChoice
from pushbench.foundation.project import Project
from pushbench.measuring import preparation, run
from pushbench.measuring.common import Options
from pushbench.measuring.run import RunRequest
from pushbench.records.record import PlannedTrial, Record, Trial
from pushbench.watching.progress import Follower
from tests.support import fake_generator

UNVERIFIED = Options(DriverChoice("process"), verify=False)


class Notebook(Follower):
    """Keeps the messages of a run; raises KeyboardInterrupt at the beginning of the trial `interrupt_at`."""

    def __init__(self, interrupt_at: int = -1) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.shown: list[str] = []
        self._interrupt_at = interrupt_at

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self, what: str) -> None:
        self.shown.append(what)

    def trial(self, planned: PlannedTrial, total: int, record: Record, seconds_left: float) -> None:
        if planned.order == self._interrupt_at:
            raise KeyboardInterrupt
        super().trial(planned, total, record, seconds_left)


@pytest.fixture(autouse=True)
def no_real_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    binary = fake_generator(tmp_path / "fake-k6")
    monkeypatch.setattr(preparation, "build_generator", lambda *_: binary)
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    yield


def request(*servers: str, **parameters: str) -> RunRequest:
    return RunRequest("tiny", "smoke", servers, parameters)


def measure(
    project: Project, *servers: str, watch: Notebook | None = None, how: Options = UNVERIFIED, **parameters: str
) -> Record:
    return run.run(project, request(*servers, **parameters), how, watch or Notebook())


def by_server(record: Record) -> dict[str, Trial]:
    return {trial.server: trial for trial in record.trials}
