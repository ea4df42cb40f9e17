"""A run measures every server that can be measured, and keeps every trial even if others fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pushbench import conformance
from pushbench.building.toolchains import Toolset
from pushbench.catalog.failures import ServerFailed
from pushbench.conformance import Conformance, RuleResult
from pushbench.conformance.side_by_side import Watch
from pushbench.drivers.choice import DriverChoice
from pushbench.drivers.driver import Build
from pushbench.drivers.process import ProcessDriver
from pushbench.foundation.errors import UserError
from pushbench.generator.load import Account, RunningLoad
from pushbench.judging.thresholds_reader import read_thresholds
from pushbench.judging.verdict import Verdict, judge
from pushbench.machine.awake import SWITCH, may_stay_awake
from pushbench.machine.environment import CpuSplit
from pushbench.measuring import preparation, run
from pushbench.measuring.common import Options
from pushbench.measuring.run import RunRequest
from pushbench.measuring.verifying import Built
from pushbench.records import store
from pushbench.records.record import Finding, Trial
from tests.factories import known_suite
from tests.support import add_server, make_project
from tests.tiny_runs import UNVERIFIED, Notebook, by_server, measure, request
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow


def test_a_run_is_a_record_on_disk_with_what_was_measured(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="")
    record = measure(project, behaviour="drains")  # on a busy machine the last sample of the generator is late
    assert store.read_record(store.find_record(project.records)) == record
    assert record.complete
    assert not record.repeats_disturbed, "as the profile says"
    assert (record.suite, record.profile, record.parameters["board_size"]) == ("tiny", "smoke", 10)
    only = record.trials[0]
    assert only.failure is None
    assert only.reported
    assert only.reported.server == "x"
    assert [stage.clients for stage in only.stages] == [20]
    metrics = only.stages[0].metrics
    assert metrics["loss_ratio"] == 0
    for measured in ("cpu_cores", "memory_bytes.peak", "generator_cpu_cores", "threads"):
        assert metrics[measured] is not None, measured
    assert only.timeline
    assert only.resources


@pytest.mark.parametrize("halting", [False, True])
def test_a_record_says_what_idle_cpus_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, halting: bool) -> None:
    may = may_stay_awake()
    if halting:
        monkeypatch.setenv(SWITCH, "0")
    environment = measure(make_project(tmp_path / "checkout", x="")).environment
    assert environment.awake is (True if may and not halting else None)


def test_a_server_that_fails_keeps_its_place_and_the_others_go_on(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", good="", late="exits", other="wrong_id", rude="rude")
    record = measure(project)
    trials = by_server(record)
    assert record.complete
    assert trials["good"].failure is None
    assert trials["late"].failure
    assert trials["late"].failure.step == "start"
    assert not trials["other"].validity.valid
    assert trials["other"].validity.reasons[0].code == "wrong_server"
    assert trials["rude"].failure
    assert trials["rude"].failure.message == "the server ended with exit code 1 after SIGTERM, expected exit code 0"
    assert trials["rude"].stages


def crash(tmp_path: Path, behaviour: str) -> tuple[Trial, Verdict]:
    """The only trial of a server that ends during a load of three stages, on a signal of the generator, and its
    verdict."""
    project = make_project(tmp_path / "checkout", x="")
    suite = project.scenarios / "tiny.yml"
    stages = "  crash: {<<: *short, stages: [10, 20, 30], settle_seconds: 0.6, steady_seconds: 0.2}\n"
    suite.write_text(suite.read_text() + stages)
    record = run.run(project, RunRequest("tiny", "crash", ("x",), {"behaviour": behaviour}), UNVERIFIED, Notebook())
    thresholds = read_thresholds(
        project.thresholds, suites={"tiny": known_suite("10", "20", "30")}, servers={"x": "tiny"}
    )
    return record.trials[0], judge(record, thresholds)


def test_a_server_that_dies_under_load_keeps_the_stages_until_then_and_fails(tmp_path: Path) -> None:
    only, verdict = crash(tmp_path, "kills:1")
    assert only.failure
    assert (only.failure.step, only.failure.message) == ("load", "the server ended under load with exit code 9")
    assert "hello" in only.failure.log_tail
    assert only.validity.valid
    assert [stage.clients for stage in only.stages] == [10, 20], "the load went on to the end of the second, not more"
    assert only.stages[0].metrics["cpu_cores"] is not None
    assert only.stages[1].metrics["cpu_cores"] is None, "nobody knows what a server used that is gone"
    assert only.timeline
    assert only.resources
    assert (verdict.outcome, [limit.outcome for limit in verdict.limits]) == ("fail", ["pass", "pass", "unknown"])


@pytest.mark.parametrize("behaviour", ["kills:start", "kills:0:silent"])
def test_a_server_that_dies_before_anything_is_measured_fails_and_the_generator_does_not_hide_it(
    tmp_path: Path, behaviour: str
) -> None:
    only, verdict = crash(tmp_path, behaviour)
    assert only.failure
    assert only.failure.step == "load"
    assert only.validity.valid
    assert (only.stages, only.timeline) == ([], None)
    assert only.validity.warnings[0].code == "no_load_report"
    assert verdict.outcome == "fail"


def test_a_cluster_that_ended_server_and_load_is_named_and_the_trial_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = Finding(code="pod_lost", message="the pod of the server was removed")
    monkeypatch.setattr(RunningLoad, "account", Account(reasons=[moved]))
    only, _ = crash(tmp_path, "kills:start")
    assert only.failure
    assert (only.validity.valid, only.validity.reasons) == (False, [moved])


def test_a_build_that_fails_is_the_servers_failure(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", good="", bad="")
    file = project.servers / "bad" / "server.yml"
    file.write_text(file.read_text().replace("import os;", "raise SystemExit(5);"))
    watch = Notebook()
    trials = by_server(measure(project, watch=watch))
    assert trials["bad"].failure
    assert trials["bad"].failure.step == "build"
    assert trials["good"].failure is None
    assert any(note.startswith("bad: failed to build: `python -c") for note in watch.notes)


def test_a_generator_that_fails_makes_the_trial_invalid_and_accuses_no_server(tmp_path: Path) -> None:
    only = measure(make_project(tmp_path / "checkout", x=""), behaviour="crash").trials[0]
    assert only.failure is None
    assert not only.validity.valid
    assert only.validity.reasons[0].code == "generator_failed"
    assert "exit code 107" in only.validity.reasons[0].message


def test_a_missing_toolchain_leaves_the_server_out_by_name(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="", y="")
    file = project.servers / "y" / "server.yml"
    file.write_text(file.read_text().replace('python: ">=3.11"', 'no-such-tool: ">=2"'))
    watch = Notebook()
    record = measure(project, watch=watch)
    assert [trial.server for trial in record.trials] == ["x"]
    assert [each.server for each in record.skipped] == ["y"]
    assert watch.notes[0] == "y: skipped: needs no-such-tool >=2: install no-such-tool on the PATH"
    with pytest.raises(UserError, match="no server of tiny can be built here"):
        measure(project, "y")


def conformance_that(monkeypatch: pytest.MonkeyPatch, *broken: str) -> list[str]:
    """Patch the rules so that only the named servers break them; returns the list of servers that were verified."""
    verified: list[str] = []

    def verify_built(built: Sequence[Built], _: int, watch: Watch) -> list[Conformance]:
        found = []
        for place, each in enumerate(built):
            verified.append(each.server.id)
            fails = each.server.id in broken
            outcome: dict[str, Any] = {"outcome": "failed", "detail": "3 of 4"} if fails else {"outcome": "passed"}
            rule = RuleResult(name="fan-out", statement="All get it.", seconds=0, **outcome)
            spec = each.server.spec
            found.append(
                Conformance(server=each.server.id, suite=spec.suite, protocol=spec.protocol, digest="", rules=[rule])
            )
            watch.found(place, found[-1])
        return found

    monkeypatch.setattr(preparation, "verify_built", verify_built)
    return verified


def test_a_server_that_breaks_a_rule_is_not_measured_and_the_rule_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conformance_that(monkeypatch, "bad")
    project = make_project(tmp_path / "checkout", good="", bad="")
    trials = by_server(run.run(project, request(), Options(DriverChoice("process")), Notebook()))
    assert trials["bad"].failure
    assert (trials["bad"].failure.step, trials["bad"].failure.message) == ("verify", "breaks fan-out: 3 of 4")
    assert trials["good"].failure is None
    assert trials["good"].validity.warnings == [
        each for each in trials["good"].validity.warnings if each.code != "not_verified"
    ]


def test_a_server_that_does_not_start_to_be_verified_has_failed_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = ServerFailed("start", "it is dead", "its last words")
    found = conformance.unverified("x", "tiny", "tiny-json", failed)
    monkeypatch.setattr(preparation, "verify_built", lambda *_: [found])
    project = make_project(tmp_path / "checkout", x="")
    only = by_server(run.run(project, request(), Options(DriverChoice("process")), Notebook()))["x"]
    assert only.failure == failed.failure


def test_a_server_that_passed_is_verified_again_only_when_it_or_the_rules_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = conformance_that(monkeypatch)
    project = make_project(tmp_path / "checkout")
    server = add_server(project, "x")
    driver = ProcessDriver(project, CpuSplit([0], [0]))

    def prepare(digest: str) -> None:
        built = preparation.Prepared(server, digest, Build("x", digest, Toolset()))
        preparation.verify_all(project, [built], driver, lambda _: None)

    prepare("first")
    prepare("first")
    assert verified == ["x"]
    prepare("second")
    monkeypatch.setattr(conformance, "digest", lambda: "other rules")
    prepare("second")
    assert verified == ["x", "x", "x"]


def test_an_unverified_trial_says_so(tmp_path: Path) -> None:
    only = measure(make_project(tmp_path / "checkout", x="")).trials[0]
    assert only.validity.warnings[-1].code == "not_verified"


def test_a_server_of_another_suite_or_with_an_unknown_service_is_refused(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="", y="")
    x, y = (project.servers / name / "server.yml" for name in ("x", "y"))
    x.write_text(x.read_text().replace("suite: tiny", "suite: other"))
    y.write_text(y.read_text().replace("process:", "services: [hamster]\nprocess:"))
    with pytest.raises(UserError, match="x belongs to the suite 'other', not to 'tiny'"):
        measure(project, "x")
    with pytest.raises(UserError, match="y needs the service 'hamster'; Pushbench can start redis, mysql"):
        measure(project, "y")
