"""Both drivers measure the same: CPU per delivery of node-ws, as processes and in a container, in one alternating run.

Both run the Node.js of the image, so that they differ only in the driver.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from pushbench.building import toolchains
from pushbench.building.builds import build_generator
from pushbench.building.engine import Engine
from pushbench.building.images import bake_definition, image_of
from pushbench.catalog.servers import read_servers
from pushbench.catalog.suites import find_suite
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import Driver
from pushbench.drivers.process import ProcessDriver
from pushbench.foundation.project import Project
from pushbench.generator.load import Generator
from pushbench.machine.environment import physical_cores, read_environment, split_cpus
from pushbench.machine.ownership import only_run_on_machine
from pushbench.machine.processes import raise_open_files
from pushbench.measuring.trial import Bench, run_trial
from pushbench.records.record import PlannedTrial, Schedule, StagePlan
from pushbench.watching.progress import Lines
from tests.factories import make_record

CHECKOUT = Project.current()
ENGINE = Engine.find()
PAIRS = 5
BAR = 0.15
SCHEDULE = Schedule(
    warmup_seconds=4,
    stages=[StagePlan(clients=500, ramp_seconds=1, settle_seconds=1, steady_seconds=8)],
    drain_seconds=5,
)


@pytest.mark.slow
@pytest.mark.measurement
@pytest.mark.skipif(ENGINE is None, reason="needs a container engine")
def test_the_drivers_agree_on_cpu_per_delivery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ENGINE
    [server] = read_servers(CHECKOUT.servers / "node-ws")
    definition = tmp_path / "bake.json"
    definition.write_text(json.dumps(bake_definition(CHECKOUT.root, [image_of(server)])))
    command = ["docker", "buildx", "bake", "--file", str(definition)]
    subprocess.run(command, cwd=CHECKOUT.root, check=True, capture_output=True)
    _use_node_of(image_of(server).reference(), tmp_path, monkeypatch)
    split = split_cpus(physical_cores(os.sched_getaffinity(0)))
    drivers: list[Driver] = [ProcessDriver(CHECKOUT, split), DockerDriver(CHECKOUT, split, ENGINE)]
    suite = find_suite(CHECKOUT.scenarios, "whiteboard")
    load = replace(suite.load("smoke", {}), schedule=SCHEDULE)
    k6 = build_generator(CHECKOUT, print)
    generator = Generator(k6, CHECKOUT.generator, load.scenario, split.generator, tmp_path / "load")
    costs: dict[str, list[float]] = {driver.name: [] for driver in drivers}
    versions = set()
    with only_run_on_machine(print):
        raise_open_files()
        for pair in range(PAIRS):
            for driver in drivers if pair % 2 else drivers[::-1]:
                bench = Bench(driver, generator, load, read_environment(split, driver.name, driver.engine))
                planned = PlannedTrial(server=server.id, round=pair + 1, order=pair, seed=pair + 1)
                watch = Lines()
                watch.trial(planned, 2 * PAIRS, make_record([], schedule=load.schedule), 20.0 * 2 * PAIRS)
                trial = run_trial(bench, planned, server, driver.build(server, print), watch)
                assert trial.failure is None
                assert trial.reported
                versions.add(trial.reported.runtime)
                cost = trial.stages[0].metrics["cpu_seconds_per_delivery"]
                assert cost
                costs[driver.name].append(cost)
    assert len(versions) == 1
    ratio = median(one / other for one, other in zip(costs["docker"], costs["process"], strict=True))
    print(f"docker / process: {ratio:.3f}; {costs}")
    assert abs(ratio - 1) < BAR


def _use_node_of(image: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the image's Node.js first on the PATH."""
    assert ENGINE
    container = ENGINE.run("create", image).strip()
    try:
        ENGINE.run("cp", f"{container}:/usr/local/bin/node", str(folder / "node"))
    finally:
        ENGINE.run("rm", container)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    toolchains.find.cache_clear()
