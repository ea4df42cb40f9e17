"""A server in a container is measured like any other; a failure is one line, and nothing stays behind.

The images contain one static program and are built here, so only an engine is needed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.building.engine import Engine
from pushbench.building.images import bake_definition, image_of, images_of
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server, read_servers
from pushbench.drivers.choice import DriverChoice, choose_driver
from pushbench.drivers.containers import OWNER_LABEL
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import await_health
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.procfs import read_stat, stats
from pushbench.measuring import preparation, run
from pushbench.measuring.common import Options
from pushbench.measuring.run import RunRequest
from pushbench.records.record import Record, Trial
from tests.support import FAKES, fake_generator, make_project
from tests.tiny_runs import Notebook

ENGINE = Engine.find()
CPUS = sorted(os.sched_getaffinity(0))
REGISTRY = "pushbench-test"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.skipif(
        ENGINE is None or not shutil.which("go"), reason="needs a container engine that answers, and Go"
    ),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("program") / "server"
    command = ["go", "build", "-trimpath", "-o", str(binary), str(FAKES / "container" / "main.go")]
    subprocess.run(command, check=True, env={**os.environ, "CGO_ENABLED": "0"})
    return binary


@pytest.fixture(autouse=True)
def nothing_stays_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PUSHBENCH_REGISTRY", REGISTRY)
    yield
    assert ENGINE
    assert ENGINE.labelled(OWNER_LABEL) == {}
    left = ENGINE.run("network", "ls", "--quiet", "--filter", f"label={OWNER_LABEL}")
    assert left == ""
    made = ENGINE.run("image", "ls", "--quiet", "--no-trunc", "--filter", f"reference={REGISTRY}/*").split()
    if made:
        ENGINE.run("image", "rm", "--force", *dict.fromkeys(made))


def containers(root: Path, program: Path, **behaviours: str) -> tuple[Project, list[Server]]:
    """A checkout whose servers have images, except those with the behaviour "missing"."""
    assert ENGINE
    project = make_project(root, **behaviours)
    servers = []
    for name in behaviours:
        folder = project.servers / name
        shutil.copy(program, folder / "server")
        (folder / "Dockerfile").write_text('FROM scratch\nCOPY server /server\nUSER 1000:1000\nCMD ["/server"]\n')
        servers += read_servers(folder)
    present = [server for server in servers if behaviours[server.id] != "missing"]
    if present:
        definition = root / "bake.json"
        definition.write_text(json.dumps(bake_definition(root, images_of(present))))
        subprocess.run(
            ["docker", "buildx", "bake", "--file", str(definition)], cwd=root, check=True, capture_output=True
        )
    return project, servers


def driver(project: Project) -> DockerDriver:
    assert ENGINE
    return DockerDriver(project, CpuSplit(CPUS[-1:], CPUS[:1]), ENGINE)


def test_a_container_is_confined_pinned_and_accounted(tmp_path: Path, program: Path) -> None:
    project, [server] = containers(tmp_path, program, good="")
    docker = driver(project)
    build = docker.build(server, print)
    assert build.digest.startswith("sha256:")
    with docker.running(server, build, {"SAID": "cost: $HOME ${PATH} $$"}) as instance:
        assert instance.reported
        assert instance.reported.framework == "cost: $HOME ${PATH} $$"
        assert instance.exited() is None
        assert instance.output_bytes() == len("hello from the fake server\n")
        usage = instance.tree.usage()
        assert usage
        assert usage.cpu_seconds > 0
        assert usage.memory_bytes > 1_000_000
        [process] = instance.tree.members(list(stats()))
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert "CapEff:\t0000000000000000" in status
        assert "CapBnd:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        assert "Seccomp:\t2" in status
        assert f"Cpus_allowed_list:\t{CPUS[-1]}" in status
        assert "Uid:\t1000" in status
        assert ENGINE
        network = ENGINE.run("network", "ls", "--quiet", "--filter", f"label={OWNER_LABEL}").strip()
        assert ENGINE.run("network", "inspect", "--format", "{{.Internal}}", network).strip() == "true"
        stopped = instance.terminate()
        assert (stopped.code, stopped.killed) == (0, False)
        assert instance.exited() == "exit code 0"
        assert instance.tree.usage() is None


def test_a_container_may_open_as_many_files_as_a_process(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pushbench.machine.processes.most_open_files", lambda: 12_345)
    project, [server] = containers(tmp_path, program, good="")
    docker = driver(project)
    with docker.running(server, docker.build(server, print)) as instance:
        [process] = instance.tree.members(list(stats()))
        limits = Path(f"/proc/{process.pid}/limits").read_text().splitlines()
        [open_files] = [line.split() for line in limits if line.startswith("Max open files")]
        assert open_files[3:5] == ["12345", "12345"]


def test_a_container_that_is_killed_is_started_again_at_its_address_and_its_cpu_goes_on(
    tmp_path: Path, program: Path
) -> None:
    project, [server] = containers(tmp_path, program, good="")
    docker = driver(project)
    with docker.running(server, docker.build(server, print)) as instance:
        url, before = instance.url, instance.tree.usage()
        [first] = instance.tree.members(list(stats()))
        with instance.outage():
            assert instance.exited() is None, "it is away, and has not ended"
            assert read_stat(first.pid) is None
        assert await_health(instance)
        [second] = instance.tree.members(list(stats()))
        after = instance.tree.usage()
        assert before
        assert after
        assert second.pid != first.pid
        assert instance.url == url
        assert after.cpu_seconds > before.cpu_seconds
        assert (instance.exited(), instance.terminate().code) == (None, 0)


def failure(tmp_path: Path, program: Path, behaviour: str) -> ServerFailed:
    project, [server] = containers(tmp_path, program, bad=behaviour)
    docker = driver(project)
    with pytest.raises(ServerFailed) as raised, docker.running(server, docker.build(server, print)):
        pass
    return raised.value


def test_a_container_that_exits_at_its_start_is_told_with_its_last_words(tmp_path: Path, program: Path) -> None:
    told = failure(tmp_path, program, "exits").failure
    assert told.message == "ended with exit code 3 before it was healthy"
    assert "hello from the fake server\n" in told.log_tail
    assert "it cannot go on" in told.log_tail


def test_the_root_of_a_container_cannot_be_written_to(tmp_path: Path, program: Path) -> None:
    assert failure(tmp_path, program, "writes").failure.message == "ended with exit code 4 before it was healthy"


def test_a_container_that_never_becomes_healthy_is_given_up(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pushbench.drivers.driver.START_SECONDS", 1.0)
    assert failure(tmp_path, program, "mute").failure.message == "/healthz did not answer 200 within 1 s"


def measured(project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Record, Notebook]:
    binary = fake_generator(folder / "fake-k6")
    monkeypatch.setattr(preparation, "build_generator", lambda *_: binary)
    monkeypatch.setenv("PUSHBENCH_LOCK", str(folder / "lock"))
    watch = Notebook()
    return run.run(project, RunRequest("tiny", "smoke"), Options(DriverChoice("docker"), verify=False), watch), watch


@pytest.mark.alone  # the time to fill 2 GiB depends on the machine
def test_a_container_without_memory_is_told_as_one(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = containers(tmp_path / "checkout", program, eats="eats")
    tiny = project.scenarios / "tiny.yml"
    tiny.write_text(tiny.read_text().replace("steady_seconds: 0.5", "steady_seconds: 12"))  # time to fill 2 GiB
    record, _ = measured(project, tmp_path, monkeypatch)
    assert record.trials[0].failure
    assert record.trials[0].failure.message == (
        "the server ended under load with out of memory: it used up the limit of its container"
    )


def test_what_goes_wrong_with_a_container_is_one_line_and_the_next_server_runs(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = containers(tmp_path / "checkout", program, dies="dies", gone="missing", good="")
    record, watch = measured(project, tmp_path, monkeypatch)
    trials: dict[str, Trial] = {trial.server: trial for trial in record.trials}
    messages = {name: trial.failure.message if trial.failure else "" for name, trial in trials.items()}
    assert messages == {
        "dies": "the server ended under load with exit code 7",
        "gone": f"there is no image {image_of(read_servers(project.servers / 'gone')[0]).reference()}; "
        "`make images` builds it",
        "good": "",
    }
    assert record.environment.driver == "docker"
    assert record.environment.engine == f"Docker {ENGINE.version}" if ENGINE else ""
    assert trials["good"].build.startswith("sha256:")
    assert all("\n" not in note for note in watch.notes if note.startswith("["))


def test_docker_is_chosen_where_it_has_every_image(tmp_path: Path, program: Path) -> None:
    project, servers = containers(tmp_path, program, good="", gone="missing")
    good, gone = servers
    said: list[str] = []
    assert choose_driver(project, [good], DriverChoice("auto"), said.append).name == "docker"
    assert choose_driver(project, [good, gone], DriverChoice("auto"), said.append).name == "process"
    assert choose_driver(project, [good], DriverChoice("process"), said.append).name == "process"
    assert said[-1] == "driver: process (no image of gone; `make images` builds them)"


def test_containers_of_a_killed_run_are_removed_and_others_are_not(tmp_path: Path, program: Path) -> None:
    assert ENGINE
    project, [server] = containers(tmp_path, program, good="")
    docker = driver(project)
    image = docker.build(server, print).digest
    orphan = ENGINE.run("run", "--detach", "--label", f"{OWNER_LABEL}=1:1", "--env", "PORT=8080", image).strip()
    notes: list[str] = []
    with docker.running(server, docker.build(server, print)) as instance:
        DockerDriver.end_orphans(ENGINE, notes.append)
        assert instance.exited() is None
    assert notes == [f"removed container {orphan[:12]}, left by a pushbench that was killed"]
