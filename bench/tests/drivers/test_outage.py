"""Redis dies in the middle of a stage and comes back: losses are counted, and joined clients get messages again."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.catalog.servers import Server, read_catalog
from pushbench.catalog.suites import find_suite
from pushbench.drivers import services
from pushbench.drivers.driver import Build, Driver
from pushbench.drivers.lanes import in_lane
from pushbench.drivers.process import ProcessDriver
from pushbench.drivers.service import Running
from pushbench.foundation.project import Project
from pushbench.generator.events import Second, Started
from pushbench.generator.load import Generator, LoadPlan, playing
from pushbench.machine.environment import physical_cores, split_cpus
from pushbench.machine.ownership import only_run_on_machine
from pushbench.machine.processes import raise_open_files
from pushbench.records.load_report import LoadReport
from pushbench.records.record import Schedule, StagePlan

CHECKOUT = Project.current()
CLIENTS, BOARD = 60, 10
STEADY_SECONDS, HIT_AFTER_SECONDS, OUTAGE_SECONDS, RECOVERY_SECONDS = 10, 1, 1, 4
SCALED = [server for server in read_catalog(CHECKOUT.servers) if "redis" in server.spec.services]


@pytest.mark.slow
@pytest.mark.early  # 16 s, mostly waiting
@pytest.mark.skipif(bool(services.missing(["redis"])), reason="redis-server is not installed")
def test_an_outage_costs_what_was_sent_in_it_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All scaled servers are loaded at the same time, and each loses its Redis."""
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    driver = ProcessDriver(CHECKOUT, split_cpus(physical_cores(os.sched_getaffinity(0))), workers=2)
    servers = [server for server in SCALED if not driver.lacks(server)]
    if not servers:
        pytest.skip(str(driver.lacks(SCALED[0])))
    k6 = build_generator(CHECKOUT, print)
    with only_run_on_machine(print), ThreadPoolExecutor(len(servers)) as beside:
        raise_open_files()
        builds = [driver.build(server, print) for server in servers]
        reports = beside.map(
            lambda lane: measure(in_lane(driver, lane), servers[lane], builds[lane], k6, tmp_path / servers[lane].slug),
            range(len(servers)),
        )
        for server, report in zip(servers, reports, strict=True):
            judge(server.id, report)


def measure(driver: Driver, server: Server, build: Build, k6: Path, folder: Path) -> LoadReport:
    suite = find_suite(CHECKOUT.scenarios, "whiteboard")
    generator = Generator(k6, CHECKOUT.generator, suite.scenario, driver.split.generator, folder)
    stage = StagePlan(clients=CLIENTS, ramp_seconds=0.5, settle_seconds=0.5, steady_seconds=STEADY_SECONDS)
    with driver.running(server, build) as instance:
        plan = LoadPlan(
            url=instance.url,
            protocol=server.spec.protocol,
            seed=1,
            parameters={"board_size": BOARD, "pattern": "steady"},
            schedule=Schedule(warmup_seconds=1, stages=[stage], drain_seconds=1),
        )
        report = play(generator, plan, instance.services[0])
        assert instance.exited() is None, server.id
        return report


def judge(server: str, report: LoadReport) -> None:
    stage = report.stages[0]
    assert stage.clients.members == CLIENTS, server
    assert stage.clients.disconnects == 0, server
    lost = stage.receipts.lost / stage.receipts.expected
    assert OUTAGE_SECONDS / STEADY_SECONDS / 2 < lost < (OUTAGE_SECONDS + RECOVERY_SECONDS) / STEADY_SECONDS, server
    seconds = slice(stage.begin_us // 1_000_000, stage.end_us // 1_000_000)
    assert sum(report.timeline.lost[seconds]) == stage.receipts.lost, server
    window = slice(int(stage.begin_us / 1e6) + 1, int(stage.end_us / 1e6) - 1)
    # During other tests, a message may be late by a fraction of a second, and then counts in the next second.
    assert sum(report.timeline.received[window][-3:]) == pytest.approx(CLIENTS * BOARD * 3, rel=0.1), server


def play(generator: Generator, plan: LoadPlan, service: Running) -> LoadReport:
    """Play the load; the service is down in the middle of its window."""

    def outage() -> None:
        with service.outage():
            time.sleep(OUTAGE_SECONDS)

    outages: list[threading.Thread] = []
    with playing(generator, plan) as load:
        begin = float("inf")
        for event in load.events():
            match event:
                case Started(windows=windows):
                    begin = windows[0][0]
                case Second(at=at) if at > begin + HIT_AFTER_SECONDS and not outages:
                    outages.append(threading.Thread(target=outage))
                    outages[0].start()
        report = load.report()
    [only] = outages
    only.join()
    return report
