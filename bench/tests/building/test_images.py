"""Images are named by their sources, defined by each server.yml alone, and identical for identical sources."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from pushbench.building.engine import Engine, EngineFailed, EngineTimedOut
from pushbench.building.images import Image, bake_definition, image_of, images_of
from pushbench.catalog.servers import Server, read_catalog, read_servers
from pushbench.foundation.project import Project
from tests.building.base_images import base_images, out_of_reach
from tests.support import add_server, make_project

CHECKOUT = Project.current()
ENGINE = Engine.find()


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def with_variants(project: Project) -> list[Server]:
    file = add_server(project, "game").file
    variants = "variants:\n  fast: {env: {MODE: fast}}\n  other: {image: {arguments: {NODE: node:22}}}\n"
    file.write_text(file.read_text() + variants)
    return read_servers(file.parent)


def target(project: Project, server: Server, **choices: Any) -> dict[str, Any]:
    found: dict[str, Any] = bake_definition(project.root, [image_of(server)], **choices)["target"][server.image_name]
    return found


def test_every_server_of_this_checkout_has_an_image_whose_dockerfile_exists() -> None:
    for image in images_of(read_catalog(CHECKOUT.servers)):
        assert (image.context / image.dockerfile).is_file(), image


def test_variants_share_an_image_unless_they_build_another(tmp_path: Path) -> None:
    base, fast, other = with_variants(make_project(tmp_path))
    assert [image.name for image in images_of([base, fast, other])] == ["game", "game--other"]
    assert image_of(fast).reference() == image_of(base).reference()
    assert image_of(other).reference().rpartition(":")[2] != image_of(base).reference().rpartition(":")[2]


def test_an_image_of_changed_sources_has_another_name(tmp_path: Path) -> None:
    server = add_server(make_project(tmp_path), "x")
    before = image_of(server).reference()
    (server.folder / "new").write_text("x")
    assert image_of(server).reference() != before


def test_a_target_says_what_it_is_built_of_and_when_that_last_changed(tmp_path: Path) -> None:
    project = make_project(tmp_path, x="", y="")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", "https://somebody:secret@example.org/me/bench.git")
    git(tmp_path, "add", "servers/x")
    git(tmp_path, "commit", "--quiet", "--message", "x", "--date", "2026-01-02T03:04:05Z")
    sha, epoch = git(tmp_path, "log", "-1", "--format=%H %ct").split()
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "y")
    found = target(project, read_servers(project.servers / "x")[0])
    assert found["context"] == "servers/x"
    assert found["args"] == {"SOURCE_DATE_EPOCH": epoch}
    assert found["labels"] == {
        "org.opencontainers.image.title": "Fake x",
        "org.opencontainers.image.source": "https://example.org/me/bench",
        "org.opencontainers.image.revision": sha,
    }


def test_outside_git_an_image_can_be_built_all_the_same(tmp_path: Path) -> None:
    project = make_project(tmp_path, x="")
    found = target(project, read_servers(project.servers / "x")[0])
    assert found["args"] == {}
    assert found["labels"] == {"org.opencontainers.image.title": "Fake x"}


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, {"output": ["type=docker,rewrite-timestamp=true"]}),
        ({"output": "push"}, {"output": ["type=image,push=true,rewrite-timestamp=true"]}),
        ({"output": "archive"}, {"output": ["type=docker,dest=out/images/x.tar,rewrite-timestamp=true"]}),
        ({"cache": "local"}, {"cache-from": ["type=local,src=.cache/pushbench/images/x"]}),
        (
            {"cache": "registry", "registry": "ghcr.io/me/pb"},
            {
                "cache-from": ["type=registry,ref=ghcr.io/me/pb/x:cache"],
                "cache-to": ["type=registry,ref=ghcr.io/me/pb/x:cache,mode=max,ignore-error=true"],
            },
        ),
    ],
)
def test_where_images_and_layers_go_is_a_choice(
    tmp_path: Path, choices: dict[str, str], expected: dict[str, list[str]]
) -> None:
    project = make_project(tmp_path, x="")
    found = target(project, read_servers(project.servers / "x")[0], **choices)
    assert {key: found[key] for key in expected} == expected
    prefix = choices.get("registry", "pushbench")
    assert re.fullmatch(rf"{prefix}/x:[0-9a-f]{{12}}", found["tags"][0])
    assert found["tags"][1] == f"{prefix}/x:latest"


def contents(engine: Engine, image: str, archive: Path) -> str:
    """A digest over names, owners, modes and contents of all files of an image, without their times."""
    container = engine.run("create", image, "nothing").strip()
    try:
        engine.run("export", "--output", str(archive), container)
    finally:
        engine.run("rm", container)
    total = hashlib.sha256()
    with tarfile.open(archive) as files:
        for member in sorted(files, key=lambda each: each.name):
            content = files.extractfile(member) if member.isfile() else None
            digest = hashlib.sha256(content.read()).hexdigest() if content else ""
            total.update(f"{member.name} {member.mode:o} {member.uid} {member.linkname} {digest}\n".encode())
    return total.hexdigest()


def builder_version() -> tuple[int, ...]:
    """The version of BuildKit. From 0.13 on, it can give the files of a layer the times of their source."""
    said = subprocess.run(["docker", "buildx", "inspect"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"BuildKit version:\s+v(\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else (0,)


STAGES = """\
ARG GO=golang:1.25-alpine
FROM --platform=linux/amd64 ${GO} AS build
RUN make
FROM build AS tested
FROM scratch
COPY --from=build /made /
"""


def test_a_dockerfile_names_the_images_that_it_starts_from() -> None:
    assert base_images(STAGES, {}) == ["golang:1.25-alpine"]
    assert base_images(STAGES, {"GO": "golang:1.26"}) == ["golang:1.26"]
    for image in images_of(read_catalog(CHECKOUT.servers)):
        assert base_images((image.context / image.dockerfile).read_text(), image.arguments), image


class Lacking(Engine):
    """An engine without images. Each pull fails with the error `said`, or succeeds if it is None."""

    def __init__(self, said: EngineFailed | None) -> None:
        super().__init__("docker", "1")
        self.__dict__.update(said=said)

    def run(self, *arguments: str, seconds: float = 0.0) -> str:
        if arguments[0] == "image":
            raise EngineFailed("No such image")
        assert arguments == ("pull", "--quiet", "golang:1.25-alpine")
        if said := self.__dict__["said"]:
            raise said
        return ""


LOOKUP = 'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io on 127.0.0.53:53: no such host'


@pytest.mark.parametrize(
    ("said", "lacking"),
    [
        (None, None),
        (EngineFailed(LOOKUP), "golang:1.25-alpine"),
        (EngineFailed("dial tcp 192.0.2.1:443: connect: network is unreachable"), "golang:1.25-alpine"),
        (EngineFailed("manifest for golang:1.25-alpine not found: manifest unknown"), None),
        (EngineFailed("toomanyrequests: You have reached your pull rate limit"), None),
        (EngineFailed("denied: requested access to the resource is denied"), None),
        (EngineTimedOut("`pull --quiet` did not answer within 60 s"), None),
    ],
)
def test_an_image_is_lacking_only_where_no_registry_is_in_reach(said: EngineFailed | None, lacking: str | None) -> None:
    assert out_of_reach(Lacking(said), STAGES, {}) == lacking


@pytest.mark.images
@pytest.mark.slow
@pytest.mark.skipif(ENGINE is None, reason="needs a container engine")
@pytest.mark.parametrize("name", ["node-ws", "go", "spring-websocket"])
def test_the_same_sources_give_the_same_image(tmp_path: Path, name: str) -> None:
    """It is built twice without a cache, from two copies whose files have different times."""
    assert ENGINE
    [server] = [each for each in read_catalog(CHECKOUT.servers) if each.id == name]
    spec = server.spec.image
    dockerfile = (server.folder / spec.dockerfile).read_text()
    if lacking := out_of_reach(ENGINE, dockerfile, spec.arguments):
        pytest.skip(f"needs the image {lacking}, which no registry in reach has")
    ids, files = [], []
    for copy in ("first", "second"):
        root = tmp_path / copy
        shutil.copytree(
            server.folder,
            root / name,
            copy_function=shutil.copyfile,
            ignore=shutil.ignore_patterns("node_modules", "target"),
        )
        image = Image(name, root / name, spec.dockerfile, spec.arguments, server.spec.title)
        definition = bake_definition(root, [image], registry=f"pushbench-test-{copy}")
        definition["target"][name]["args"]["SOURCE_DATE_EPOCH"] = "1767323045"
        (root / "bake.json").write_text(json.dumps(definition))
        command = ["docker", "buildx", "bake", "--no-cache", "--file", "bake.json"]
        subprocess.run(command, cwd=root, check=True, capture_output=True)
        reference = definition["target"][name]["tags"][0]
        ids.append(ENGINE.image(reference))
        files.append(contents(ENGINE, reference, tmp_path / "files.tar"))
        ENGINE.run("image", "rm", *definition["target"][name]["tags"])
    assert files[0] == files[1]
    if builder_version() >= (0, 13):
        assert ids[0] == ids[1]
