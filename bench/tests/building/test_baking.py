"""Builds that the engine's own BuildKit cannot do get a separate builder, whichever command requests them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushbench.building.baking import bake
from pushbench.building.images import Cache, Output, images_of
from pushbench.catalog.servers import read_catalog
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.support import make_project

# Behaves like buildx: https://github.com/docker/buildx/blob/master/build/opt.go and driver/docker/driver.go
DOCKER = """\
#!/usr/bin/env python3
import json, pathlib, sys
state = pathlib.Path(__file__).with_name("builders.json")
builders = json.loads(state.read_text())
arguments = sys.argv[1:]
def say(words):
    with open(pathlib.Path(__file__).with_name("said"), "a") as file:
        file.write(json.dumps(words) + "\\n")
def refuse(words):
    print("ERROR: " + words, file=sys.stderr)
    sys.exit(1)
assert arguments.pop(0) == "buildx"
command = arguments.pop(0)
say([command, *arguments])
if command == "inspect":
    name = arguments[0] if arguments else builders["used"]
    if name not in builders["known"]:
        refuse(f'no builder "{name}" found')
    print(f"Name:   {name}\\nDriver: {builders['known'][name]}\\n")
elif command == "create":
    name, driver = arguments[arguments.index("--name") + 1], arguments[arguments.index("--driver") + 1]
    if builders.get("broken"):
        refuse("failed to find driver")
    if name in builders["known"]:
        refuse(f'existing instance for "{name}" but no append mode')
    builders["known"][name] = driver
    state.write_text(json.dumps(builders))
elif command == "bake":
    name = arguments[arguments.index("--builder") + 1] if "--builder" in arguments else builders["used"]
    driver = builders["known"][name]
    for target in json.loads(pathlib.Path(arguments[arguments.index("--file") + 1]).read_text())["target"].values():
        if driver == "docker" and target.get("cache-to"):
            refuse("Cache export is not supported for the docker driver.")
        if driver == "docker" and any("type=docker" in each and "dest=" in each for each in target["output"]):
            refuse("docker exporter is not supported for the docker driver.")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    binary = tmp_path / "bin" / "docker"
    binary.parent.mkdir()
    binary.write_text(DOCKER)
    binary.chmod(0o755)
    monkeypatch.setenv("PATH", f"{binary.parent}:/usr/bin:/bin")
    builders(tmp_path, {"default": "docker"})
    return make_project(tmp_path / "checkout", alpha="")


def builders(folder: Path, known: dict[str, str], used: str = "default", **more: object) -> None:
    (folder / "bin" / "builders.json").write_text(json.dumps({"known": known, "used": used, **more}))


def said(folder: Path) -> list[list[str]]:
    return [json.loads(line) for line in (folder / "bin" / "said").read_text().splitlines()]


def baked(project: Project, output: Output, cache: Cache = "none") -> None:
    bake(project, images_of(read_catalog(project.servers)), lambda _: None, output=output, cache=cache)


@pytest.mark.slow
@pytest.mark.parametrize(("output", "cache"), [("archive", "none"), ("push", "registry"), ("load", "local")])
def test_archives_and_caches_have_a_builder_of_their_own(
    project: Project, tmp_path: Path, output: Output, cache: Cache
) -> None:
    for _ in range(2):
        baked(project, output, cache)
    commands = [words[0] for words in said(tmp_path)]
    assert commands.count("create") == 1
    assert all(words[1:3] == ["--builder", "pushbench"] for words in said(tmp_path) if words[0] == "bake")


def test_a_builder_that_can_do_all_is_used(project: Project, tmp_path: Path) -> None:
    builders(tmp_path, {"default": "docker", "mine": "kubernetes"}, used="mine")
    baked(project, "archive")
    assert [words[0] for words in said(tmp_path)] == ["inspect", "bake"]


def test_a_build_into_the_engine_needs_none(project: Project, tmp_path: Path) -> None:
    baked(project, "load")
    assert [words[0] for words in said(tmp_path)] == ["bake"]


def test_a_builder_that_cannot_be_made_is_told(project: Project, tmp_path: Path) -> None:
    builders(tmp_path, {"default": "docker"}, broken=True)
    with pytest.raises(UserError, match=r"no builder can be created: ERROR: failed to find driver; .*docker buildx ls"):
        baked(project, "archive")
