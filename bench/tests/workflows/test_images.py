"""Images of services come from a registry that has only the images pushed to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushbench.building.engine import Engine
from pushbench.drivers.service_images import service_images
from tests.registry_double import Registry
from tests.workflows.forge import VARIABLES, Forge
from tests.workflows.played import require_measured

ENGINE = Engine.find()
[REDIS] = service_images(["redis"])
KEPT = "pushbench-test-kept:redis"

pytestmark = [
    pytest.mark.workflows,
    pytest.mark.alone,
    pytest.mark.skipif(
        ENGINE is None or ENGINE.image(REDIS.reference) is None, reason=f"needs an engine that has {REDIS.reference}"
    ),
]


@pytest.fixture
def registry() -> Iterator[tuple[Registry, str, str]]:
    """A registry with the image of Redis, its host and the image's digest; the engine has no image of that name."""
    assert ENGINE
    double = Registry()
    with double.served() as host:
        name = f"{host}/acme/pushbench/service.redis:8-alpine"
        for tag in (KEPT, name):
            ENGINE.run("image", "tag", REDIS.reference, tag)
        try:
            ENGINE.run("push", "--quiet", name, seconds=300)
            ENGINE.run("image", "rm", name, REDIS.reference)
            yield double, host, double.digest_of("acme/pushbench/service.redis", "8-alpine")
        finally:
            ENGINE.run("image", "tag", KEPT, REDIS.reference)
            ENGINE.run("image", "rm", KEPT)
            digests = ENGINE.run("image", "inspect", "--format", '{{join .RepoDigests " "}}', REDIS.reference)
            for reference in [*ENGINE.tags(), *digests.split()]:
                if reference.startswith(f"{host}/"):
                    ENGINE.run("image", "rm", "--force", reference)


def docker_config(folder: Path) -> str:
    """A configuration folder for `docker login`, with the plugins of this machine."""
    made = folder / "docker"
    made.mkdir()
    plugins = Path.home() / ".docker" / "cli-plugins"
    if plugins.exists():
        (made / "cli-plugins").symlink_to(plugins)
    return str(made)


def test_a_server_that_needs_redis_is_measured_with_the_image_of_the_project_s_registry(
    tmp_path: Path, registry: tuple[Registry, str, str]
) -> None:
    double, host, digest = registry

    def change(work: Path) -> None:
        (work / "compose" / "images.lock.json").write_text(json.dumps({REDIS.reference: digest}))
        workflow = work / ".github" / "workflows" / "bench.yml"
        workflow.write_text(workflow.read_text().replace("ghcr.io", host))

    forge = Forge(tmp_path, ["node-cluster-redis"], change)
    variables = VARIABLES | {"PUSHBENCH_DRIVER": "docker", "PUSHBENCH_IMAGES": "load"}
    payload = {"ref": "refs/heads/main", "before": "0" * 40, "after": forge.head()}
    double.asked.clear()
    played = forge.act("push", payload, "bench.yml", variables, DOCKER_CONFIG=docker_config(tmp_path))
    measured = require_measured(forge, played)
    assert measured.record.servers == ["node-cluster-redis", "node-cluster-redis/channel-per-board"]
    assert [trial.failure for trial in measured.record.trials if trial.failure] == []
    assert f"redis: pulled from {host}/acme/pushbench/service.redis, redis:8-alpine is sha256:" in played.output
    assert any(each.endswith(f"/manifests/{digest}") for each in double.asked)
