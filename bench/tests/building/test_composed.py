"""A compose file that asks for more than a trial gives is refused with its line; others get what they ask for."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.building.composed import Resolved, resolved
from pushbench.building.engine import MODEL, Engine, EngineFailed
from pushbench.building.images import images_of
from pushbench.catalog.servers import Server, read_servers
from pushbench.catalog.systems import read_system
from pushbench.foundation.errors import UserError

ENGINE = Engine.find()
GIB = 1 << 30
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "redis-chat"
SERVER = """\
title: A chat
link: https://example.org
language: Go
suite: tiny
protocol: tiny-json
tier: baseline
compose: {entry: proxy, port: 8080}
"""
FILE = """\
services:
  proxy:
    build: proxy
    depends_on: [app]
  app: &app
    build: {context: ./app, args: {VERSION: "1"}}
    environment: {PRICE: "5$$"}
  db:
    image: redis:8-alpine
    tmpfs: ["/run:size=1m"]
    mem_limit: 256m
    volumes: ["data:/data"]
volumes:
  data:
"""


class Composing(Engine):
    """An engine that makes a model of plain files; a test sets the results of short forms by `changed`."""

    def __init__(self, changed: dict[str, Any] | None = None, said: str | None = None) -> None:
        super().__init__("docker", "1")
        self.__dict__.update(changed=changed or {}, said=said)

    def compose_model(self, file: Path, folder: Path) -> dict[str, Any]:
        if said := self.__dict__["said"]:
            raise EngineFailed(f"{file}: {said}")
        model: dict[str, Any] = json.loads(file.read_text())
        for service in model["services"].values():
            built = service.get("build")
            if built:
                build = {"context": built} if isinstance(built, str) else dict(built)
                service["build"] = build | {"context": str(folder / build["context"])}
            if isinstance(service.get("depends_on"), list):
                each = {"condition": "service_started", "required": True}
                service["depends_on"] = dict.fromkeys(service["depends_on"], each)
            if service.get("mem_limit") == "256m":
                service["mem_limit"] = str(256 << 20)
            if service.get("volumes") == ["data:/data"]:
                service["volumes"] = [{"type": "volume", "source": "data", "target": "/data", "volume": {}}]
            service["networks"] = {"default": None}
        model["volumes"] = {
            name: {"name": f"{MODEL}_{name}", **(rest or {})} for name, rest in model["volumes"].items()
        }
        for at, value in self.__dict__["changed"].items():
            target = model
            *above, last = at.split(".")
            for part in above:
                target = target[part]
            target[last] = value
        return copy.deepcopy(model)


def system(root: Path, text: str = FILE, server: str = SERVER) -> Server:
    folder = root / "chat"
    for name in ("proxy", "app"):
        (folder / name).mkdir(parents=True)
        (folder / name / "Dockerfile").write_text("FROM scratch\n")
    (folder / "server.yml").write_text(server)
    (folder / "compose.yml").write_text(text)
    return read_servers(folder)[0]


def accepted(root: Path, text: str = FILE, engine: Engine | None = None) -> Resolved:
    return resolved(engine or Composing(), system(root, text), 2 * GIB)[1]


def refused(root: Path, text: str, engine: Engine | None = None) -> str:
    with pytest.raises(UserError) as raised:
        accepted(root, text, engine)
    return str(raised.value).replace(f"{root}/chat/", "")


def test_parts_without_a_limit_share_the_memory_that_the_others_leave(tmp_path: Path) -> None:
    parts = accepted(tmp_path).services
    assert {name: part.mem_limit for name, part in parts.items()} == {
        "proxy": 896 << 20,
        "app": 896 << 20,
        "db": 256 << 20,
    }
    assert parts["app"].environment == {"PRICE": "5$$"}
    assert parts["proxy"].depends_on["app"].condition == "service_started"
    assert [mount.source for mount in parts["db"].volumes] == ["data"]


def test_parts_with_the_same_build_share_an_image_and_others_have_one_each(tmp_path: Path) -> None:
    server = system(tmp_path, FILE.replace("  db:", "  twin: *app\n  db:"))
    images = images_of([server])
    assert [image.context.name for image in images] == ["proxy", "app"]
    assert [image.arguments for image in images] == [{}, {"VERSION": "1"}]
    assert all(image.name.startswith("chat--part--") for image in images)
    assert len({image.name for image in images}) == 2


HOSTILE = {
    "privileged: true": "privileged: a system cannot have this; remove it: the policy of trials decides",
    "network_mode: host": "network_mode: a system cannot have this; remove it: all parts share one network",
    "pid: host": "pid: a system cannot have this; remove it: the policy of trials decides",
    "ipc: host": "ipc: a system cannot have this",
    "userns_mode: host": "userns_mode: a system cannot have this",
    "cgroup_parent: /": "cgroup_parent: a system cannot have this",
    'ports: ["80:80"]': "ports: a system cannot have this; remove it: clients reach the entry without",
    "devices: [/dev/kmsg]": "devices: a system cannot have this",
    "cap_add: [ALL]": "cap_add: a system cannot have this",
    'security_opt: ["seccomp=unconfined"]': "security_opt: a system cannot have this",
    "volumes_from: [db]": "volumes_from: a system cannot have this",
    "env_file: /etc/shadow": "env_file: a system cannot have this; write the values under environment",
    "extends: {file: /etc/passwd, service: x}": "extends: a system cannot have this; copy its content into this file",
    "provider: {type: sh}": "provider: a system cannot have this",
    "restart: always": "restart: a system cannot have this; remove it: a part that ends is the result of the trial",
    "cpuset: '0'": "cpuset: a system cannot have this; remove it: all parts share the CPUs of the server",
    "networks: [front]": "networks: a system cannot have this; remove it: all parts share one network",
}


@pytest.mark.parametrize("line", HOSTILE)
def test_what_a_part_cannot_have_is_refused_before_the_engine_sees_it(tmp_path: Path, line: str) -> None:
    text = FILE.replace("    image: redis", f"    {line}\n    image: redis")
    untouched = Composing(said="nobody may ask")
    assert refused(tmp_path, text, untouched).startswith(f"compose.yml:9: services.db.{HOSTILE[line]}")


@pytest.mark.parametrize(
    "line", ["include: [/etc/compose.yml]", "secrets: {x: {file: /etc/shadow}}", "networks: {x: }"]
)
def test_what_a_file_cannot_have_is_refused(tmp_path: Path, line: str) -> None:
    key = line.partition(":")[0]
    untouched = Composing(said="nobody may ask")
    assert refused(tmp_path, FILE + line, untouched).startswith(f"compose.yml:15: {key}: a system cannot have this; ")


@pytest.mark.parametrize(
    ("given", "changed", "expected"),
    [
        (
            ('"data:/data"', '"/:/host"'),
            {"services.db.volumes": [{"type": "bind", "source": "/", "target": "/host"}]},
            "compose.yml:12: services.db.volumes.0: mounts / of this machine at /host; copy files into the image",
        ),
        (
            ('"data:/data"', '"data:/data"'),
            {"volumes.data": {"name": f"{MODEL}_data", "driver_opts": {"type": "none", "o": "bind", "device": "/"}}},
            "compose.yml:14: volumes.data: a volume with driver_opts; leave it empty: each trial creates it",
        ),
        (
            ("  data:\n", "  data: {external: true}\n"),
            {"volumes.data": {"name": "data", "external": True}},
            "compose.yml:14: volumes.data.external: a volume with external; leave it empty",
        ),
        (
            ("  data:\n", "  data: {name: other}\n"),
            {"volumes.data": {"name": "other"}},
            "compose.yml:14: volumes.data.name: a volume with name; leave it empty",
        ),
        (
            ("/run:size=1m", "/run:exec"),
            {},
            "compose.yml:10: services.db.tmpfs.0: cannot be mounted: /run:exec; only size, mode, uid",
        ),
        (("mem_limit: 256m", "mem_limit: 3g"), {"services.db.mem_limit": str(3 * GIB)}, "compose.yml:11: services.db."),
        (("build: proxy", "build: .."), {}, "compose.yml:3: services.proxy.build: .. is outside of chat; build from"),
        (
            ("build: proxy", "build: https://x.org/y.git"),
            {},
            "compose.yml:3: services.proxy.build: a build that uses variables",
        ),
        (("build: proxy", "build: $PLACE"), {}, "compose.yml:3: services.proxy.build: a build that uses "),
        (
            ("build: proxy", "build: {context: proxy, dockerfile: ../app/Dockerfile}"),
            {},
            "compose.yml:3: services.proxy.build.dockerfile: ../app/Dockerfile is outside of proxy; put the Dockerfile",
        ),
        (
            ("build: proxy", "build: {context: proxy, additional_contexts: {x: /}}"),
            {},
            "compose.yml:3: services.proxy.build.additional_contexts: ",
        ),
        (("redis:8-alpine", "${IMAGE}:1"), {}, "compose.yml:9: services.db.image: expected the name of an image"),
        (("depends_on: [app]", "privileged: true"), {}, "compose.yml:4: services.proxy.privileged: "),
        (
            ("depends_on: [app]", "depends_on: {app: {condition: service_completed_successfully, required: true}}"),
            {},
            "compose.yml:4: services.proxy.depends_on.app.condition: expected 'service_started' or 'service_healthy'",
        ),
        (("  db:\n", "  d_b:\n"), {}, "compose.yml:8: services.d_b: expected a name of a-z, 0-9 and -"),
        (("  db:\n", f"  {'d' * 31}:\n"), {}, f"compose.yml:8: services.{'d' * 31}: expected a name of"),
        (("build: proxy", "image: x:1\n    build: proxy"), {}, "compose.yml:2: services.proxy: expected either build"),
        (
            ("proxy:\n", "front:\n"),
            {},
            "compose.yml:1: services: no service 'proxy', which server.yml names",
        ),
    ],
)
def test_what_a_value_would_reach_is_refused(
    tmp_path: Path, given: tuple[str, str], changed: dict[str, Any], expected: str
) -> None:
    assert given[0] in FILE
    assert refused(tmp_path, FILE.replace(given[0], given[1], 1), Composing(changed)).startswith(expected)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"services.proxy.build.context": "/etc"}, "compose.yml:3: services.proxy.build: a build that depends on"),
        ({"services.proxy.build.args": {"A": "b"}}, "compose.yml:3: services.proxy.build: a build that depends on"),
        ({"services.db.image": "other:1"}, "compose.yml:9: services.db.image: an image that depends on variables"),
        ({"services.db.build": {"context": "/"}}, "compose.yml:9: services.db.image: an image that depends on"),
        ({"services.db.networks": {"other": None}}, "compose.yml:8: services.db: a network of its own"),
        ({"services.more": {"image": "x:1"}}, "compose.yml: services that depend on variables"),
    ],
)
def test_a_model_of_something_else_than_the_file_is_refused(
    tmp_path: Path, changed: dict[str, Any], expected: str
) -> None:
    assert refused(tmp_path, FILE, Composing(changed)).startswith(expected)


def test_a_model_with_more_than_the_file_is_refused(tmp_path: Path) -> None:
    assert "services.db.privileged: unknown key" in refused(tmp_path, FILE, Composing({"services.db.privileged": True}))


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    server = system(tmp_path)
    (server.folder / "app").rename(tmp_path / "elsewhere")
    (server.folder / "app").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"compose.yml:6: services.app.build.context: ./app is outside of chat"):
        resolved(Composing(), server, GIB)
    (server.folder / "compose.yml").rename(tmp_path / "compose.yml")
    (server.folder / "compose.yml").symlink_to(tmp_path / "compose.yml")
    with pytest.raises(UserError, match=r"compose.yml: links to a file outside of chat"):
        resolved(Composing(), server, GIB)


def test_what_the_engine_says_is_one_line_with_the_file(tmp_path: Path) -> None:
    said = refused(tmp_path, FILE, Composing(said="services.db.user must be a string"))
    assert said == "compose.yml: services.db.user must be a string; see docs.docker.com/reference/compose-file"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("compose: {entry: proxy, port: 8080}", ""), "expected either process, compose or url"),
        (("tier:", "services: [redis]\ntier:"), "services: a system has its own, in its compose file"),
        (("tier:", "env: {A: b}\ntier:"), "env: a system has its own, in its compose file"),
        (("port: 8080", "port: 0"), "server.yml:7: compose.port"),
        (("port: 8080", "port: 8080, file: ../compose.yml"), "server.yml:7: compose.file"),
    ],
)
def test_a_description_of_a_system_has_one_place(tmp_path: Path, given: tuple[str, str], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        system(tmp_path, server=SERVER.replace(*given))


def test_the_example_is_a_system_whose_instances_share_an_image() -> None:
    [server] = read_servers(EXAMPLE)
    assert list(read_system(server).parts) == ["proxy", "chat-1", "chat-2", "redis"]
    assert [image.context.name for image in images_of([server])] == ["proxy", "chat"]


@pytest.mark.slow
@pytest.mark.skipif(ENGINE is None, reason="needs a container engine, whose `docker compose` makes the model")
class TestWithAnEngine:
    def test_it_takes_the_example(self) -> None:
        assert ENGINE
        [server] = read_servers(EXAMPLE)
        assert sum(part.mem_limit or 0 for part in resolved(ENGINE, server, 2 * GIB)[1].services.values()) <= 2 * GIB

    def test_it_makes_the_same_of_the_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert ENGINE
        monkeypatch.setenv("DOCKER_AUTH_CONFIG", "secret")
        assert accepted(tmp_path / "one", FILE, ENGINE) == accepted(tmp_path / "two")
        text = FILE.replace("environment: {PRICE", "environment: {DOCKER_AUTH_CONFIG: , TAG: '${TAG:-no}', PRICE")
        server = system(tmp_path, text)
        (server.folder / ".env").write_text("TAG=secret")
        found = resolved(ENGINE, server, GIB)[1].services["app"].environment
        assert found == {"DOCKER_AUTH_CONFIG": None, "TAG": "no", "PRICE": "5$$"}

    def test_what_short_forms_stand_for_is_refused(self, tmp_path: Path) -> None:
        text = FILE.replace('"data:/data"', "./app:/app:ro")
        assert "mounts " in refused(tmp_path / "bind", text, ENGINE)
        text = FILE.replace('"data:/data"', "/var/run/docker.sock:/x")
        said = refused(tmp_path / "socket", text, ENGINE)
        assert said.startswith(
            "compose.yml:12: services.db.volumes.0: mounts /var/run/docker.sock of this machine at /x"
        )
        text = FILE.replace("  data:\n", "  data: {driver_opts: {type: none, o: bind, device: /}}\n")
        assert refused(tmp_path / "volume", text, ENGINE).startswith("compose.yml:14: volumes.data.driver_opts: ")
