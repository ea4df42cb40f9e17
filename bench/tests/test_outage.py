"""Redis dies in the middle of a stage and comes back: the loss is counted, and who had joined gets messages again."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from pushbench import services
from pushbench.builds import build_generator
from pushbench.catalog import Server, read_catalog
from pushbench.environment import physical_cores, split_cpus
from pushbench.load import Generator, LoadPlan, Second, Started, playing
from pushbench.load_report import LoadReport
from pushbench.ownership import only_run_on_machine
from pushbench.process_driver import ProcessDriver
from pushbench.processes import raise_open_files
from pushbench.project import Project
from pushbench.record import Schedule, StagePlan
from pushbench.services import Running
from pushbench.suites import find_suite

CHECKOUT = Project.current()
CLIENTS, BOARD = 60, 10
STEADY_SECONDS, HIT_AFTER_SECONDS, OUTAGE_SECONDS, RECOVERY_SECONDS = 12, 3, 1, 4
SCALED = [server for server in read_catalog(CHECKOUT.servers) if server.spec.services]


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(bool(services.missing(["redis"])), reason="redis-server is not installed")
@pytest.mark.parametrize("server", SCALED, ids=lambda server: server.id)
def test_an_outage_costs_what_was_sent_in_it_and_no_more(server: Server, tmp_path: Path) -> None:
    split = split_cpus(physical_cores(os.sched_getaffinity(0)))
    driver = ProcessDriver(CHECKOUT, split, workers=2)
    if lack := driver.lacks(server):
        pytest.skip(lack)
    suite = find_suite(CHECKOUT.scenarios, "whiteboard")
    k6 = build_generator(CHECKOUT, print)
    generator = Generator(k6, CHECKOUT.generator, suite.scenario, split.generator, tmp_path / "load")
    with only_run_on_machine(print):
        raise_open_files()
        build = driver.build(server, print)
        with driver.running(server, build) as instance:
            plan = LoadPlan(
                url=instance.url,
                protocol=server.spec.protocol,
                seed=1,
                parameters={"board_size": BOARD, "pattern": "steady"},
                schedule=Schedule(
                    warmup_seconds=2,
                    stages=[
                        StagePlan(clients=CLIENTS, ramp_seconds=1, settle_seconds=1, steady_seconds=STEADY_SECONDS)
                    ],
                    drain_seconds=2,
                ),
            )
            report = play(generator, plan, instance.services[0])
            assert instance.exited() is None
    stage = report.stages[0]
    assert stage.clients.members == CLIENTS
    assert stage.clients.disconnects == 0
    lost = stage.deliveries.lost / stage.deliveries.expected
    assert OUTAGE_SECONDS / STEADY_SECONDS / 2 < lost < (OUTAGE_SECONDS + RECOVERY_SECONDS) / STEADY_SECONDS
    assert sum(report.timeline.lost[stage.begin_us // 1_000_000 : stage.end_us // 1_000_000]) == stage.deliveries.lost
    window = slice(int(stage.begin_us / 1e6) + 1, int(stage.end_us / 1e6) - 1)
    assert report.timeline.delivered[window][-3:] == pytest.approx([CLIENTS * BOARD] * 3, rel=0.1)


def play(generator: Generator, plan: LoadPlan, service: Running) -> LoadReport:
    """Play the load; in the middle of its window the service is away."""

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
