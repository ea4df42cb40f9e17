"""The steps of a plan are executed in order, and the folder always contains the results so far."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.ci import sharding
from pushbench.ci.benching import Bench
from pushbench.ci.plan import Plan
from pushbench.ci.result import Result, read_results, write_result
from pushbench.ci.steps import Step
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.records import history
from pushbench.records.record import Record
from tests.ci import shards
from tests.ci.job_results import make_plan
from tests.factories import LIMITS, make_record, make_thresholds, make_trial, measured
from tests.support import make_project

MARGINS = "    regressions:\n      cpu_seconds_per_delivery: {margin: 5%}\n"
LAUNCHER = """\
#!{python}
import os, pathlib, sys, time
arguments = sys.argv[1:]
out = pathlib.Path(arguments[arguments.index("--out") + 1])
pathlib.Path({log!r}).open("a").write(" ".join(arguments) + "\\n")
what = arguments[0]
if what == "wrong":
    print("::error::pushbench: whiteboard: no server 'nod-ws'", file=sys.stderr)
    sys.exit(2)
if what == "killed":
    os.kill(os.getpid(), 9)
if what == "long":
    print("measuring", file=sys.stderr, flush=True)
    time.sleep(60)
(out / "records").mkdir(parents=True)
(out / "records" / "20261121T101500Z-1a2b3c.json").write_bytes(pathlib.Path({record!r}).read_bytes())
sys.exit({{"run": 0, "compare": 1, "cut": 130}}[what])
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "checkout", alpha="")


def prepare(project: Project, record: Record) -> None:
    """A launcher that replaces the command line and logs its calls."""
    file, launcher = project.root / "record.json", project.root / "pushbench"
    file.write_bytes(record.model_dump_json(by_alias=True).encode())
    text = LAUNCHER.format(python=sys.executable, log=str(project.root / "log"), record=str(file))
    launcher.write_text(text.replace("{{", "{").replace("}}", "}"))
    launcher.chmod(0o755)


def plan(*what: str) -> Plan:
    kinds = {"compare": "compare", "control": "control"}
    return make_plan(
        *(
            Step.model_validate(
                {"kind": kinds.get(each, "run"), "arguments": [each], "servers": ["node-ws"], "why": "it is asked for"}
            )
            for each in what
        )
    )


def bench(project: Project, planned: Plan, store: Path | None = None) -> Bench:
    shutil.rmtree(project.out / "ci", ignore_errors=True)
    thresholds = make_thresholds(project.root / "..", LIMITS + MARGINS)
    return Bench(project, project.out / "ci", planned, thresholds, project.out / "results", store, lambda _: None)


def test_each_step_has_its_record_and_its_verdict(project: Project) -> None:
    prepare(project, make_record([measured("node-ws", {"loss_ratio": 0.5})]))
    result = bench(project, plan("run", "compare")).play()
    assert [step.outcome for step in result.steps] == ["fail", "fail"]
    assert read_results(project.out / "results").measured.keys() == {1, 2}
    first, second = (project.root / "log").read_text().splitlines()
    assert first.startswith("run --wait --driver auto --out ")
    assert second.startswith("compare --wait --driver auto --out ")
    assert second.endswith("step-2")


def test_a_command_that_cannot_be_meant_is_an_error_with_its_last_line(project: Project) -> None:
    prepare(project, make_record([make_trial("node-ws")]))
    result = bench(project, plan("wrong", "run")).play()
    assert [step.outcome for step in result.steps] == ["error", "pass"], "the next step is carried out"
    assert result.steps[0].said == "::error::pushbench: whiteboard: no server 'nod-ws'"
    assert result.outcome == "error"


def test_a_command_that_is_killed_is_an_error(project: Project) -> None:
    prepare(project, make_record([]))
    [step] = bench(project, plan("killed")).play().steps
    assert (step.outcome, step.said) == ("error", "ended with code -9, without a message")


def test_a_run_that_was_cut_is_unfinished_and_its_record_is_kept(project: Project) -> None:
    prepare(project, make_record([make_trial("node-ws")]))
    [step] = bench(project, plan("cut")).play().steps
    assert (step.outcome, step.measured) == ("unfinished", 1)


@pytest.mark.slow
def test_points_of_the_trend_are_judged_by_the_history_and_the_first_ones_have_none(
    project: Project, tmp_path: Path
) -> None:
    record = make_record([make_trial("node-ws")])
    prepare(project, record)
    store = tmp_path / "history"
    store.mkdir()
    assert bench(project, plan("run"), store).play().outcome == "pass"
    verdict = read_results(project.out / "results").measured[1].verdict
    assert any("not judged against the history" in note for note in verdict.notes)
    for number in range(20):
        history.append(store, make_record([make_trial("node-ws")], id=f"20261120T1015{number:02d}Z-1a2b3c"))
    worse = measured("node-ws", {"cpu_seconds_per_delivery": 99e-6})
    prepare(project, make_record([worse]))
    assert bench(project, plan("run"), store).play().outcome == "inconclusive", "one run convinces nobody"
    for number in range(20, 23):
        history.append(store, make_record([worse], id=f"20261120T1015{number:02d}Z-1a2b3c"))
    assert bench(project, plan("run"), store).play().outcome == "fail"
    on_demand = plan("run").model_copy(update={"event": "workflow_dispatch"})
    assert bench(project, on_demand, store).play().outcome == "pass", "of another profile there would be no history"


def test_what_a_machine_does_with_the_control_is_no_verdict_on_the_control(project: Project) -> None:
    prepare(project, make_record([measured("node-ws", {"loss_ratio": 0.5})]))
    machine = plan("run").steps[0].model_copy(update={"kind": "machine"})
    result = replace(bench(project, make_plan(machine)), machine="bench-1").play()
    assert (result.outcome, result.machine) == ("pass", "bench-1")
    read = read_results(project.out / "results")
    assert (read.measured[1].verdict.outcome, read.result.machine) == ("fail", "bench-1")
    [step] = bench(project, make_plan(machine.model_copy(update={"arguments": ["cut"]}))).play().steps
    assert step.outcome == "unfinished"


@pytest.mark.parametrize(("shard", "part", "machine"), [("0", None, None), ("2", 2, "bench-2-x")])
def test_one_of_several_machines_carries_out_its_part_by_name_and_gives_way_to_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, shard: str, part: int | None, machine: str | None
) -> None:
    jobs: list[Bench] = []

    def play(self: Bench) -> None:
        jobs.append(self)
        write_result(self.folder, Result(plan=self.plan, steps=[]))

    monkeypatch.setattr(Bench, "play", play)
    monkeypatch.setattr(Project, "current", lambda: project)
    monkeypatch.setattr("pushbench.cli.ci.bench.conclude", lambda *_: None)
    whole = shards.planned()
    given = {"PLAN": whole.model_dump_json(by_alias=True), "SHARD": shard, "RUNNER_NAME": "-bench/2 \x1bx"}
    given |= {"GITHUB_ACTIONS": "true", "GITHUB_TOKEN": "t", "GITHUB_REPOSITORY": "acme/pushbench"}
    for name, value in (given | {"GITHUB_RUN_ID": "1", "GITHUB_REF_NAME": "main"}).items():
        monkeypatch.setenv(name, value)
    app(["ci", "bench"], standalone_mode=False)
    [job] = jobs
    assert (job.plan.shard, job.machine) == (part, machine)
    assert (job.give_way is None) == (part is not None), "a push on one machine gives way"
    assert job.plan == (sharding.part(whole, part) if part else whole)


@pytest.mark.parametrize("shard", ["4", "-1", "x", "1000"])
def test_a_part_that_there_is_not_is_not_carried_out(monkeypatch: pytest.MonkeyPatch, shard: str) -> None:
    monkeypatch.setenv("PLAN", shards.planned().model_dump_json(by_alias=True))
    monkeypatch.setenv("SHARD", shard)
    with pytest.raises(UserError, match=r"no part 4|SHARD is"):
        app(["ci", "bench"], standalone_mode=False)


@pytest.mark.slow
@pytest.mark.timed
def test_a_job_that_is_cancelled_leaves_what_is_known(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", alpha="")
    prepare(project, make_record([make_trial("node-ws")]))
    environment = {
        **os.environ,
        "PUSHBENCH_ROOT": str(project.root),
        "PLAN": plan("run", "long").model_dump_json(by_alias=True),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_ACTIONS": "true",
    }
    command = [sys.executable, "-m", "pushbench", "ci", "bench"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        assert job.stderr
        for line in job.stderr:
            if "measuring" in line:
                break
        began = time.monotonic()
        job.send_signal(signal.SIGINT)
        said = job.communicate(timeout=20)[0]
    assert time.monotonic() - began < 7.5, "later it would be killed"
    assert job.returncode == 3
    steps = read_results(project.out / "ci" / "results").result.steps
    assert [step.outcome for step in steps] == ["inconclusive", "unfinished"], "no threshold is of its suite"
    assert "unfinished" in (tmp_path / "output").read_text()
    assert "Not finished: `./pushbench long" in (tmp_path / "summary.md").read_text()
    stop, *_, resume = [line for line in said.splitlines() if line.startswith("::")]
    assert stop.removeprefix("::stop-commands::") == resume.strip(":")


@pytest.mark.slow
def test_what_an_earlier_job_left_is_not_taken_for_this_one_s(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(project, make_record([make_trial("node-ws")]))
    monkeypatch.setenv("PUSHBENCH_ROOT", str(project.root))
    for what, outcome in (("run", "inconclusive"), ("wrong", "error")):
        monkeypatch.setenv("PLAN", plan(what).model_dump_json(by_alias=True))
        with pytest.raises(SystemExit):
            app(["ci", "bench"])
        assert read_results(project.out / "ci" / "results").result.outcome == outcome


def test_without_thresholds_nothing_passes(project: Project) -> None:
    prepare(project, make_record([make_trial("node-ws")]))
    job = Bench(project, project.out / "ci", plan("run"), NO_THRESHOLDS, project.out / "results", None, lambda _: None)
    assert job.play().outcome == "inconclusive"
