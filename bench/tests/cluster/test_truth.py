"""Two generators in a cluster report the delays of a server that are known, and the totals that one reports."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from pushbench.building.images import image_of
from pushbench.catalog.servers import read_catalog
from pushbench.foundation.project import Project
from tests.bare_checkouts import CHECKOUT, environment_of, make_bare_checkout
from tests.cluster.at_hand import TOOL, Cluster
from tests.cluster.test_driver import RUN, harms_of, pushbench, record_of

DELAY = 0.05
"""seconds before each delivery"""
LATE = 0.02
"""seconds beside the delay: half of the deliveries come before that, on a busy machine as well"""
DELIVERIES = 20 * 3 * 10
"""of three seconds of 20 clients that send once a second to boards of ten, the sender included"""
SERVER = """\
title: Scripted
link: https://example.org
language: Go
suite: whiteboard
protocol: whiteboard-json
tier: baseline
image: {dockerfile: Dockerfile}
process: {toolchains: {python: ">=3.11"}, start: [sh]}
"""
DOCKERFILE = f"""\
FROM scratch
COPY scripted /scripted
ENTRYPOINT ["/scripted", "-listen", "0.0.0.0:8080", "-delay", "{DELAY}s"]
"""

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


@pytest.fixture(scope="module")
def scripted(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a server of known delays, whose image the nodes have."""
    root = make_bare_checkout(tmp_path_factory.mktemp("scripted"))
    project = Project.at(root)
    folder = project.servers / "scripted"
    folder.mkdir(parents=True)
    (folder / "server.yml").write_text(SERVER)
    (folder / "Dockerfile").write_text(DOCKERFILE)
    build = ["go", "build", "-trimpath", "-o", str(folder / "scripted"), "./cmd/scripted"]
    own = {**environment_of(root), "CGO_ENABLED": "0"}
    subprocess.run(build, cwd=CHECKOUT.generator, env=own, check=True)
    image = image_of(read_catalog(project.servers)[0]).reference()
    subprocess.run(["docker", "build", "--quiet", "--tag", image, str(folder)], check=True, capture_output=True)
    cluster.load(image)
    return root


def trial_of(cluster: Cluster, root: Path, generators: int) -> dict[str, Any]:
    out = root / f"out-{generators}"
    options = ["--generators", str(generators), "--namespace-prefix", "push-truth", "--out", str(out)]
    run = pushbench(cluster, "run", "scripted", *RUN, *options, **environment_of(root))
    said, errors = run.communicate(timeout=200)
    [trial] = record_of(out)["trials"]
    assert trial["failure"] is None, said + errors
    assert harms_of(trial) == []
    return dict(trial)


def test_two_generators_tell_known_delays_and_the_same_as_one(cluster: Cluster, scripted: Path) -> None:
    one, two = (trial_of(cluster, scripted, generators) for generators in (1, 2))
    for trial in (one, two):
        [stage] = trial["stages"]
        assert stage["metrics"]["clients"] == 20
        assert stage["receipts"]["expected"] == stage["receipts"]["received"] == DELIVERIES
        # No delivery is early. Half of them are hardly late; of the rest some wait for this machine, where it is busy.
        assert DELAY <= stage["metrics"]["delivery_seconds.p50"] < DELAY + LATE
        assert stage["metrics"]["delivery_seconds.p95"] >= DELAY
    assert one["stages"][0]["receipts"] == two["stages"][0]["receipts"], "all counts, none of which is a time"
