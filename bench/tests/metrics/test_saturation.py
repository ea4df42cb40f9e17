"""The results of a trial of a server that queues: the real generator, and a scripted server with a known capacity."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.foundation.project import Project
from pushbench.generator.events import Started
from pushbench.generator.load import Generator, LoadPlan, playing
from pushbench.machine.disturbance import stolen_seconds
from pushbench.machine.environment import CpuSplit
from pushbench.machine.resources import Tree
from pushbench.machine.sampling import Sampler, Watched
from pushbench.metrics import results
from pushbench.metrics.validity import STEAL_MOST
from pushbench.records.record import Parameters, Schedule, StagePlan
from pushbench.records.vocabulary import ORIGINAL

pytestmark = [pytest.mark.slow, pytest.mark.timed]

CHECKOUT = Project.at(Path(__file__).parents[3])
BOARD, BOARDS = 51, 2
CAPACITY, OFFERED = 4_000, BOARD * BOARD * BOARDS
"""deliveries per second: the offer is 130 % of the capacity; few clients, since connecting them costs little"""
STAGE = StagePlan(clients=BOARD * BOARDS, ramp_seconds=0.5, settle_seconds=0.5, steady_seconds=6)
SCHEDULE = Schedule(warmup_seconds=0, stages=[STAGE], drain_seconds=5)


def test_a_server_that_queues_is_reported_with_what_it_does(tmp_path: Path) -> None:
    """The server uses 100 us of CPU for each delivery, like a server near its capacity."""
    scripted = tmp_path / "scripted"
    subprocess.run(["go", "build", "-trimpath", "-o", scripted, "./cmd/scripted"], cwd=CHECKOUT.generator, check=True)
    cpus = sorted(os.sched_getaffinity(0))
    generator = Generator(
        build_generator(CHECKOUT, print),
        CHECKOUT.generator,
        CHECKOUT.scenarios / "whiteboard.js",
        cpus,
        tmp_path / "load",
    )
    command = [str(scripted), "-capacity", str(CAPACITY), "-burn", "100us"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        tree = Tree(server.pid)
        parameters: Parameters = {"board_size": BOARD, "pattern": "steady", "arrivals": "fixed"}
        plan = LoadPlan(url=url, protocol="whiteboard-json", seed=3, parameters=parameters, schedule=SCHEDULE)
        before, stolen_before = tree.usage(), stolen_seconds()
        with playing(generator, plan) as load:
            for event in load.events():
                if isinstance(event, Started):
                    started = event
                    borders = [moment for window in event.windows for moment in window]
                    watched = Watched(tree, [], [], CpuSplit(cpus, cpus), [])
                    sampler = Sampler(watched, event.at, borders)
                    sampler.start()
            report = load.report()
        after = tree.usage()
        server.terminate()
    assert before and after
    (window,) = results.windows(started, sampler.stop())
    metrics = results.stage_result(report.stages[0], window, len(cpus), ORIGINAL).metrics
    if stolen_seconds() - stolen_before > STEAL_MOST * len(cpus) * STAGE.steady_seconds:
        pytest.skip("the hypervisor took CPU time, so the server did not have its capacity")
    whole = (after.cpu_seconds - before.cpu_seconds) / sum(report.timeline.received)
    assert metrics["throughput_per_second"] == pytest.approx(CAPACITY, rel=0.01)
    assert metrics["offered_per_second"] == pytest.approx(OFFERED, rel=0.001)
    assert metrics["cpu_seconds_per_delivery"] == pytest.approx(whole, rel=0.02)
    assert metrics["loss_ratio"] == 0
