"""A comparison is explained by one more pair of trials with profilers, and its record does not change."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.cli.conclusion import thresholds_of
from pushbench.comparing import explaining, profiled
from pushbench.comparing.campaign import Budget
from pushbench.comparing.compare import CompareRequest, compare
from pushbench.drivers.choice import DriverChoice
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import judge
from pushbench.measuring import preparation
from pushbench.measuring.common import Options
from pushbench.profiling.explanation import explanation_path, read_explanations
from pushbench.profiling.profile import Profile, Unprofiled, Window, frame
from pushbench.profiling.profilers import Place
from pushbench.records import store
from pushbench.records.record import Record
from tests.factories import make_stage, make_trial
from tests.support import fake_generator, make_project
from tests.tiny_runs import Notebook

UNVERIFIED = Options(DriverChoice("process"), verify=False)
SAMPLES = {"base": 100, "head": 200}
CALLED: list[str] = []
"""the calls of profilers"""


class FakeProfiler:
    """Finds twice as many samples in the head; keeps its calls, and checks that the server is running."""

    name, by_wall, options = "fake", False, ()

    def __init__(self, place: Place) -> None:
        self._arm = place.files.name
        self._pid = 0

    def begin(self, pids: Sequence[int], window: Window) -> None:
        self._pid = pids[0]
        CALLED.append(f"begin {self._arm} {window[0] > time.monotonic() - 1}")

    def end(self) -> None:
        os.kill(self._pid, 0)
        CALLED.append(f"end {self._arm}")

    def read(self, windows: Sequence[Window], epoch: float) -> Profile:
        found = Profile()
        count = SAMPLES[self._arm]
        found.add([frame("main"), frame("broadcast", "server.py", 3, own=True)], count * 1e-6, count)
        found.add([frame("main")], 1e-4, 100)
        return found


@pytest.fixture(autouse=True)
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    binary = fake_generator(tmp_path / "fake-k6")
    monkeypatch.setattr(preparation, "build_generator", lambda *_: binary)
    monkeypatch.setattr(profiled, "profiler_of", lambda _, place: FakeProfiler(place))
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    CALLED.clear()
    yield


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A committed checkout with a server that has changed since, and a margin for CPU in its thresholds."""
    made = make_project(tmp_path / "checkout", x="")
    margins = "    regressions:\n      cpu_seconds_per_delivery: {margin: 5%}\n"
    made.thresholds.write_text(made.thresholds.read_text() + margins)
    (made.root / ".gitignore").write_text(".cache/\nout/\n")
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(made.root), *identity, *arguments], check=True, capture_output=True)
    (made.servers / "x" / "README").write_text("other sources\n")
    return made


def measure(
    project: Project, *, explain: bool = False, seconds: float = 600.0, watch: Notebook | None = None
) -> Record:
    drains = {"behaviour": "drains"}  # on a busy machine the last sample of the server is late
    request = CompareRequest("tiny", "smoke", "HEAD", parameters=drains, budget=Budget(seconds, 1), explain=explain)
    return compare(project, request, UNVERIFIED, thresholds_of(project), watch or Notebook())


@pytest.mark.slow
def test_the_function_that_gained_is_first_and_the_record_is_as_it_was(project: Project) -> None:
    record = measure(project)
    path = store.record_path(project.records, record.id)
    before = path.read_bytes()
    found = explaining.explain(project, record, "x", UNVERIFIED, Notebook())
    assert sorted(CALLED) == ["begin base True", "begin head True", "end base", "end head"]
    named = [each.title for each in found.functions]
    assert named.index("broadcast (server.py:3)") < named.index("main")
    assert (found.base.samples, found.head.samples, found.profiler) == (200, 300, "fake")
    assert path.read_bytes() == before
    assert read_explanations(project.explanations, record.id) == [found]
    assert (explanation_path(project.explanations, record.id, "x").parent / "x.svg").read_text().startswith("<svg")
    assert list((project.cache / "profiles").iterdir()) == []


@pytest.mark.slow
def test_a_comparison_explains_what_got_worse_in_what_is_left_of_its_time(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worse(record: Record, thresholds: Thresholds) -> object:
        verdict = judge(record, thresholds)
        rows = [row.model_copy(update={"word": "worse", "change": 0.2}) for row in verdict.changes]
        return verdict.model_copy(update={"changes": rows})

    monkeypatch.setattr("pushbench.comparing.compare.judge", worse)
    long, short = Notebook(), Notebook()
    record = measure(project, explain=True, watch=long)
    assert len(read_explanations(project.explanations, record.id)) == 1, long.notes
    assert read_explanations(project.explanations, measure(project, explain=True, seconds=2.0, watch=short).id) == []
    assert short.notes[-1].startswith("x: not explained: there is no time left; `./pushbench explain ")


@pytest.mark.parametrize(
    ("arrived", "cost", "why"),
    [
        (0, 1e-5, "nothing was received"),
        (None, 1e-5, "nothing was received"),
        (60, None, "the server's CPU is not known"),
    ],
)
def test_a_trial_that_measured_nothing_says_why(arrived: int | None, cost: float | None, why: str) -> None:
    stage = make_stage(10, {"cpu_seconds_per_delivery": cost}).model_copy(update={"arrived": arrived})
    assert profiled.work_of(make_trial("x"), "delivery")[0] > 0
    with pytest.raises(Unprofiled, match=f"the trial of the head measured nothing: {why}"):
        profiled.work_of(make_trial("x", results=[stage]), "delivery")


@pytest.mark.slow
def test_without_a_regression_nothing_is_profiled(project: Project) -> None:
    measure(project, explain=True)
    assert CALLED == []


@pytest.mark.slow
def test_what_a_machine_lacks_is_said_in_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise Unprofiled("kernel.perf_event_paranoid is 4")

    record = measure(project)
    monkeypatch.setattr(profiled, "profiler_of", lacking)
    with pytest.raises(UserError, match=r"x cannot be profiled: kernel\.perf_event_paranoid is 4"):
        explaining.explain(project, record, "x", UNVERIFIED, Notebook())


@pytest.mark.slow
def test_a_work_tree_that_has_changed_since_is_not_explained(project: Project) -> None:
    record = measure(project)
    (project.servers / "x" / "README").write_text("again other sources\n")
    with pytest.raises(UserError, match="x has changed in the work tree since"):
        explaining.explain(project, record, "x", UNVERIFIED, Notebook())


@pytest.mark.slow
def test_a_record_that_is_no_such_comparison_is_refused(project: Project) -> None:
    record = measure(project)
    assert record.comparison
    injected = record.model_copy(update={"comparison": record.comparison.model_copy(update={"injected": "burn=10%"})})
    for other, server, told in (
        (record.model_copy(update={"comparison": None}), "x", "is not a comparison"),
        (injected, "x", "injected fault"),
        (record, "y", "does not compare 'y'"),
    ):
        with pytest.raises(UserError, match=told):
            explaining.explain(project, other, server, replace(UNVERIFIED), Notebook())
