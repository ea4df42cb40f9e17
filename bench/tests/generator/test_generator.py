"""The real generator against a server with known behaviour. Tests of the engine alone are in k6/internal/engine."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.catalog.suites import find_suite
from pushbench.drivers.choice import DriverChoice
from pushbench.drivers.driver import Build
from pushbench.foundation.project import Project
from pushbench.generator.events import Second, Started
from pushbench.generator.load import Generator, LoadPlan, playing
from pushbench.machine.disturbance import stolen_seconds
from pushbench.machine.environment import physical_cores, read_environment, split_cpus
from pushbench.measuring.preparation import build_all, select_servers
from pushbench.measuring.trial import Bench, run_trial
from pushbench.metrics.validity import STEAL_MOST
from pushbench.records.load_report import LoadReport
from pushbench.records.record import PlannedTrial, Schedule, StagePlan
from pushbench.statistics.histogram import Latencies
from pushbench.watching.progress import Lines
from tests.factories import make_record

pytestmark = pytest.mark.slow

CHECKOUT = Project.at(Path(__file__).parents[3])
STEADY_SECONDS = 1
BOARDS = {"40": 5, "80": 5, "large-40": 10}
"""The board sizes of the stages. After the second stage, all clients leave and others join."""
SCHEDULE = Schedule(
    warmup_seconds=0.5,
    stages=[
        StagePlan(clients=40, ramp_seconds=0.5, settle_seconds=0.5, steady_seconds=STEADY_SECONDS),
        StagePlan(clients=80, ramp_seconds=0.5, settle_seconds=0.5, steady_seconds=STEADY_SECONDS),
        StagePlan(
            clients=40,
            name="large-40",
            ramp_seconds=2,  # half of it for deliveries to the previous clients
            settle_seconds=0.5,
            steady_seconds=STEADY_SECONDS,
            parameters={"board_size": 10},
        ),
    ],
    drain_seconds=1,
)


@pytest.fixture(scope="module")
def k6() -> Path:
    return build_generator(CHECKOUT, print)


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("scripted") / "scripted"
    subprocess.run(["go", "build", "-trimpath", "-o", binary, "./cmd/scripted"], cwd=CHECKOUT.generator, check=True)
    return binary


@contextlib.contextmanager
def late_server(scripted: Path) -> Iterator[str]:
    """A whiteboard server that delivers everything 100 ms late."""
    command = [str(scripted), "-delay", "100ms"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


def play(k6: Path, url: str, folder: Path, *, processes: int = 1) -> LoadReport:
    scenario = CHECKOUT.scenarios / "whiteboard.js"
    cpus = sorted(os.sched_getaffinity(0))
    generator = Generator(k6, CHECKOUT.generator, scenario, cpus, folder, processes)
    parameters = {"board_size": 5, "pattern": "steady"}
    plan = LoadPlan(url=url, protocol="whiteboard-json", seed=3, parameters=parameters, schedule=SCHEDULE)
    with playing(generator, plan) as load:
        seconds = [event for event in load.events() if isinstance(event, Second)]
        assert seconds[-1].at - seconds[0].at > 4
        return load.report()


@pytest.mark.timed
def test_two_generators_of_one_machine_report_what_one_does(k6: Path, scripted: Path, tmp_path: Path) -> None:
    """Both loads run at the same time, each against its own server, so both meet the same disturbances."""
    cpus = sorted(os.sched_getaffinity(0))
    before, began = stolen_seconds(), time.monotonic()
    with late_server(scripted) as server, late_server(scripted) as another, ThreadPoolExecutor(1) as beside:
        playing_two = beside.submit(play, k6, another, tmp_path / "two", processes=2)
        one = play(k6, server, tmp_path / "one")
        two = playing_two.result()
    disturbed = stolen_seconds() - before > STEAL_MOST * len(cpus) * (time.monotonic() - began)
    for alone, together, stage in zip(one.stages, two.stages, SCHEDULE.stages, strict=True):
        assert together.messages == alone.messages
        assert together.receipts == alone.receipts
        assert together.clients == alone.clients
        assert alone.messages.sent == STEADY_SECONDS * stage.clients
        assert alone.receipts.received == BOARDS[stage.name] * alone.messages.sent
        assert alone.clients.groups == stage.clients // BOARDS[stage.name]
        assert (alone.name, alone.parameters) == (together.name, together.parameters) == (stage.name, stage.parameters)
        assert alone.receipts.lost == alone.receipts.duplicate == alone.receipts.corrupt == 0
    assert len(one.timeline.received) == len(two.timeline.received)
    for timeline in (one.timeline, two.timeline):
        assert sum(timeline.expected) == sum(timeline.received) > 0
        assert sum(timeline.lost) == 0
    assert two.segment == "0:1/2,1/2:1"
    if disturbed:
        pytest.skip("the hypervisor took CPU time: the counts are right, the latencies may be its own")
    for alone, together in zip(one.stages, two.stages, strict=True):
        for kind in ("own", "each", "last"):
            first = Latencies.decode(getattr(alone.histograms, kind)).summary()
            second = Latencies.decode(getattr(together.histograms, kind)).summary()
            assert first and second
            # The server's delay is nearly all of it. A disturbance of only one load shows at p95. test_merging checks
            # that merging itself keeps every percentile.
            assert first.p50 == pytest.approx(0.1, abs=0.006)
            assert second.p50 == pytest.approx(first.p50, abs=0.005)
            assert min(first.p95, second.p95) >= 0.1


@pytest.mark.timed
def test_a_server_that_ends_in_a_stage_loses_what_was_due_in_it_and_nothing_before(
    k6: Path, scripted: Path, tmp_path: Path
) -> None:
    """The server ends in the middle of the second of three stages. The load continues to the end of that stage."""
    generator = Generator(
        k6, CHECKOUT.generator, CHECKOUT.scenarios / "whiteboard.js", sorted(os.sched_getaffinity(0)), tmp_path
    )
    dies_at = ends_at = math.inf
    with subprocess.Popen([str(scripted)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        parameters: dict[str, str | int | float | bool] = {"board_size": 5, "pattern": "steady"}
        plan = LoadPlan(url=url, protocol="whiteboard-json", seed=3, parameters=parameters, schedule=SCHEDULE)
        with playing(generator, plan) as load:
            for event in load.events():
                if isinstance(event, Started):
                    dies_at = sum(event.windows[1]) / 2
                    ends_at = load.end_of_stage(dies_at)
                if time.monotonic() >= dies_at:
                    server.kill()
                if time.monotonic() >= ends_at:
                    load.interrupt()
            report = load.report()
    first, second = report.stages
    assert first.receipts.lost == 0
    assert second.receipts.expected == BOARDS["80"] * STEADY_SECONDS * 80
    assert 0.4 < second.receipts.lost / second.receipts.expected < 0.6
    assert second.messages.due == STEADY_SECONDS * 80


@pytest.mark.alone  # it stops every k6 on the machine
def test_a_starved_generator_is_never_a_slow_server(tmp_path: Path) -> None:
    """The generator is stopped for 300 ms in every 500 ms, as if other processes had its CPU.

    It runs long enough between two stops for a reply that a slow machine delays. A reply that waits for the second stop
    would add that stop to the server's latency.
    """
    suite = find_suite(CHECKOUT.scenarios, "whiteboard")
    chosen = select_servers(CHECKOUT, suite, ["node-ws"], print, DriverChoice("process"))
    k6, [prepared] = build_all(CHECKOUT, chosen, print)
    assert isinstance(prepared.result, Build)
    split = split_cpus(physical_cores(os.sched_getaffinity(0)))
    driver = chosen.driver
    load = suite.load("smoke", {})
    generator = Generator(k6, CHECKOUT.generator, load.scenario, split.generator, tmp_path / "load")
    bench = Bench(driver, generator, load, read_environment(split, driver.name))
    planned = PlannedTrial(server="node-ws", round=1, order=0, seed=1)
    done = threading.Event()
    starving = threading.Thread(target=starve, args=(str(k6), done))
    starving.start()
    try:
        watch = Lines()
        watch.trial(planned, 1, make_record([], schedule=load.schedule), 10.0)
        trial = run_trial(bench, planned, prepared.server, prepared.result, watch)
    finally:
        done.set()
        starving.join()
    assert trial.failure is None
    assert {each.code for each in trial.validity.warnings} >= {"send_lateness"}
    assert "generator_late" in {each.code for each in trial.validity.reasons}


def starve(binary: str, done: threading.Event) -> None:
    """Stop and continue the process that runs `binary`."""
    while not done.wait(0.02):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and executable(entry) == binary:
                halt(int(entry.name), done)


def executable(entry: Path) -> str | None:
    try:
        return str((entry / "exe").readlink())
    except OSError:
        return None


def halt(pid: int, done: threading.Event) -> None:
    try:
        while not done.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.2)
    except ProcessLookupError:
        return
