"""A run that was interrupted or gave way continues in the same record, unless what it measures has changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushbench.catalog.suites import Load
from pushbench.drivers.choice import DriverChoice
from pushbench.drivers.driver import Driver
from pushbench.drivers.kubernetes import ClusterChoice
from pushbench.foundation.errors import UserError
from pushbench.machine.awake import DEVICE, SWITCH
from pushbench.measuring import preparation, run
from pushbench.measuring.common import GaveWay, Interrupted, Options
from pushbench.measuring.run import cluster_of
from pushbench.records import store
from pushbench.records.record import Cluster
from tests.factories import ENVIRONMENT, make_record, make_trial
from tests.support import make_project
from tests.tiny_runs import UNVERIFIED, Notebook, measure, request
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow


def test_an_interrupted_run_keeps_its_trials_and_goes_on(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="", y="", z="")
    with pytest.raises(Interrupted) as raised:
        measure(project, watch=Notebook(interrupt_at=2))
    path = store.find_record(project.records, raised.value.record.id)
    before = store.read_record(path)
    assert len(before.trials) == 2
    assert not before.watched
    after = run.resume(project, path, replace(UNVERIFIED, watched=True), Notebook())
    assert after.complete
    assert after.watched, "a part of it was drawn in a terminal"
    assert after.trials[:2] == before.trials
    assert store.read_record(path) == after


def test_a_run_gives_way_between_two_servers_and_goes_on_as_the_same_record(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="", y="", z="")
    asked: list[int] = []

    def give_way() -> str | None:
        asked.append(len(asked))
        return "a pull request's run 9"

    polite = replace(UNVERIFIED, give_way=give_way)
    with pytest.raises(GaveWay) as raised:
        run.run(project, request(), polite, Notebook())
    path = store.find_record(project.records)
    assert [len(store.read_record(path).trials), len(asked)] == [1, 1], "it is asked between servers only"
    assert raised.value.reason == "a pull request's run 9"
    with pytest.raises(GaveWay):
        run.resume(project, path, polite, Notebook())
    after = run.resume(project, path, polite, Notebook())
    assert after.complete, "each sitting measures a server, and after the last one there is nothing to give way for"
    assert len(asked) == 2
    assert sorted(trial.server for trial in after.trials) == ["x", "y", "z"]
    assert after.id == raised.value.record.id


def test_a_complete_record_is_not_measured_again(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="")
    record = measure(project)
    watch = Notebook()
    assert run.resume(project, store.find_record(project.records), UNVERIFIED, watch) == record
    assert watch.notes == [f"{record.id} is complete: 1 trial"]


def test_a_changed_server_cannot_be_resumed(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="", y="")
    with pytest.raises(Interrupted) as raised:
        measure(project, watch=Notebook(interrupt_at=1))
    first = raised.value.record.trials[0].server
    (project.servers / first / "new.py").write_text("changed = True\n")
    path = store.find_record(project.records)
    with pytest.raises(UserError, match=f"cannot be resumed: {first} has changed since; start a new run"):
        run.resume(project, path, UNVERIFIED, Notebook())


def test_another_environment_cannot_be_resumed(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="", y="")
    with pytest.raises(Interrupted) as raised:
        measure(project, watch=Notebook(interrupt_at=1))
    record = raised.value.record
    moved = record.model_copy(update={"environment": record.environment.model_copy(update={"key": "elsewhere"})})
    path = store.write_record(project.records, moved)
    with pytest.raises(UserError, match="it was started in another environment"):
        run.resume(project, path, UNVERIFIED, Notebook())


@pytest.mark.parametrize(
    ("change", "told", "hint"),
    [
        ({"method": None}, "it was started with method 1, this Pushbench uses method 2", "start a new run"),
        ({"generators": 3}, "it was started with 3 generators, now 1", "add --generators 3"),
        ({"awake": True}, "it kept its CPUs awake, now they may halt", f"let this user write {DEVICE}"),
    ],
)
def test_a_run_that_was_measured_otherwise_cannot_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, int | None], told: str, hint: str
) -> None:
    monkeypatch.setenv(SWITCH, "0")
    project = make_project(tmp_path / "checkout", x="", y="")
    with pytest.raises(Interrupted) as raised:
        measure(project, watch=Notebook(interrupt_at=1))
    record = raised.value.record
    before = record.model_copy(update={"environment": record.environment.model_copy(update=change)})
    path = store.write_record(project.records, before)
    with pytest.raises(UserError, match=told) as refused:
        run.resume(project, path, replace(UNVERIFIED, generators=1), Notebook())
    assert refused.value.hint == hint


def test_a_resumed_run_has_the_generators_that_it_began_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path / "checkout", x="")
    environment = ENVIRONMENT.model_copy(update={"generators": 2})
    begun = make_record([], planned=[make_trial("x")], suite="tiny", profile="smoke", environment=environment)
    path = store.write_record(project.records, begun)

    def means_of(_load: Load, _driver: Driver, options: Options, _note: object) -> None:
        raise UserError(f"{options.generators} generators")

    monkeypatch.setattr(run, "means_of", means_of)
    with pytest.raises(UserError, match="2 generators"):
        run.resume(project, path, UNVERIFIED, Notebook())
    with pytest.raises(UserError, match="5 generators"):
        run.resume(project, path, replace(UNVERIFIED, generators=5), Notebook())


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (ClusterChoice(), ClusterChoice("stage", "team", 2)),
        (ClusterChoice("test", generators=5), ClusterChoice("test", "team", 5)),
        (ClusterChoice(prefix="mine"), ClusterChoice("stage", "mine", 2)),
    ],
)
def test_a_resumed_run_goes_on_in_its_cluster(
    said: ClusterChoice, meant: ClusterChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "checkout", x="")
    environment = ENVIRONMENT.model_copy(update={"driver": "kubernetes", "generators": 2})
    cluster = Cluster(context="stage", namespace_prefix="team")
    changed: dict[str, Any] = {"suite": "tiny", "profile": "smoke", "environment": environment, "cluster": cluster}
    path = store.write_record(project.records, make_record([], planned=[make_trial("x")], **changed))
    asked: list[DriverChoice] = []

    def select_servers(*arguments: Any) -> None:
        asked.append(arguments[-1])
        raise UserError("no cluster")

    monkeypatch.setattr(preparation, "select_servers", select_servers)
    with pytest.raises(UserError, match="no cluster"):
        run.resume(project, path, Options(DriverChoice(cluster=said)), Notebook())
    assert [(each.wanted, each.cluster) for each in asked] == [("kubernetes", meant)]


def test_a_record_keeps_what_was_said_of_the_cluster() -> None:
    said = ClusterChoice("stage", "team", 2)
    kept = cluster_of("kubernetes", said)
    assert kept == Cluster(context="digest:c7ff6dcd", namespace_prefix="team"), "no name, which may contain an account"
    assert cluster_of("kubernetes", ClusterChoice(kept.context, "team", 2)) == kept
    assert cluster_of("docker", said) is None
