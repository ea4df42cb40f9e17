"""A checkout with a server that delays each delivery by a known time."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pushbench.building.images import image_of
from pushbench.catalog.servers import read_catalog
from pushbench.foundation.project import Project
from tests.bare_checkouts import CHECKOUT, environment_of, make_bare_checkout

DELAY = 0.05
"""seconds before each delivery"""
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


def make_scripted(folder: Path) -> tuple[Path, str]:
    """Make a checkout whose server is `scripted`. Return it and the image built for the server."""
    root = make_bare_checkout(folder)
    project = Project.at(root)
    server = project.servers / "scripted"
    server.mkdir(parents=True)
    (server / "server.yml").write_text(SERVER)
    (server / "Dockerfile").write_text(DOCKERFILE)
    build = ["go", "build", "-trimpath", "-o", str(server / "scripted"), "./cmd/scripted"]
    own = {**environment_of(root), "CGO_ENABLED": "0"}
    subprocess.run(build, cwd=CHECKOUT.generator, env=own, check=True)
    image = image_of(read_catalog(project.servers)[0]).reference()
    subprocess.run(["docker", "build", "--quiet", "--tag", image, str(server)], check=True, capture_output=True)
    return root, image
