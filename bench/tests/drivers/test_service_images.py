"""Images of services are fetched by digest, from the project's own registry first, and never assumed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from pushbench.building.engine import Engine, EngineFailed
from pushbench.building.images import image_of, registry_prefix
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import read_catalog
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.service_images import (
    LOCK,
    ServiceImage,
    copy_to_registry,
    fetch,
    needed_by,
    service_images,
    write_lock,
)
from pushbench.drivers.services import KNOWN
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.machine.environment import CpuSplit
from tests.registry_double import NAME, Registry, forget
from tests.support import make_project

ENGINE = Engine.find()
DIGEST = f"sha256:{'a' * 64}"
REDIS = ServiceImage("redis", "redis:8-alpine", DIGEST)
REGISTRY = "ghcr.io/acme/pushbench"
MIRROR = f"{REGISTRY}/service.redis@{DIGEST}"


class Docker(Engine):
    """An engine and its registries: `reachable` are the exact names of the images that can be pulled."""

    def __init__(self, *reachable: str, there: dict[str, str] | None = None, pinned: bool = False) -> None:
        super().__init__("docker", "1")
        self.__dict__.update(reachable=reachable, there=dict(there or {}), digests=pinned, pulled=[])

    def image(self, reference: str) -> str | None:
        there: dict[str, str] = self.__dict__["there"]
        return there.get(reference)

    def run(self, *arguments: str, seconds: float = 0.0) -> str:
        there = self.__dict__["there"]
        match arguments:
            case ("pull", "--quiet", name):
                self.__dict__["pulled"].append(name)
                if name not in self.__dict__["reachable"]:
                    raise EngineFailed("manifest unknown")
                there[name] = f"sha256:{'b' * 64}"
            case ("image", "tag", source, name):
                there[name] = there[source]
            case ("image", "inspect", *_):
                return f"redis@{DIGEST}" if self.__dict__["digests"] else ""
            case _:
                raise EngineFailed(f"no {arguments}")
        return ""


def fetched(engine: Docker, image: ServiceImage = REDIS) -> tuple[dict[str, str], list[str]]:
    notes: list[str] = []
    return fetch(engine, [image], notes.append), notes


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_REGISTRY", REGISTRY)
    monkeypatch.setattr("pushbench.drivers.service_images.WAITS", ())


def test_every_service_that_a_server_declares_has_an_image_that_is_pinned() -> None:
    names = needed_by(read_catalog(Project.current().servers))
    assert names == ["redis", "mysql", "rabbitmq"]
    for image in service_images(KNOWN):
        assert image.digest, f"`make lock-images` for {image.reference}"
        assert re.fullmatch(rf"{image.service}@sha256:[0-9a-f]{{64}}", image.source)


def test_the_own_registry_is_asked_first_then_where_the_image_is_published() -> None:
    engine = Docker(MIRROR, f"redis@{DIGEST}")
    assert fetched(engine) == (
        {},
        [f"redis: pulled from {REGISTRY}/service.redis, redis:8-alpine is sha256:{'b' * 12}"],
    )
    assert engine.__dict__["pulled"] == [MIRROR]
    engine = Docker(f"redis@{DIGEST}")
    assert fetched(engine)[0] == {}
    assert engine.__dict__["pulled"] == [MIRROR, f"redis@{DIGEST}"]
    assert engine.image("redis:8-alpine")


def test_without_a_registry_of_the_project_only_the_publisher_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_REGISTRY", "")
    engine = Docker(f"redis@{DIGEST}")
    assert fetched(engine)[0] == {}
    assert engine.__dict__["pulled"] == [f"redis@{DIGEST}"]


def test_an_image_that_no_registry_delivers_is_used_as_it_is_here_and_that_is_told() -> None:
    absent, notes = fetched(Docker(there={"redis:8-alpine": f"sha256:{'c' * 64}"}))
    assert absent == {}
    assert notes[0] == f"redis: {MIRROR}: the registry does not have it (manifest unknown)"
    last = f"redis: there, redis:8-alpine is sha256:{'c' * 12}, not checked against the digest of the lock"
    assert notes[-1] == last


def test_what_is_there_by_the_digest_of_the_lock_is_not_pulled() -> None:
    engine = Docker(there={"redis:8-alpine": f"sha256:{'c' * 64}"}, pinned=True)
    assert fetched(engine) == ({}, [f"redis: there, redis:8-alpine is sha256:{'c' * 12}"])
    assert engine.__dict__["pulled"] == []


def test_an_image_that_is_nowhere_is_told_with_each_reason() -> None:
    absent, _ = fetched(Docker())
    reason = "the registry does not have it (manifest unknown)"
    assert absent == {"redis": f"{MIRROR}: {reason}; redis@{DIGEST}: {reason}"}


def test_an_image_without_a_digest_is_fetched_by_its_tag() -> None:
    engine = Docker(f"{REGISTRY}/service.redis:8-alpine")
    assert fetched(engine, ServiceImage("redis", "redis:8-alpine", None))[0] == {}


def test_a_lock_is_written_where_a_registry_answers(tmp_path: Path) -> None:
    class Looks(Engine):
        def run(self, *arguments: str, seconds: float = 0.0) -> str:
            assert arguments[:3] == ("buildx", "imagetools", "inspect")
            assert arguments[-1] == "redis:8-alpine"
            return f"{DIGEST}\n"

    file = tmp_path / "images.lock.json"
    write_lock(Looks("docker", "1"), [REDIS], file, lambda _: None)
    assert json.loads(file.read_text()) == {"redis:8-alpine": DIGEST}
    [image] = service_images(["redis"], lock=file)
    assert image.digest == DIGEST
    with pytest.raises(UserError, match="cannot be looked up: no"):
        write_lock(Docker(), [REDIS], file, lambda _: None)
    assert json.loads(file.read_text()) == {"redis:8-alpine": DIGEST}


def test_a_server_whose_service_has_no_image_is_told_the_command(tmp_path: Path) -> None:
    project = make_project(tmp_path, alpha="")
    file = project.servers / "alpha" / "server.yml"
    file.write_text(f"{file.read_text()}services: [redis]\nimage: {{dockerfile: Dockerfile}}\n")
    [server] = read_catalog(project.servers)
    own = image_of(server).reference()
    driver = DockerDriver(project, CpuSplit([0], [0]), Docker(there={own: "sha256:1"}))
    with pytest.raises(ServerFailed) as raised:
        driver.build(server, print)
    [reference] = [image.reference for image in service_images(["redis"])]
    said = f"there is no image {reference} of the service redis; `make images` fetches it"
    assert raised.value.failure.message == said
    with_redis = DockerDriver(project, driver.split, Docker(there={own: "sha256:1", reference: "sha256:2"}))
    assert with_redis.build(server, print).digest == "sha256:1"


@pytest.mark.parametrize("content", ["[]", "{", '{"redis:8-alpine": "latest"}', '{"redis:8-alpine": 1}'])
def test_a_lock_that_is_odd_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / LOCK.name
    file.write_text(content)
    with pytest.raises(UserError, match=re.escape(str(file))):
        service_images(["redis"], lock=file)


def test_names_of_images_are_in_lower_case_as_registries_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_REGISTRY", "ghcr.io/MyOrg/PushBench")
    assert registry_prefix() == "ghcr.io/myorg/pushbench"
    assert registry_prefix("ghcr.io/Other/X") == "ghcr.io/other/x"
    name = REDIS.mirror_name().partition("/")[2].rpartition(":")[0]
    assert NAME.fullmatch(name)
    assert not NAME.fullmatch("MyOrg/PushBench")


@dataclass(frozen=True)
class Served:
    registry: Registry
    host: str
    image: ServiceImage


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A registry with an image of a service, pushed by its tag under the project's name; the engine has no image."""
    assert ENGINE
    registry = Registry()
    with registry.served() as host:
        monkeypatch.setenv("PUSHBENCH_REGISTRY", f"{host}/Acme/Pushbench")
        (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
        unpinned = ServiceImage("redis", "pushbench-test-redis:8-alpine", None)
        name = unpinned.mirror_name()
        subprocess.run(["docker", "build", "--quiet", "--tag", name, str(tmp_path)], check=True, capture_output=True)
        ENGINE.run("push", "--quiet", name)
        ENGINE.run("image", "rm", name)
        digest = registry.digest_of("acme/pushbench/service.redis", "8-alpine")
        yield Served(registry, host, ServiceImage("redis", unpinned.reference, digest))
        forget(ENGINE, host)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif(ENGINE is None, reason="needs a container engine that answers")
class TestWithAnEngine:
    def test_an_image_is_pulled_by_digest_named_and_not_pulled_again(self, served: Served) -> None:
        assert ENGINE
        notes: list[str] = []
        assert fetch(ENGINE, [served.image], notes.append) == {}
        assert notes[-1].startswith(f"redis: pulled from {served.host}/acme/pushbench/service.redis, ")
        assert ENGINE.image(served.image.reference)
        count = len(served.registry.asked)
        assert fetch(ENGINE, [served.image], notes.append) == {}
        assert len(served.registry.asked) == count

    def test_what_the_registry_has_already_is_not_copied_again(self, served: Served) -> None:
        assert ENGINE
        notes: list[str] = []
        copy_to_registry(ENGINE, [served.image], notes.append)
        assert notes == ["redis: in the registry already"]

    def test_an_image_is_copied_into_the_project_s_registry_with_its_digest(
        self, served: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The image is copied from one registry to the other."""
        assert ENGINE
        published = f"{served.host}/acme/pushbench/service.redis"
        monkeypatch.setenv("PUSHBENCH_REGISTRY", f"{served.host}/Other/Place")
        image = ServiceImage("redis", f"{published}:8-alpine", served.image.digest)
        notes: list[str] = []
        copy_to_registry(ENGINE, [image], notes.append)
        assert notes == [f"redis: copied to {served.host}/other/place/service.redis:8-alpine"]
        assert served.registry.digest_of("other/place/service.redis", "8-alpine") == served.image.digest

    def test_the_registry_refuses_upper_case_and_nothing_asked_it_for_such_a_name(self, served: Served) -> None:
        """The variable has the name Acme/Pushbench."""
        asked = [each.split("/v2/", 1)[1].split("/manifests/")[0] for each in served.registry.asked if "/manif" in each]
        assert asked
        assert all(NAME.fullmatch(name) for name in asked)
        answer = httpx.get(f"http://{served.host}/v2/Acme/Pushbench/service.redis/manifests/8-alpine")
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["code"] == "NAME_INVALID"
