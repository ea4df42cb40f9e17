"""A run measures every server that can be measured, keeps every trial, and goes on where it was interrupted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench import conformance, limits, needs, preparation, run, store
from pushbench.driver_choice import DriverChoice
from pushbench.drivers import Build, Driver
from pushbench.environment import CpuSplit
from pushbench.errors import UserError
from pushbench.measuring import GaveWay, Interrupted, Options
from pushbench.needs import Limits
from pushbench.process_driver import ProcessDriver
from pushbench.progress import Follower
from pushbench.project import Project
from pushbench.record import Failure, Finding, PlannedTrial, Record, Schedule, Trial, Validity
from pushbench.report import render_terminal
from pushbench.run import Request
from pushbench.site import runfile
from pushbench.suites import Load
from pushbench.thresholds import NO_THRESHOLDS, read_thresholds
from pushbench.toolchains import Toolset
from pushbench.verdict import Verdict, judge
from tests.factories import ENVIRONMENT, make_record, make_trial
from tests.support import add_server, fake_generator, make_project

UNVERIFIED = Options(DriverChoice("process"), verify=False)


class Notebook(Follower):
    """Keeps what a run says; raises KeyboardInterrupt when the trial begins that `interrupt_at` names."""

    def __init__(self, interrupt_at: int = -1) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.shown: list[str] = []
        self._interrupt_at = interrupt_at

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self, what: str) -> None:
        self.shown.append(what)

    def trial(self, planned: PlannedTrial, total: int, schedule: Schedule, seconds_left: float) -> None:
        if planned.order == self._interrupt_at:
            raise KeyboardInterrupt
        super().trial(planned, total, schedule, seconds_left)


@pytest.fixture(autouse=True)
def no_real_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    binary = fake_generator(tmp_path / "fake-k6")
    monkeypatch.setattr(preparation, "build_generator", lambda *_: binary)
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    yield


def request(*servers: str, **parameters: str) -> Request:
    return Request("tiny", "smoke", servers, parameters)


def measure(
    project: Project, *servers: str, watch: Notebook | None = None, how: Options = UNVERIFIED, **parameters: str
) -> Record:
    return run.run(project, request(*servers, **parameters), how, watch or Notebook())


def by_server(record: Record) -> dict[str, Trial]:
    return {trial.server: trial for trial in record.trials}


def test_a_run_is_a_record_on_disk_with_what_was_measured(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="")
    record = measure(project)
    assert store.read_record(store.find_record(project.records)) == record
    assert record.complete
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
    """The only trial of a server that ends in a load of three stages when the generator says so, and what it amounts
    to."""
    project = make_project(tmp_path / "checkout", x="")
    suite = project.scenarios / "tiny.yml"
    stages = "  crash: {<<: *short, stages: [10, 20, 30], settle_seconds: 0.6, steady_seconds: 0.2}\n"
    suite.write_text(suite.read_text() + stages)
    record = run.run(project, Request("tiny", "crash", ("x",), {"behaviour": behaviour}), UNVERIFIED, Notebook())
    thresholds = read_thresholds(project.thresholds, suites={"tiny": ["10", "20", "30"]}, servers={"x": "tiny"})
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


def test_an_interrupted_run_keeps_its_trials_and_goes_on(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="", y="", z="")
    with pytest.raises(Interrupted) as raised:
        measure(project, watch=Notebook(interrupt_at=2))
    path = store.find_record(project.records, raised.value.record.id)
    before = store.read_record(path)
    assert len(before.trials) == 2
    after = run.resume(project, path, UNVERIFIED, Notebook())
    assert after.complete
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


TAKEN = "the hypervisor took 2.1 % of the CPU time, above 1 %"


def disturbed(trial: Trial, *codes: str) -> Trial:
    reasons = [Finding(code=code, message=TAKEN if code == "steal" else code, stage=0) for code in codes]
    return trial.model_copy(update={"validity": Validity(valid=not reasons, reasons=reasons, warnings=[])})


def measure_these(folder: Path, monkeypatch: pytest.MonkeyPatch, *found: Trial | None) -> tuple[Record, list[str]]:
    """A run of one server whose trials come out like these, one after the other; None ends it in that trial."""
    coming = iter(found)

    def measure_one(*_: object) -> Trial:
        if (trial := next(coming)) is None:
            raise KeyboardInterrupt
        return trial

    monkeypatch.setattr(run, "measure_one", measure_one)
    watch = Notebook()
    prepared: Any = SimpleNamespace(server=SimpleNamespace(id="x"))
    bench: Any = None
    planned = [make_trial("x", round_) for round_ in (1, 2)]
    record = make_record([], planned=planned)
    try:
        record = run._measure(folder, record, bench, [prepared], watch, give_way=None)
    finally:
        assert next(coming, "none") == "none", "each of these trials was measured"
    return record, watch.notes


def test_a_disturbed_trial_is_measured_again_once_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, last = (make_trial("x", round_, seconds=seconds) for round_, seconds in ((1, 60), (1, 61), (2, 62)))
    record, notes = measure_these(tmp_path, monkeypatch, disturbed(first, "steal", "swap"), second, last)
    assert [trial.seconds for trial in record.trials] == [61, 62]
    assert [[each.code for each in trial.repeated] for trial in record.trials] == [["steal", "swap"], []]
    assert store.read_record(store.find_record(tmp_path)) == record
    assert "x: the hypervisor took 2.1 % of the CPU time, above 1 %: measured again, once" in notes
    shown = render_terminal(record, judge(record, NO_THRESHOLDS), width=200)
    assert "x, round 1: measured again: the hypervisor took 2.1 % of the CPU time" in shown
    site = runfile.run(record, judge(record, NO_THRESHOLDS))["servers"][0]["of"]
    assert site[0]["warnings"][0].startswith("measured again: the hypervisor took 2.1 %")


def test_a_trial_that_is_disturbed_twice_stays_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [make_trial("x", 1), make_trial("x", 1), make_trial("x", 2)]
    found = [disturbed(trials[0], "steal"), disturbed(trials[1], "clock_step"), trials[2]]
    record, _ = measure_these(tmp_path, monkeypatch, *found)
    assert [trial.validity.valid for trial in record.trials] == [False, True]
    assert [each.code for each in record.trials[0].validity.reasons] == ["clock_step"]
    assert [each.code for each in record.trials[0].repeated] == ["steal"]


@pytest.mark.parametrize(
    "codes", [[], ["generator_cpu"], ["steal", "generator_failed"], ["generator_shortage"], ["clients_missing"]]
)
def test_nothing_else_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: list[str]) -> None:
    record, _ = measure_these(tmp_path, monkeypatch, disturbed(make_trial("x", 1), *codes), make_trial("x", 2))
    assert [trial.repeated for trial in record.trials] == [[], []]


def test_a_server_that_failed_is_not_measured_until_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rude = disturbed(make_trial("x", 1), "steal").model_copy(update={"failure": Failure(step="stop", message="code 1")})
    record, _ = measure_these(tmp_path, monkeypatch, rude, make_trial("x", 2))
    assert record.trials[0] == rude


def test_a_run_that_ends_in_the_second_measurement_has_that_trial_still_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Interrupted):
        measure_these(tmp_path, monkeypatch, disturbed(make_trial("x", 1), "steal"), None)
    assert store.read_record(store.find_record(tmp_path)).trials == []


def test_a_complete_record_is_not_measured_again(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="")
    record = measure(project)
    watch = Notebook()
    assert run.resume(project, store.find_record(project.records), UNVERIFIED, watch) == record
    assert watch.notes == [f"{record.id}: all 1 trials are there"]


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
    with pytest.raises(UserError, match="it was begun in another environment"):
        run.resume(project, path, UNVERIFIED, Notebook())


@pytest.mark.parametrize(
    ("change", "told", "hint"),
    [
        ({"method": None}, "it was begun by method 1, this Pushbench measures by method 2", "start a new run"),
        ({"generators": 3}, "it was begun with 3 generators, now 1", "add --generators 3"),
    ],
)
def test_a_run_by_another_method_or_with_other_generators_cannot_be_resumed(
    tmp_path: Path, change: dict[str, int | None], told: str, hint: str
) -> None:
    project = make_project(tmp_path / "checkout", x="", y="")
    with pytest.raises(Interrupted) as raised:
        measure(project, watch=Notebook(interrupt_at=1))
    record = raised.value.record
    before = record.model_copy(update={"environment": record.environment.model_copy(update=change)})
    path = store.write_record(project.records, before)
    with pytest.raises(UserError, match=told) as refused:
        run.resume(project, path, replace(UNVERIFIED, generators=1), Notebook())
    assert refused.value.hint == hint


def test_the_number_of_generators_is_in_the_record_and_in_its_series(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="")
    one, two = (measure(project, how=replace(UNVERIFIED, generators=count)) for count in (1, 2))
    assert (one.environment.generators, two.environment.generators) == (None, 2)
    assert one.environment.key != two.environment.key


def test_a_machine_with_few_files_and_ports_has_more_generators_and_addresses_and_doubts_its_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "checkout", x="")
    monkeypatch.setattr(limits, "read_limits", lambda: Limits(open_files=19, ports=18))
    monkeypatch.setattr(needs, "OWN_FILES", 5)
    watch = Notebook()
    record = measure(project, watch=watch)
    plan = json.loads((project.cache / "load" / "load.json").read_text())
    assert (plan["generators"], plan["sources"]) == (2, ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
    assert record.environment.generators == 2
    validity = record.trials[0].validity
    assert validity.valid
    assert [each.code for each in validity.warnings][-2:] == ["server_open_files", "not_verified"]
    assert [note.partition(",")[0] for note in watch.notes[:3]] == [
        "2 generators",
        "clients connect from 3 addresses",
        "a process may open 19 files (`ulimit -n`)",
    ]


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


def test_too_few_generators_are_refused_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "checkout", x="")
    monkeypatch.setattr(limits, "read_limits", lambda: Limits(open_files=115, ports=28_232))
    watch = Notebook()
    with pytest.raises(UserError, match="--generators 1 is too few"):
        measure(project, watch=watch, how=replace(UNVERIFIED, generators=1))
    assert (watch.notes, project.records.exists()) == ([], False)


def test_a_shortage_of_the_generators_machine_is_invalid_and_says_what_to_raise(tmp_path: Path) -> None:
    record = measure(make_project(tmp_path / "checkout", x=""), behaviour="short")
    [only] = record.trials
    assert (only.failure, only.validity.valid) == (None, False)
    verdict = judge(record, NO_THRESHOLDS)
    assert verdict.reasons == [
        "x: no trial is valid: 3 connections failed because the generator had no open file left: "
        "raise `ulimit -n`, or add --generators (generator_shortage)"
    ]


def conformance_that(monkeypatch: pytest.MonkeyPatch, *broken: str) -> list[str]:
    """Rules that only the named servers break; returns the list of servers that were verified."""
    verified: list[str] = []

    def gate(server: SimpleNamespace, *_: object) -> SimpleNamespace:
        verified.append(server.id)
        failures = [SimpleNamespace(name="fan-out", detail="3 of 4", log_tail="")] if server.id in broken else []
        return SimpleNamespace(passed=not failures, failures=failures, rules=[None] * 15)

    monkeypatch.setattr(conformance, "gate", gate)
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
    with pytest.raises(UserError, match="y needs the service 'hamster'; Pushbench can start redis"):
        measure(project, "y")
