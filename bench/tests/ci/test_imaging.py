"""Images come from the expected source, and an archive provides only the requested image."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pushbench.building.engine import Engine, EngineFailed
from pushbench.building.images import Image, bake_definition, image_of, images_of
from pushbench.ci import imaging
from pushbench.ci.imaging import get, load, require
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.ci.archives import buildx, write
from tests.ci.events import environment, push
from tests.ci.job_results import STEP, make_plan
from tests.support import make_project

REGISTRY = "ghcr.io/acme/pushbench"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("PUSHBENCH_REGISTRY", REGISTRY)
    project = make_project(tmp_path / "checkout", alpha="", beta="")
    monkeypatch.setenv("PUSHBENCH_ROOT", str(project.root))
    return project


class FakeEngine(Engine):
    """Has some images, and can pull some; loads the images that an archive names, and `extra` ones like an attack."""

    def __init__(self, there: set[str], registry: set[str], extra: dict[str, str] | None = None) -> None:
        super().__init__("docker", "1")
        self.__dict__.update(there=dict.fromkeys(there, "sha256:0"), registry=registry, said=[], extra=extra or {})

    def image(self, reference: str) -> str | None:
        return self.tags().get(reference)

    def tags(self) -> dict[str, str]:
        return dict(self.__dict__["there"])

    def run(self, *arguments: str, seconds: float = 0.0) -> str:
        there = self.__dict__["there"]
        self.__dict__["said"].append(arguments)
        match arguments:
            case ("pull", *_, name):
                if name not in self.__dict__["registry"]:
                    raise EngineFailed("manifest unknown")
                there[name] = "sha256:1"
            case ("load", *_, path):
                with tarfile.open(path) as opened:
                    file = opened.extractfile("manifest.json")
                    assert file
                    [manifest] = json.loads(file.read())
                there.update(dict.fromkeys(manifest["RepoTags"], "sha256:2"), **self.__dict__["extra"])
            case ("image", "tag", identity, name):
                there[name] = identity
            case ("image", "rm", _, name):
                del there[name]
        return ""


def references(project: Project) -> dict[str, str]:
    return {image.name: image.reference() for image in images_of(imaging.servers_of(project, ["alpha", "beta"]))}


def alpha(project: Project) -> Image:
    [image] = images_of(imaging.servers_of(project, ["alpha"]))
    return image


def test_images_come_from_archives_the_engine_or_the_registry(project: Project, tmp_path: Path) -> None:
    names = references(project)
    write(tmp_path / "images" / "alpha.tar", buildx(tags=[names["alpha"], f"{REGISTRY}/alpha:latest"]))
    engine = FakeEngine(set(), {names["beta"]})
    assert not get(engine, project, ["alpha", "beta"], tmp_path / "images", lambda _: None)
    assert [each[0] for each in engine.__dict__["said"]] == ["load", "pull"]
    there = FakeEngine(set(names.values()), set())
    assert not get(there, project, ["alpha", "beta"], None, lambda _: None)
    assert there.__dict__["said"] == []


def test_what_is_nowhere_is_told_with_the_reason_and_what_to_do(project: Project) -> None:
    missing = get(FakeEngine(set(), set()), project, ["alpha", "beta"], None, lambda _: None)
    reference = references(project)["alpha"]
    assert missing["alpha"] == f"{reference}: the registry does not have it (manifest unknown)"
    with pytest.raises(UserError, match=r"no image of alpha, beta: .*manifest unknown.*the job images builds"):
        require(missing, imaging.IMAGE_HINT)
    require({}, imaging.IMAGE_HINT)


def test_local_names_are_not_looked_for_in_a_registry(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUSHBENCH_REGISTRY")
    engine = FakeEngine(set(), set())
    assert list(get(engine, project, ["alpha"], None, lambda _: None)) == ["alpha"]
    assert engine.__dict__["said"] == []


def test_an_archive_that_names_another_image_is_refused(project: Project, tmp_path: Path) -> None:
    engine = FakeEngine(set(), set())
    path = write(tmp_path / "alpha.tar", buildx(tags=[alpha(project).reference(), "python:3.12-slim"]))
    with pytest.raises(UserError, match="the archive names its image"):
        load(engine, path, alpha(project))
    assert engine.__dict__["said"] == []


@pytest.mark.parametrize(
    "extra", [{"python:3.12-slim": "sha256:9"}, {"redis:8-alpine": "sha256:9"}, {"sha256:8": "sha256:8"}]
)
def test_a_load_that_brings_more_than_its_image_is_undone(
    project: Project, tmp_path: Path, extra: dict[str, str]
) -> None:
    """If the check of archives had a hole, the engine would still end with the same names."""
    engine = FakeEngine({"python:3.12-slim"}, set(), extra)
    before = engine.tags()
    own = alpha(project).reference()
    with pytest.raises(UserError, match=f"contains {next(iter(extra))}, not .* alone"):
        load(engine, write(tmp_path / "alpha.tar", buildx(tags=[own])), alpha(project))
    assert engine.tags() == before


def test_an_image_that_loses_its_name_to_the_archive_is_no_surprise(project: Project, tmp_path: Path) -> None:
    own = alpha(project).reference()
    engine = FakeEngine({own}, set(), {"sha256:0": "sha256:0"})
    load(engine, write(tmp_path / "alpha.tar", buildx(tags=[own])), alpha(project))
    assert engine.image(own) == "sha256:2"


def test_what_a_stranger_wrote_is_not_pushed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushbench.foundation.trees.check_out", lambda project, _: project)
    monkeypatch.setenv("PLAN", make_plan(STEP, untrusted=True).model_dump_json(by_alias=True))
    with pytest.raises(UserError, match="is not pushed"):
        app(["ci", "images", "--output", "push"])


def test_without_an_engine_the_error_says_what_to_do(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PLAN", make_plan(STEP).model_dump_json(by_alias=True))
    with pytest.raises(UserError, match="PUSHBENCH_DRIVER"):
        app(["ci", "images", "--get"])


class Done:
    """The builds and fetches of a job, with their arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.did: list[str] = []
        self.alias: str | None = "?"
        monkeypatch.setattr("pushbench.foundation.trees.check_out", lambda project, _: project)
        monkeypatch.setattr(Engine, "find", lambda: FakeEngine(set(), set()))
        monkeypatch.setattr(imaging, "make", self._make)
        monkeypatch.setattr(imaging, "get", self._note("get"))
        monkeypatch.setattr(imaging, "get_services", self._note("services"))
        monkeypatch.setattr(imaging, "copy_services", self._note("copy services"))

    def _make(self, *_: object, output: str, alias: str | None, **__: object) -> None:
        self.did.append(f"build {output}")
        self.alias = alias

    def _note(self, what: str) -> Callable[..., dict[str, str]]:
        def note(*_: object) -> dict[str, str]:
            self.did.append(what)
            return {}

        return note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("driver", "images", "untrusted", "did"),
    [
        ("docker", "", False, ["services", "get"]),
        ("docker", "push", False, ["services", "get"]),
        ("docker", "load", False, ["build load", "services"]),
        ("process", "load", False, []),
        ("docker", "", True, ["services", "get"]),
        ("docker", "load", True, ["services", "get"]),
    ],
)
def test_the_machine_that_measures_builds_or_fetches_and_what_strangers_wrote_is_always_fetched(
    project: Project, monkeypatch: pytest.MonkeyPatch, driver: str, images: str, untrusted: bool, did: list[str]
) -> None:
    monkeypatch.setenv("PUSHBENCH_IMAGES", images)
    plan = make_plan(STEP, untrusted=untrusted, driver=driver, images=["alpha"])
    monkeypatch.setenv("PLAN", plan.model_dump_json(by_alias=True))
    done = Done(monkeypatch)
    app(["ci", "images", "--get", "--archives", "x"], standalone_mode=False)
    assert done.did == did


def test_a_setting_that_is_none_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSHBENCH_IMAGES", "archive")
    monkeypatch.setenv("PLAN", make_plan(STEP).model_dump_json(by_alias=True))
    with pytest.raises(UserError, match="PUSHBENCH_IMAGES is 'archive'; push, or load"):
        app(["ci", "images", "--get"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ref", "number", "alias"),
    [("refs/heads/main", None, "latest"), ("refs/pull/7/merge", 7, "pr-7"), ("refs/heads/mine", None, None)],
)
def test_only_the_default_branch_writes_latest_and_cache(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ref: str, number: int | None, alias: str | None
) -> None:
    event = push(repository={"default_branch": "main"})
    for name, value in {**environment(tmp_path, "push", event), "GITHUB_REF": ref}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PLAN", make_plan(STEP, pull_request=number, images=["alpha"]).model_dump_json(by_alias=True))
    done = Done(monkeypatch)
    app(["ci", "images", "--output", "push", "--cache", "registry"], standalone_mode=False)
    assert done.did == ["build push", "copy services"]
    assert done.alias == alias
    [server] = imaging.servers_of(project, ["alpha"])
    [target] = bake_definition(project.root, [image_of(server)], cache="registry", output="push", alias=alias)[
        "target"
    ].values()
    assert target["tags"][1:] == ([f"{REGISTRY}/alpha:{alias}"] if alias else [])
    assert target["cache-from"] == [f"type=registry,ref={REGISTRY}/alpha:cache"]
    assert ("cache-to" in target) == (alias == "latest")
