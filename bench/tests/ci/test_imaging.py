"""Images come from where they should, and an archive brings no other image than the one it is asked for."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from pushbench.ci import imaging
from pushbench.ci.imaging import check_archive, get
from pushbench.cli import app
from pushbench.engine import Engine, EngineFailed
from pushbench.errors import UserError
from pushbench.images import images_of
from pushbench.project import Project
from tests.ci.test_result import STEP, make_plan
from tests.support import make_project

REGISTRY = "ghcr.io/acme/pushbench"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("PUSHBENCH_REGISTRY", REGISTRY)
    project = make_project(tmp_path / "checkout", alpha="", beta="")
    monkeypatch.setenv("PUSHBENCH_ROOT", str(project.root))
    return project


class FakeEngine(Engine):
    """Has some images, and can pull some."""

    def __init__(self, there: set[str], registry: set[str]) -> None:
        super().__init__("docker", "1")
        self.__dict__.update(there=there, registry=registry, said=[])

    def image(self, reference: str) -> str | None:
        return "sha256:0" if reference in self.__dict__["there"] else None

    def run(self, *arguments: str) -> str:
        self.__dict__["said"].append(arguments)
        if arguments[0] == "pull" and arguments[-1] not in self.__dict__["registry"]:
            raise EngineFailed("manifest unknown")
        return ""


def references(project: Project) -> dict[str, str]:
    return {image.name: image.reference() for image in images_of(imaging.servers_of(project, ["alpha", "beta"]))}


def archive(path: Path, manifest: Any) -> Path:
    content = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as opened:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(content)
        opened.addfile(member, io.BytesIO(content))
    return path


def test_images_come_from_archives_the_engine_or_the_registry(project: Project, tmp_path: Path) -> None:
    names = references(project)
    archive(tmp_path / "images" / "alpha.tar", [{"RepoTags": [names["alpha"], f"{REGISTRY}/alpha:latest"]}])
    engine = FakeEngine(set(), {names["beta"]})
    assert get(engine, project, ["alpha", "beta"], tmp_path / "images", lambda _: None) == []
    assert [each[0] for each in engine.__dict__["said"]] == ["load", "pull"]
    there = FakeEngine(set(names.values()), set())
    assert get(there, project, ["alpha", "beta"], None, lambda _: None) == []
    assert there.__dict__["said"] == []
    assert get(FakeEngine(set(), set()), project, ["alpha", "beta"], None, lambda _: None) == ["alpha", "beta"]


def test_local_names_are_not_looked_for_in_a_registry(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUSHBENCH_REGISTRY")
    engine = FakeEngine(set(), set())
    assert get(engine, project, ["alpha"], None, lambda _: None) == ["alpha"]
    assert engine.__dict__["said"] == []


@pytest.mark.parametrize(
    "tags",
    [
        ["python:3.12-slim"],
        ["OWN", "python:3.12-slim"],
        ["OWN", f"{REGISTRY}/beta:latest"],
        [f"{REGISTRY}/alpha:latest"],
        [],
        None,
    ],
)
def test_an_archive_that_names_another_image_is_refused(
    project: Project, tmp_path: Path, tags: list[str] | None
) -> None:
    own = references(project)["alpha"]
    named = None if tags is None else [own if tag == "OWN" else tag for tag in tags]
    path = archive(tmp_path / "alpha.tar", [{"RepoTags": named}])
    [image] = images_of(imaging.servers_of(project, ["alpha"]))
    with pytest.raises(UserError, match="the archive names its image"):
        check_archive(path, image)


@pytest.mark.parametrize("manifest", [b"", b"{", b"[" * 50_000, {"RepoTags": []}, [{}], [1], 5])
def test_an_archive_that_is_odd_is_refused(project: Project, tmp_path: Path, manifest: Any) -> None:
    [image] = images_of(imaging.servers_of(project, ["alpha"]))
    with pytest.raises(UserError, match="no archive of an image"):
        check_archive(archive(tmp_path / "alpha.tar", manifest), image)
    (tmp_path / "beta.tar").write_bytes(b"x" * 2000)
    with pytest.raises(UserError, match="no archive of an image"):
        check_archive(tmp_path / "beta.tar", image)


def test_what_a_stranger_wrote_is_not_pushed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushbench.trees.check_out", lambda project, _: project)
    monkeypatch.setenv("PLAN", make_plan(STEP, untrusted=True).model_dump_json(by_alias=True))
    with pytest.raises(UserError, match="is not pushed"):
        app(["ci", "images", "--output", "push"])


def test_without_an_engine_the_error_says_what_to_do(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PLAN", make_plan(STEP).model_dump_json(by_alias=True))
    with pytest.raises(UserError, match="PUSHBENCH_DRIVER"):
        app(["ci", "images", "--get"])
