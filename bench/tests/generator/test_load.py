"""The generator is started as agreed, read every second and killed if it hangs; only a valid report is accepted."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import tail
from pushbench.generator import load as loading
from pushbench.generator.events import Second, Started
from pushbench.generator.load import Generator, LatencyLimit, LoadFailed, LoadPlan, RunningLoad, playing, segments
from pushbench.machine.procfs import read_stat
from pushbench.records.load_report import LoadReport
from pushbench.records.record import Schedule, StagePlan
from tests.samples import load_report, stage_report
from tests.support import fake_generator

pytestmark = pytest.mark.slow

SCHEDULE = Schedule(
    warmup_seconds=0,
    stages=[StagePlan(clients=clients, ramp_seconds=0, settle_seconds=0.3, steady_seconds=0.3) for clients in (20, 40)],
    drain_seconds=1,
)


def generator(tmp_path: Path, processes: int = 1) -> Generator:
    folder = tmp_path / "k6"
    binary = fake_generator(folder)
    cpus = sorted(os.sched_getaffinity(0))
    return Generator(binary, folder, folder / "scenarios" / "tiny.js", cpus, tmp_path / "load", processes)


def plan(behaviour: str = "normal") -> LoadPlan:
    return LoadPlan(
        url="http://127.0.0.1:1",
        protocol="tiny-json",
        seed=7,
        parameters={"behaviour": behaviour},
        schedule=SCHEDULE,
        limits=[LatencyLimit(latency="each", us=2_000)],
    )


def long_plan() -> LoadPlan:
    """A plan whose second stage ends long after the test, however busy the machine is."""
    first, second = SCHEDULE.stages
    stages = [first, second.model_copy(update={"steady_seconds": 60.0})]
    return plan().model_copy(update={"schedule": SCHEDULE.model_copy(update={"stages": stages})})


def play(tmp_path: Path, behaviour: str = "normal", processes: int = 1) -> tuple[list[Started | Second], LoadReport]:
    with playing(generator(tmp_path, processes), plan(behaviour)) as load:
        events = [event for event in load.events() if event]
        return events, load.report()


def test_a_load_is_heard_and_reported(tmp_path: Path) -> None:
    events, report = play(tmp_path)
    started = events[0]
    assert isinstance(started, Started)
    assert [round(end - begin, 2) for begin, end in started.windows] == [0.3, 0.3]
    assert abs(started.at - time.monotonic()) < 5
    seconds = [event for event in events if isinstance(event, Second)]
    assert {(each.received, each.owed, each.headline_p95) for each in seconds} == {(200, 210, 0.0021)}
    assert {tuple(each.exceeded) for each in seconds} == {((3, 200),)}
    assert (report.seed, report.protocol, len(report.stages)) == (7, "tiny-json", 2)


def test_the_generator_gets_the_plan_and_nothing_of_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K6_VUS", "1")
    with playing(generator(tmp_path), plan("hang")) as load:
        environment = Path(f"/proc/{load.pids[0]}/environ").read_text()
    assert "K6_VUS" not in environment
    assert json.loads((tmp_path / "load" / "load.json").read_text()) == plan().model_dump() | {
        "parameters": {"behaviour": "hang"}
    }


def test_the_generators_hear_how_many_they_are_and_where_they_connect_from(tmp_path: Path) -> None:
    two = replace(generator(tmp_path, 2), sources=["127.0.0.2", "127.0.0.3"])
    with playing(two, plan("hang")):
        told = json.loads((tmp_path / "load" / "load.json").read_text())
    assert (told["generators"], told["sources"]) == (2, ["127.0.0.2", "127.0.0.3"])
    assert 0 < told["begin_monotonic_us"] / 1e6 - time.monotonic() <= loading.TOGETHER_SECONDS


def test_two_generators_split_the_clients_and_report_as_one(tmp_path: Path) -> None:
    events, report = play(tmp_path, processes=2)
    assert sum(isinstance(event, Started) for event in events) == 1
    last = [event for event in events if isinstance(event, Second)][-1]
    assert (last.received, last.owed, last.headline_p95) == (400, 420, 0.0021), "a sum, and the highest p95"
    assert last.exceeded == [(6, 400)]
    assert report.segment == "0:1/2,1/2:1"
    assert [stage.clients.target for stage in report.stages] == [20, 40]


def test_segments_are_equal_parts_of_one_sequence() -> None:
    assert segments(1) == [[]]
    sequence = ["--execution-segment-sequence", "0,1/3,2/3,1"]
    assert segments(3) == [["--execution-segment", part, *sequence] for part in ("0:1/3", "1/3:2/3", "2/3:1")]


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        ("crash", r"the generator \(k6\) ended with exit code 107; its last output: the scenario threw an exception"),
        ("garbage", r"the generator \(k6\) wrote a line that is not an event: b'no event'"),
        ("silent", r"the generator \(k6\) wrote no load report"),
        ("newer", "the load report has schema 7, this Pushbench reads 6"),
    ],
)
def test_a_generator_that_fails_is_told(tmp_path: Path, behaviour: str, told: str) -> None:
    with pytest.raises(LoadFailed, match=told):
        play(tmp_path, behaviour)


def test_a_generator_that_hangs_is_killed_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MARGIN_SECONDS", -1.2)
    pids: list[int] = []
    with pytest.raises(LoadFailed, match="did not end within the planned time"):
        with playing(generator(tmp_path), plan("hang")) as load:
            pids += load.pids
            list(load.events())
    assert [read_stat(pid) for pid in pids] == [None]


def test_a_generator_that_is_killed_is_told(tmp_path: Path) -> None:
    with playing(generator(tmp_path), plan("hang")) as load:
        threading.Timer(0.2, os.kill, (load.pids[0], 9)).start()
        with pytest.raises(LoadFailed, match="ended with signal SIGKILL"):
            list(load.events())


def test_an_interrupted_generator_has_a_while_to_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "INTERRUPT_SECONDS", 0.3)

    def interrupted(load: RunningLoad) -> None:
        for _ in load.events():
            load.interrupt()

    with playing(generator(tmp_path), plan("hang")) as load:
        while "hanging" not in tail(tmp_path / "load" / "k6-0.log"):
            time.sleep(0.01)
        with pytest.raises(LoadFailed, match="did not end within"):
            interrupted(load)


def test_an_interrupted_generator_reports_the_stages_that_it_finished(tmp_path: Path) -> None:
    with playing(generator(tmp_path, processes=2), long_plan()) as load:
        assert load.end_of_stage(5.0) == 5.0, "nobody has started"
        first = None
        for event in load.events():
            if isinstance(event, Started):
                [(begin, end), _] = event.windows
                first = load.end_of_stage(begin)
                assert end < first == load.end_of_stage(event.at), "the ramp belongs to its stage"
                assert load.end_of_stage(event.end + 1) == event.end + 1
            if first and time.monotonic() > first:
                load.interrupt()
                load.interrupt()
        assert [stage.clients.target for stage in load.report().stages] == [20]


def test_an_interrupt_that_nobody_asked_for_is_a_failure(tmp_path: Path) -> None:
    with playing(generator(tmp_path), long_plan()) as load:
        with pytest.raises(LoadFailed, match="ended with exit code 105"):
            for event in load.events():
                if isinstance(event, Started):
                    os.kill(load.pids[0], signal.SIGINT)


def test_a_generator_that_is_not_there_is_the_users_to_solve(tmp_path: Path) -> None:
    absent = generator(tmp_path)
    absent.binary.unlink()
    with pytest.raises(UserError, match="the generator cannot be started"), playing(absent, plan()):
        pass


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "the load report cannot be read"),
        ("[]", "the load report has schema None"),
        ('{"schema": 5}', "the load report does not fit its schema: generator: Field required"),
    ],
)
def test_a_broken_report_is_told_in_one_line(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=told):
        loading.read_report(path)


def test_a_report_from_before_outages_is_read(tmp_path: Path) -> None:
    report = load_report([stage_report()]).model_dump(by_alias=True)
    for stage in report["stages"]:
        del stage["outage"]
    path = tmp_path / "report.json"
    path.write_text(json.dumps({**report, "schema": 5}))
    assert loading.read_report(path).stages[0].outage is None
