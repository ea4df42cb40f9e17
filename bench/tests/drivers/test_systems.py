"""A system of containers is one server: started fresh, confined, measured by part and in total, and removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushbench.building.engine import Engine
from pushbench.building.images import bake_definition, images_of
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server, read_servers
from pushbench.drivers.choice import DriverChoice, choose_driver
from pushbench.drivers.containers import OWNER_LABEL
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import await_health
from pushbench.drivers.process import ProcessDriver
from pushbench.drivers.systems import composed, digest_of, settled
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from pushbench.machine.procfs import stats
from tests.building.test_composed import SERVER, Composing
from tests.support import FAKES, make_project

ENGINE = Engine.find()
CPUS = sorted(os.sched_getaffinity(0))
REGISTRY = "pushbench-test-system"
FILE = """\
services:
  proxy:
    build: &program {context: program}
    depends_on: {worker: {condition: service_started}}
    environment: {PORT: "8080", FAKE_ID: chat, SAID: "$$x"}
  worker:
    build: *program
    environment: {PORT: "9090", FAKE: "good"}
    tmpfs: ["/run:size=1m,uid=1000"]
    volumes: ["data:/data", /other]
    mem_limit: 64m
volumes:
  data:
"""


def system(root: Path, text: str = FILE) -> tuple[Project, Server]:
    project = make_project(root)
    folder = project.servers / "chat"
    (folder / "program").mkdir(parents=True)
    dockerfile = 'FROM scratch\nCOPY server /server\nUSER 1000:1000\nCMD ["/server"]\n'
    (folder / "program" / "Dockerfile").write_text(dockerfile)
    (folder / "server.yml").write_text(SERVER)
    (folder / "compose.yml").write_text(text)
    return project, read_servers(folder)[0]


class Stocked(Composing):
    """An engine that has every image but those in `absent`."""

    absent = ""

    def image(self, reference: str) -> str | None:
        return None if reference == self.absent else f"sha256:{reference}"


class Bare(Composing):
    """An engine without any image."""

    def image(self, reference: str) -> str | None:
        return None

    def labelled(self, label: str, **_: Any) -> dict[str, str]:
        return {}

    def run(self, *_: str, **__: Any) -> str:
        return ""


PLAIN = FILE.replace(", /other", "").replace("64m", "256m")


def test_what_runs_is_made_of_the_policy_and_of_what_was_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pushbench.machine.processes.most_open_files", lambda: 12_345)
    _, server = system(tmp_path, PLAIN)
    [built] = images_of([server])
    document = composed(Stocked(volumes(), None), server)
    trial = settled(document, [0, 2], {"WORKERS": "2", "PORT": "no", "PAID": "5$"})
    proxy, worker = trial["services"]["proxy"], trial["services"]["worker"]
    for part in (proxy, worker):
        assert (part["image"], part["cpuset"]) == (f"sha256:{built.reference()}", "0,2")
        assert (part["read_only"], part["cap_drop"], part["pull_policy"]) == (True, ["ALL"], "never")
        assert part["security_opt"] == ["no-new-privileges:true"]
        assert (part["networks"], part["restart"]) == (["bench"], "no")
        assert part["labels"][OWNER_LABEL]
        assert part["memswap_limit"] == part["mem_limit"]
        assert part["ulimits"] == {"nofile": {"soft": 12_345, "hard": 12_345}}
    assert [part["mem_limit"] >> 20 for part in (proxy, worker)] == [1792, 256]
    assert proxy["environment"] == {"WORKERS": "2", "PORT": "8080", "PAID": "5$$", "FAKE_ID": "chat", "SAID": "$$x"}
    assert worker["tmpfs"] == ["/tmp:size=64m,mode=1777", "/run:size=1m,uid=1000"]
    assert trial["networks"] == {"bench": {"internal": True, "labels": proxy["labels"]}}
    assert trial["volumes"] == {"data": {"labels": proxy["labels"]}}
    assert "build" not in proxy


def volumes() -> dict[str, Any]:
    return {"services.worker.volumes": [{"type": "volume", "source": "data", "target": "/data"}]}


def test_a_build_is_known_by_the_images_and_by_what_the_file_says(tmp_path: Path) -> None:
    _, server = system(tmp_path, PLAIN)
    first = digest_of(composed(Stocked(), server))
    assert digest_of(composed(Stocked(), server)) == first
    (server.folder / "program" / "more").write_text("x")
    second = digest_of(composed(Stocked(), server))
    assert server.compose_file
    server.compose_file.write_text(PLAIN.replace("9090", "9091"))
    assert len({first, second, digest_of(composed(Stocked(), server))}) == 3


def test_an_image_that_is_not_there_is_the_failure_of_the_server(tmp_path: Path) -> None:
    _, server = system(tmp_path, PLAIN)
    engine = Stocked()
    engine.__dict__["absent"] = images_of([server])[0].reference()
    with pytest.raises(
        ServerFailed, match=r"there is no image pushbench/chat--part-.* of the part proxy; `make images`"
    ):
        composed(engine, server)


def test_a_system_that_is_linked_from_elsewhere_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No image is built from its folders, and `make images` would not help."""
    project, server = system(tmp_path / "checkout", PLAIN)
    docker = DockerDriver(project, CpuSplit(CPUS, CPUS), Bare())
    assert docker.lacks(server) is None
    server.folder.rename(tmp_path / "elsewhere")
    server.folder.symlink_to(tmp_path / "elsewhere")
    assert "none is built from sources outside of this checkout; copy its folder" in str(docker.lacks(server))
    with pytest.raises(UserError, match="sources are outside of this checkout"):
        bake_definition(project.root, images_of([server]))
    assert DockerDriver(project, CpuSplit(CPUS, CPUS), Stocked()).lacks(server) is None, "its images are there"
    monkeypatch.setattr(Engine, "find", Bare)
    said: list[str] = []
    assert choose_driver(project, [server], DriverChoice("auto"), said.append).name == "process"
    assert said[-1] == "driver: process (no image of chat; none is built from other repositories)"


def test_other_drivers_say_that_they_cannot(tmp_path: Path) -> None:
    project, server = system(tmp_path)
    said = "a system of containers runs with --driver docker only"
    assert ProcessDriver(project, CpuSplit(CPUS, CPUS)).lacks(server) == said
    with pytest.raises(UserError, match=f"chat: {said}"):
        _ = server.process


needs_engine = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.images,
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


@pytest.fixture
def nothing_stays_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    assert ENGINE
    monkeypatch.setenv("PUSHBENCH_REGISTRY", REGISTRY)
    before = ENGINE.run("volume", "ls", "--quiet").split()
    yield
    assert ENGINE.labelled(OWNER_LABEL) == {}
    assert ENGINE.run("network", "ls", "--quiet", "--filter", f"label={OWNER_LABEL}") == ""
    assert set(ENGINE.run("volume", "ls", "--quiet").split()) <= set(before)
    made = ENGINE.run("image", "ls", "--quiet", "--no-trunc", "--filter", f"reference={REGISTRY}/*").split()
    if made:
        ENGINE.run("image", "rm", "--force", *dict.fromkeys(made))


def built(root: Path, program: Path, text: str = FILE) -> tuple[DockerDriver, Server]:
    assert ENGINE
    project, server = system(root, text)
    shutil.copy(program, server.folder / "program" / "server")
    (root / "bake.json").write_text(json.dumps(bake_definition(root, images_of([server]))))
    subprocess.run(["docker", "buildx", "bake", "--file", "bake.json"], cwd=root, check=True, capture_output=True)
    return DockerDriver(project, CpuSplit(CPUS[-1:], CPUS[:1]), ENGINE), server


@pytest.mark.usefixtures("nothing_stays_behind")
class TestWithAnEngine:
    pytestmark = needs_engine

    def test_each_part_is_confined_and_accounted(self, tmp_path: Path, program: Path) -> None:
        docker, server = built(tmp_path, program)
        assert not docker.lacks_image(server)
        with docker.running(server, docker.build(server, print)) as instance:
            assert instance.reported
            assert instance.reported.framework == "$x"
            tree: Any = instance.tree
            assert list(tree.parts) == ["proxy", "worker"]
            own = {name: part.usage() for name, part in tree.parts.items()}
            total = tree.usage()
            assert total.memory_bytes >= 2 * min(each.memory_bytes for each in own.values()) > 1_000_000
            assert total.processes == 2
            for process in tree.members(list(stats())):
                status = Path(f"/proc/{process.pid}/status").read_text()
                for line in ("CapEff:\t0000000000000000", "NoNewPrivs:\t1", f"Cpus_allowed_list:\t{CPUS[-1]}"):
                    assert line in status
            assert instance.output_bytes() == 2 * len("hello from the fake server\n")
            assert instance.exited() is None
            stopped = instance.terminate(5)
            assert (stopped.code, stopped.killed) == (0, False)
            assert instance.exited() == "exit code 0 of its part proxy"

    def test_an_outage_is_one_of_the_entry(self, tmp_path: Path, program: Path) -> None:
        docker, server = built(tmp_path, program)
        with docker.running(server, docker.build(server, print)) as instance:
            parts: Any = instance.tree
            before = {name: [each.pid for each in part.members(list(stats()))] for name, part in parts.parts.items()}
            with instance.outage():
                assert instance.exited() is None
                assert parts.usage() is None
            await_health(instance, server.spec.ready)
            after = {name: [each.pid for each in part.members(list(stats()))] for name, part in parts.parts.items()}
            assert after["worker"] == before["worker"]
            assert after["proxy"] != before["proxy"]
            assert parts.usage()
            instance.terminate(5)
            assert instance.exited() == "exit code 0 of its part proxy"

    def test_a_part_that_ends_is_told_by_its_name_and_its_last_words(self, tmp_path: Path, program: Path) -> None:
        docker, server = built(tmp_path, program, FILE.replace('FAKE: "good"', 'FAKE: "exits"'))
        with pytest.raises(ServerFailed) as raised, docker.running(server, docker.build(server, print)):
            pass
        told = raised.value.failure
        assert "exit code 3" in told.message
        assert "worker" in told.message
        assert "it cannot go on" in told.log_tail

    def test_what_a_killed_run_left_is_removed_by_the_next(self, tmp_path: Path, program: Path) -> None:
        assert ENGINE
        docker, server = built(tmp_path, program)
        document = settled(docker.build(server, print).system or {}, CPUS, {})
        dead = {OWNER_LABEL: "1:1"}
        for each in (*document["services"].values(), *document["volumes"].values(), *document["networks"].values()):
            each["labels"] = dead
        (tmp_path / "left.json").write_text(json.dumps(document))
        ENGINE.compose([str(tmp_path / "left.json")], "pushbench-left", "up", "--detach")
        notes: list[str] = []
        assert choose_driver(docker.project, [server], DriverChoice("docker"), notes.append).name == "docker"
        assert len([note for note in notes if "left by a pushbench that was killed" in note]) == 2
