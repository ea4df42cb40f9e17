"""A comparison measures both arms of each changed server alternately, and names what it could not compare."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.cli.conclusion import thresholds_of
from pushbench.comparing.campaign import Budget
from pushbench.comparing.compare import CompareRequest, compare, read_accepting
from pushbench.drivers.choice import DriverChoice
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.foundation.trees import resolve
from pushbench.judging.verdict import Verdict, judge
from pushbench.measuring import preparation
from pushbench.measuring.common import Interrupted, Options
from pushbench.measuring.sides import side_of
from pushbench.metrics import validity
from pushbench.records import store
from pushbench.records.record import PlannedTrial, Record, Trial
from tests.support import add_server, fake_generator, make_project
from tests.tiny_runs import Notebook

UNVERIFIED = Options(DriverChoice("process"), verify=False)


class Stopwatch(Notebook):
    """The duration in seconds of the last trial, or of the last concurrent ones."""

    took = 0.0
    _began = 0.0

    def trial(self, planned: PlannedTrial, total: int, record: Record, seconds_left: float) -> None:
        self._began = time.monotonic()

    def finished(self, trial: Trial) -> None:
        self.took = time.monotonic() - self._began


@pytest.fixture(autouse=True)
def no_real_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    binary = fake_generator(tmp_path / "fake-k6")
    monkeypatch.setattr(preparation, "build_generator", lambda *_: binary)
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    yield


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A committed checkout of two servers, with a margin for loss in its thresholds."""
    made = make_project(tmp_path / "checkout", x="", y="")
    made.thresholds.write_text(
        made.thresholds.read_text() + "    regressions:\n      loss_ratio: {margin: 10%, floor: 0.1%}\n"
    )
    (made.root / ".gitignore").write_text(".cache/\nout/\n")
    git(made, "init", "--quiet", "--initial-branch=main")
    commit(made, "Begin")
    return made


def git(project: Project, *arguments: str) -> None:
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    subprocess.run(["git", "-C", str(project.root), *identity, *arguments], check=True, capture_output=True)


def commit(project: Project, subject: str) -> None:
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", subject)


def change(project: Project, server: str) -> None:
    (project.servers / server / "README").write_text("other sources\n")


def measure(
    project: Project, *, base: str = "HEAD", rounds: int = 2, together: bool = True, watch: Notebook | None = None
) -> Record:
    request = CompareRequest("tiny", "smoke", base, budget=Budget(600.0, rounds, together=together))
    return compare(project, request, UNVERIFIED, thresholds_of(project), watch or Notebook())


def verdict(project: Project, record: Record) -> Verdict:
    return judge(record, thresholds_of(project))


def outcomes(found: Verdict) -> dict[str, str]:
    return {server.server: server.outcome for server in found.servers}


@pytest.mark.slow
def test_only_what_changed_is_measured_and_both_arms_of_it(project: Project) -> None:
    change(project, "x")
    record = measure(project)
    assert store.read_record(store.find_record(project.records)) == record
    assert record.comparison
    assert record.comparison.base.subject == "Begin"
    assert record.comparison.identical == ["y"]
    assert sorted((trial.server, trial.round, trial.arm) for trial in record.trials) == [
        ("x", round_, arm) for round_ in (1, 2) for arm in ("base", "head")
    ]
    assert len({trial.build for trial in record.trials}) == 2
    found = verdict(project, record)
    assert outcomes(found) == {"x": "inconclusive", "y": "pass"}
    assert "y: not measured: its build is that of the base" in found.notes
    assert found.reasons == ["x: loss undecided at 20 clients: 0 %, margin 0.10 % after 2 rounds"]


ACCEPTS = (
    "servers:\n  x:\n    tiny:\n      accepted:\n"
    "        loss_ratio: {level: 5%, reason: asked for, until: 2099-01-01}\n"
)


def accepts(project: Project, more: str = ACCEPTS) -> None:
    project.thresholds.write_text(project.thresholds.read_text() + more)


def accepted_by(
    project: Project, head: str | None = None, *, accept: bool = False, watch: Notebook | None = None
) -> list[tuple[str, str, bool]]:
    """Server, metric and effectiveness of each line that `main` does not have. The file is on `head`."""
    request = CompareRequest("tiny", "smoke", "main", head, accept=accept)
    note = (watch or Notebook()).note
    lines = read_accepting(project, side_of(project, None, head), resolve(project.root, "main"), request, note)
    return [(line.server, line.metric, line.confirmed) for line in lines]


@pytest.fixture
def fork(project: Project) -> Project:
    """A checkout with a branch that slows x down and accepts that."""
    change(project, "x")
    accepts(project)
    commit(project, "Slow it down, which is meant")
    git(project, "branch", "fork")
    git(project, "reset", "--hard", "--quiet", "HEAD~1")
    return project


@pytest.mark.slow
def test_what_the_work_tree_newly_accepts_is_in_the_record(project: Project) -> None:
    change(project, "x")
    accepts(project)
    record = measure(project, rounds=1)
    assert record.comparison
    [line] = record.comparison.accepting
    assert (line.level, line.reason, line.where.partition(":")[0]) == (0.05, "asked for", "thresholds.yml")


def test_a_line_that_the_base_has_is_not_new(project: Project) -> None:
    accepts(project)
    assert accepted_by(project) == [("x", "loss_ratio", True)]
    commit(project, "Accept it")
    assert accepted_by(project) == []


def test_what_another_commit_accepts_has_effect_only_where_that_was_said(fork: Project) -> None:
    assert accepted_by(fork) == []
    assert accepted_by(fork, "fork") == [("x", "loss_ratio", False)]
    assert accepted_by(fork, "fork", accept=True) == [("x", "loss_ratio", True)]


def test_the_file_beside_a_server_accepts_for_it_alone(project: Project) -> None:
    own = project.servers / "x" / "thresholds.yml"
    own.write_text(f"version: 1\n{ACCEPTS}")
    assert accepted_by(project) == [("x", "loss_ratio", True)]
    own.write_text(f"version: 1\n{ACCEPTS}".replace("  x:", "  y:"))
    watch = Notebook()
    assert accepted_by(project, watch=watch) == []
    assert "unknown server 'y'" in watch.notes[0]


def test_a_server_of_another_repository_accepts_what_its_own_base_does_not(project: Project, tmp_path: Path) -> None:
    there = tmp_path / "theirs"
    described = there / "bench" / "x"
    described.parent.mkdir(parents=True)
    (project.servers / "x").rename(described)
    with (described / "server.yml").open("a") as file:
        file.write("source: ../..\n")
    (project.servers / "x").symlink_to(described)
    theirs = Project.at(there)
    git(theirs, "init", "--quiet", "--initial-branch=main")
    commit(theirs, "Begin")
    (there / "thresholds.yml").write_text(f"version: 1\n{ACCEPTS}")  # not the file of a server
    (described / "thresholds.yml").write_text(f"version: 1\n{ACCEPTS.replace('5%', '6%')}")

    def accepted(head: str | None = None) -> list[tuple[float | None, bool]]:
        request = CompareRequest("tiny", "smoke", "main", head)
        base = resolve(there, "main")
        lines = read_accepting(project, side_of(project, there, head), base, request, Notebook().note)
        return [(line.level, line.confirmed) for line in lines]

    assert accepted() == [(0.06, True)]
    git(theirs, "checkout", "--quiet", "-b", "slower")
    commit(theirs, "Accept it")
    assert accepted("slower") == [(0.06, False)]
    git(theirs, "checkout", "--quiet", "main")
    git(theirs, "merge", "--quiet", "slower")
    assert accepted() == []


def test_a_file_of_strangers_that_cannot_be_read_accepts_nothing(project: Project) -> None:
    accepts(project, ACCEPTS.replace("loss_ratio", "nonsense"))
    commit(project, "Accept what is not there")
    git(project, "branch", "fork")
    git(project, "reset", "--hard", "--quiet", "HEAD~1")
    assert accepted_by(project, "fork") == []
    with pytest.raises(UserError, match="unknown metric"):
        accepted_by(project, "fork", accept=True)


def test_a_link_to_another_file_is_never_followed(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.yml"
    elsewhere.write_text("version: 1\n" + ACCEPTS)
    original = project.thresholds.read_text()
    project.thresholds.unlink()
    project.thresholds.symlink_to(elsewhere)
    commit(project, "Point elsewhere")
    git(project, "branch", "fork")
    git(project, "reset", "--hard", "--quiet", "HEAD~1")
    assert project.thresholds.read_text() == original
    assert accepted_by(project, "fork", accept=True) == []


@pytest.mark.slow
def test_it_stops_as_soon_as_everything_is_decided(project: Project) -> None:
    change(project, "x")
    watch = Notebook()
    record = measure(project, rounds=20, watch=watch)
    assert max(trial.round for trial in record.trials) < 20
    assert watch.notes[-1].startswith("x: same: loss") or "x: same: loss" in watch.notes
    assert verdict(project, record).outcome == "pass"


@pytest.mark.slow
def test_too_little_time_is_said_before_anything_is_built(project: Project) -> None:
    assert notes_of(project, Budget(5.0))[0].startswith("2 rounds can hardly decide anything: give --max-time ")
    assert not any("hardly" in note for note in notes_of(project, Budget(3600.0)))


def notes_of(project: Project, budget: Budget) -> list[str]:
    watch = Notebook()
    request = CompareRequest("tiny", "smoke", "HEAD", budget=budget)
    compare(project, request, UNVERIFIED, thresholds_of(project), watch)
    return watch.notes


@pytest.mark.slow
def test_both_arms_run_at_the_same_time_unless_somebody_wants_turns(project: Project) -> None:
    change(project, "x")
    watch = Stopwatch()
    record = measure(project, rounds=1, watch=watch)
    assert [trial.together for trial in record.trials] == [True, True]
    assert watch.took < 0.8 * sum(trial.seconds for trial in record.trials)
    record = measure(project, rounds=1, together=False)
    assert [trial.together for trial in record.trials] == [False, False]


@pytest.mark.slow
@pytest.mark.timed
def test_arms_that_are_too_much_for_their_cpus_go_on_in_turns(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validity, "SHARED_CPU_MOST", 0.1)  # a virtual machine may get no more than a fifth of its CPUs
    add_server(project, "z", "busy")
    commit(project, "Add a busy one")
    change(project, "z")
    watch = Notebook()
    record = measure(project, rounds=3, watch=watch)
    assert [(trial.round, trial.together) for trial in record.trials] == [
        (1, True), (1, True), (2, False), (2, False), (3, False), (3, False)
    ]  # fmt: skip
    assert [trial.validity.valid for trial in record.trials] == [False] * 2 + [True] * 4
    assert "z: both arms overload the CPUs they share: from now on one at a time" in watch.notes
    assert "z: 2 of 3 trials are valid, only those are judged" in verdict(project, record).notes


@pytest.mark.slow
def test_a_head_that_fails_is_judged_by_that_and_not_measured_on(project: Project) -> None:
    file = project.servers / "x" / "server.yml"
    file.write_text(file.read_text().replace('FAKE: ""', 'FAKE: "dies"'))
    record = measure(project, rounds=20)
    assert {trial.round for trial in record.trials} == {1}
    found = verdict(project, record)
    assert outcomes(found)["x"] == "fail"
    assert found.reasons[0].startswith("x: failed in round 1: load: the server ended under load")


@pytest.mark.slow
def test_a_base_that_fails_is_told_and_not_passed(project: Project) -> None:
    file = project.servers / "x" / "server.yml"
    sound = file.read_text()
    file.write_text(sound.replace('FAKE: ""', 'FAKE: "dies"'))
    commit(project, "Break it")
    file.write_text(sound)
    record = measure(project, rounds=20)
    assert {trial.round for trial in record.trials} == {1, 2}
    found = verdict(project, record)
    assert outcomes(found)["x"] == "inconclusive"
    assert any(note.startswith("x: failed in round 1 of the base: load: ") for note in found.notes)


@pytest.mark.slow
def test_nothing_changed_is_not_measured_and_said(project: Project) -> None:
    request = CompareRequest("tiny", "smoke", "HEAD")
    record = compare(project, request, UNVERIFIED, thresholds_of(project), Notebook())
    assert record.trials == []
    found = verdict(project, record)
    assert found.outcome == "pass"
    assert found.notes[:2] == [f"{server}: not measured: its build is that of the base" for server in ("x", "y")]


@pytest.mark.slow
def test_a_server_that_the_base_does_not_have_is_not_passed(project: Project) -> None:
    add_server(project, "z")
    found = verdict(project, measure(project))
    assert outcomes(found) == {"x": "pass", "y": "pass", "z": "inconclusive"}
    assert found.outcome == "inconclusive"
    assert found.reasons == ["z: not compared: the base does not have it: there is nothing to compare with"]


@pytest.mark.slow
def test_a_base_that_does_not_build_is_not_passed(project: Project) -> None:
    file = project.servers / "x" / "server.yml"
    sound = file.read_text()
    file.write_text(sound.replace("import os;", "raise SystemExit(5);"))
    commit(project, "Break it")
    file.write_text(sound)
    found = verdict(project, measure(project))
    assert outcomes(found)["x"] == "inconclusive"
    assert found.reasons[0].startswith("x: not compared: the server of the base does not work: build: ")


@pytest.mark.slow
def test_another_head_is_measured_with_this_harness(project: Project) -> None:
    change(project, "x")
    commit(project, "Change it")
    change(project, "y")  # in the work tree, which is not compared
    request = CompareRequest("tiny", "smoke", "HEAD~1", head="HEAD", budget=Budget(600.0, 1))
    record = compare(project, request, UNVERIFIED, thresholds_of(project), Notebook())
    assert record.commit
    assert (record.commit.subject, record.commit.dirty) == ("Change it", False)
    assert record.comparison
    assert record.comparison.identical == ["y"]


def test_a_base_that_does_not_exist_and_no_git_at_all_are_said(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unknown commit 'v9'.*fetch it first"):
        measure(project, base="v9")
    with pytest.raises(UserError, match="unknown commit '--help'"):
        measure(project, base="--help")
    bare = make_project(tmp_path / "bare", x="")
    bare.thresholds.write_text(project.thresholds.read_text())
    with pytest.raises(UserError, match="not a git checkout"):
        measure(bare)


def test_thresholds_without_a_margin_are_nothing_to_compare_by(project: Project) -> None:
    project.thresholds.write_text(project.thresholds.read_text().partition("    regressions")[0])
    with pytest.raises(UserError, match="no metric of tiny has a margin"):
        measure(project)


@pytest.mark.slow
def test_an_interrupted_comparison_keeps_what_was_measured(project: Project) -> None:
    change(project, "x")
    with pytest.raises(Interrupted) as interrupted:
        measure(project, watch=Notebook(interrupt_at=2))
    kept = store.read_record(interrupted.value.path)
    assert len(kept.trials) == 2
    assert verdict(project, kept).outcome == "inconclusive"


@pytest.mark.slow
def test_trees_of_old_bases_do_not_pile_up(project: Project) -> None:
    for number in range(5):
        (project.root / "NEWS").write_text(str(number))
        commit(project, f"News {number}")
        measure(project)
    assert len(list((project.cache / "trees").glob("?" * 40))) == 3
